"""The section `cli`: which CLI agents there are, and what is refused there."""

from __future__ import annotations

from pathlib import Path

import pytest

from hermes.core.cli_agents import Profile
from hermes.core.errors import SettingsError
from hermes.settings.cli_settings import (
    CliAgentSettings,
    CliClocks,
    CliWorkspaceSettings,
    DeclaredCli,
)
from hermes.settings.loading import SettingsSource, load_settings
from tests.unit.settings.conftest import WriteConfig

THREE = """
cli:
  max_running: 3
  max_queued: 0
  default: claude
  agents:
    claude:
    coder:
      command: [/opt/codex/bin/codex, -c, "a=b"]
      models: [small, large]
      default_model: large
      profile: edit
      workspace: clone
      repository: projects/shop
      branch: main
      push: true
      api_key_env: CODER_KEY
      base_url: https://models.example/v1
      relay: always
      warm: 2
      idle_seconds: 30
    teller:
      command: teller --quiet
      output: jsonl
      text_field: message.text
      model_flag: --model
"""


def test_agents_are_read_with_what_variables_hold(
    environ: dict[str, str], write_config: WriteConfig, home: Path
) -> None:
    write_config(THREE)
    settings = load_settings(environ=environ | {"CODER_KEY": "hunter2-coder"})

    assert settings.cli.agents == (
        CliAgentSettings(name="claude", driver="claude", command=("claude",)),
        CliAgentSettings(
            name="coder",
            driver="codex",
            command=("/opt/codex/bin/codex", "-c", "a=b"),
            models=("small", "large"),
            default_model="large",
            profile=Profile.EDIT,
            workspace=CliWorkspaceSettings(
                mode="clone", repository=home / "projects/shop", branch="main", push=True
            ),
            api_key="hunter2-coder",
            base_url="https://models.example/v1",
            relay="always",
            warm=2,
            clocks=CliClocks(idle_seconds=30.0),
        ),
        CliAgentSettings(
            name="teller",
            driver="command",
            command=("teller", "--quiet"),
            declared=DeclaredCli(output="jsonl", text_field="message.text", model_flag="--model"),
        ),
    )
    assert (settings.cli.max_running, settings.cli.max_queued) == (3, 0)
    assert settings.cli.default == "claude"


def test_the_keys_of_agents_are_secrets(environ: dict[str, str], write_config: WriteConfig) -> None:
    write_config(THREE)
    settings = load_settings(environ=environ | {"CODER_KEY": "hunter2-coder"})

    assert "hunter2-coder" in settings.secrets
    assert "hunter2-coder" not in repr(settings)


@pytest.mark.parametrize("name", ["opencode", "gemini", "qwen", "goose"])
def test_agents_that_speak_acp_are_known_by_their_program(
    environ: dict[str, str], write_config: WriteConfig, name: str
) -> None:
    write_config(f"cli: {{agents: {{mine: {{command: /usr/bin/{name}}}}}}}")
    (agent,) = load_settings(environ=environ).cli.agents

    assert agent.driver == "acp"


@pytest.mark.parametrize(
    ("said", "words"),
    [
        ("{agents: {a/b: }}", "names of up to 40"),
        ("{agents: {claude: fast}}", "a section with driver"),
        ("{agents: {claude: {modell: x}}}", "an unknown key"),
        ("{agents: {claude: {command: []}}}", "a command line"),
        ("{agents: {claude: {command: 'a \"b'}}}", "a command line"),
        ("{agents: {claude: {profile: root}}}", "one of chat, read-only, edit, full"),
        ("{agents: {claude: {workspace: clone}}}", "`repository` with the workspaces"),
        ("{agents: {claude: {repository: here}}}", "`repository` with the workspaces"),
        ("{agents: {claude: {output: text}}}", "driver: command"),
        ("{agents: {claude: {api_key_env: NOBODY}}}", "a variable that is not set"),
        ("{agents: {claude: {api_key: a, api_key_env: B}}}", "one of the two"),
        ("{default: claude}", "a name from `cli.agents`"),
        ("{agents: {codex: }, default: claude}", "codex"),
        ("{max_running: 0}", "a whole number from 1"),
    ],
)
def test_what_is_not_allowed_is_refused_with_what_is(
    environ: dict[str, str], write_config: WriteConfig, said: str, words: str
) -> None:
    write_config(f"cli: {said}")
    with pytest.raises(SettingsError, match="cli") as refusal:
        load_settings(environ=environ)

    assert words in str(refusal.value)


def test_a_key_in_the_place_of_a_variable_is_not_shown(
    environ: dict[str, str], write_config: WriteConfig
) -> None:
    write_config("cli: {agents: {claude: {api_key_env: sk-ant-hunter2}}}")
    with pytest.raises(SettingsError) as refusal:
        load_settings(environ=environ)

    assert "hunter2" not in str(refusal.value)


class TestServing:
    """`hermes serve -- claude`."""

    def test_a_program_becomes_an_agent_and_answers_by_default(
        self, environ: dict[str, str]
    ) -> None:
        command = ("/opt/bin/claude", "--betas", "x")
        settings = load_settings(environ=environ, overrides={"cli.serve": command})

        assert settings.cli.agents == (
            CliAgentSettings(name="claude", driver="claude", command=command),
        )
        assert settings.cli.default == "claude"

    def test_an_agent_of_that_name_keeps_its_settings(
        self, environ: dict[str, str], write_config: WriteConfig
    ) -> None:
        write_config("cli: {agents: {claude: {profile: edit}, codex: }, default: codex}")
        settings = load_settings(environ=environ, overrides={"cli.serve": ("claude", "-x")})

        claude, codex = settings.cli.agents
        assert (claude.profile, claude.command) == (Profile.EDIT, ("claude", "-x"))
        assert codex.name == "codex"
        assert settings.cli.default == "claude"

    def test_a_program_that_can_be_no_name_is_refused(self, environ: dict[str, str]) -> None:
        with pytest.raises(SettingsError, match="such as claude"):
            load_settings(environ=environ, overrides={"cli.serve": ("/opt/my agent",)})


def test_a_key_that_changes_in_its_variable_is_noticed(
    environ: dict[str, str], write_config: WriteConfig
) -> None:
    write_config("cli: {agents: {claude: {api_key_env: CLI_KEY}}}")
    environ["CLI_KEY"] = "hunter2-old"
    source = SettingsSource(environ)
    assert source.current().cli.agents[0].api_key == "hunter2-old"

    environ["CLI_KEY"] = "hunter2-new"
    assert source.current().cli.agents[0].api_key == "hunter2-new"
