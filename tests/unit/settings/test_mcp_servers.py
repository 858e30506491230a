"""MCP servers in config.yaml."""

from __future__ import annotations

from pathlib import Path

import pytest

from hermes.core.errors import SettingsError
from hermes.settings.loading import SettingsSource, load_settings
from hermes.settings.mcp_settings import McpServerSettings
from tests.unit.settings.conftest import WriteConfig

TWO = """
mcp:
  servers:
    git:
      command: uvx
      args: [mcp-server-git, --depth, 3]
      env: {LEVEL: 2}
      env_names: [GIT_TOKEN]
      cwd: repositories
      tools: "git_*, log"
      exclude: [git_push]
      timeout_seconds: 5
    hub:
      url: https://hub.example/mcp/
      headers: {X-Team: workshop}
      headers_env: {X-Key: HUB_KEY}
      token_env: HUB_TOKEN
      approval: ask
      enabled: false
"""
VARIABLES = {"GIT_TOKEN": "hunter2-git", "HUB_KEY": "hunter2-key", "HUB_TOKEN": "hunter2-hub"}


def test_servers_are_read_with_what_variables_hold(
    environ: dict[str, str], write_config: WriteConfig, home: Path
) -> None:
    write_config(TWO)
    settings = load_settings(environ=environ | VARIABLES)

    assert settings.mcp.servers == (
        McpServerSettings(
            name="git",
            command="uvx",
            args=("mcp-server-git", "--depth", "3"),
            env={"GIT_TOKEN": "hunter2-git", "LEVEL": "2"},
            cwd=home / "repositories",
            tools=("git_*", "log"),
            exclude=("git_push",),
            timeout_seconds=5.0,
        ),
        McpServerSettings(
            name="hub",
            url="https://hub.example/mcp",
            headers={
                "X-Team": "workshop",
                "X-Key": "hunter2-key",
                "Authorization": "Bearer hunter2-hub",
            },
            approval="ask",
            enabled=False,
        ),
    )
    assert {"hunter2-git", "hunter2-key", "hunter2-hub"} <= settings.secrets
    assert "hunter2" not in repr(settings)


@pytest.mark.parametrize(
    ("section", "words"),
    [
        ("a_b: {command: x}", "up to 30 letters, digits and -"),
        ("one: x", "a section with command"),
        ("one: {}", "neither command nor url"),
        ("one: {command: x, url: 'http://x'}", "both command and url"),
        ("one: {command: x, token_env: T}", "it beside command"),
        ("one: {url: 'http://x', args: [a]}", "it beside url"),
        ("one: {url: 'ftp://x'}", "a URL such as"),
        ("one: {command: x, colour: red}", "an unknown key"),
        ("one: {command: x, env_names: [NOT_SET]}", "a variable that is not set"),
        ("one: {command: x, args: secret}", "a list of texts"),
        ("one: {command: x, env: {A: [1]}}", "a section of variable names"),
        ("one: {url: 'http://x', headers_env: [A]}", "with the variables that hold"),
        ("one: {command: x, approval: never}", "one of auto, ask, allow"),
        ("one: {command: x, timeout_seconds: 0}", "a number of seconds"),
    ],
)
def test_mistakes_name_the_place_and_what_is_allowed(
    environ: dict[str, str], write_config: WriteConfig, section: str, words: str
) -> None:
    write_config(f"mcp:\n  servers:\n    {section}\n")

    with pytest.raises(SettingsError, match=r"mcp\.servers") as refused:
        load_settings(environ=environ)
    assert words in str(refused.value)


def test_a_token_that_changes_in_its_variable_is_noticed(
    environ: dict[str, str], write_config: WriteConfig
) -> None:
    write_config(TWO)
    variables = environ | VARIABLES
    source = SettingsSource(variables)
    source.current()
    variables["HUB_TOKEN"] = "hunter2-new"

    assert "hunter2-new" in source.current().secrets


def test_a_toolset_of_a_server_that_does_not_exist_is_worth_a_warning(
    environ: dict[str, str], write_config: WriteConfig
) -> None:
    write_config(
        "tools: {toolsets: [files, 'mcp:git', 'mcp:gti']}\nmcp: {servers: {git: {command: x}}}"
    )

    (told,) = load_settings(environ=environ).warnings
    assert told.startswith("the toolset mcp:gti is of an MCP server that does not exist")


def test_a_file_with_tokens_that_others_may_read_is_worth_a_warning(
    environ: dict[str, str], write_config: WriteConfig
) -> None:
    write_config("mcp: {servers: {hub: {url: 'http://h', headers: {X-Key: k}}}}").chmod(0o644)

    assert "chmod 600" in load_settings(environ=environ).warnings[0]
