"""Putting the settings together: precedence, errors, sources, warnings."""

from __future__ import annotations

import dataclasses
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from hermes.core.errors import SettingsError
from hermes.settings.config_yaml import PREFIX
from hermes.settings.loading import load_settings
from hermes.settings.model import (
    AgentSettings,
    FetchSettings,
    FileSettings,
    ListenerSettings,
    LogSettings,
    ProviderSettings,
    Settings,
)
from tests.unit.settings.conftest import WriteConfig


def test_nothing_configured_gives_the_demo_and_the_defaults(
    environ: dict[str, str], home: Path
) -> None:
    assert load_settings(environ=environ) == Settings(
        home=home,
        listener=ListenerSettings(),
        agent=AgentSettings(
            provider=ProviderSettings(provider="demo", model="demo"), workspace=home / "workspace"
        ),
        log=LogSettings(),
    )


def test_everything_can_be_said_in_the_file(
    environ: dict[str, str], home: Path, write_config: WriteConfig
) -> None:
    write_config("""
model: main-model
base_url: https://llm.example/v1
api_key: main-key
api_mode: codex_responses
transport: sdk
headers: {X-Team: blue}
stale_seconds: 30
reasoning_stale_seconds: 90
fallback: {model: other, base_url: "http://localhost:1/v1", api_key: other-key}
agent: {reasoning_effort: none, max_iterations: 7, system_prompt: "Be brief.\\n", threads: 3}
tools: {toolsets: [files], confine: false, workspace: project, terminal_env: [LANG_X]}
server:
  {host: "::1", port: 9, key: k-server, cors_origins: [http://a.example], model_name: bot,
   max_body_bytes: 2048, drain_seconds: 1, keepalive_seconds: 2}
fetch: {allow_http: true, allow_private: yes, max_bytes: 4096, timeout_seconds: 2.5}
files:
  {max_bytes: 5000, max_total_bytes: 60000, expire_days: 0, max_pages: 7, max_characters: 8000}
log: {level: debug, format: json}
profile: lucas
platforms: {api_server: {toolsets: []}}
""")
    found = load_settings(environ=environ)

    assert found.fetch == FetchSettings(
        allow_http=True, allow_private=True, max_bytes=4096, timeout_seconds=2.5
    )
    assert found.files == FileSettings(
        max_bytes=5000, max_total_bytes=60_000, expire_days=0, max_pages=7, max_characters=8000
    )
    assert found.listener == ListenerSettings(
        host="::1",
        port=9,
        key="k-server",
        cors_origins=("http://a.example",),
        model_name="bot",
        max_body_bytes=2048,
        drain_seconds=1.0,
        keepalive_seconds=2.0,
    )
    assert found.agent == AgentSettings(
        provider=ProviderSettings(
            provider="custom",
            model="main-model",
            base_url="https://llm.example/v1",
            api_key="main-key",
            api_mode="codex_responses",
            transport="sdk",
            headers={"X-Team": "blue"},
            stale_seconds=30.0,
            reasoning_stale_seconds=90.0,
        ),
        fallbacks=(
            ProviderSettings(
                provider="custom",
                model="other",
                base_url="http://localhost:1/v1",
                api_key="other-key",
                transport="sdk",
                stale_seconds=30.0,
                reasoning_stale_seconds=90.0,
            ),
        ),
        reasoning_effort="none",
        max_iterations=7,
        threads=3,
        system_prompt="Be brief.",
        toolsets=("files",),
        workspace=home / "project",
        confine=False,
        terminal_env=("LANG_X",),
    )
    assert found.log == LogSettings(level="DEBUG", format="json")
    assert found.profile == "lucas"
    assert found.raw["platforms"] == {"api_server": {"toolsets": []}}
    assert found.warnings == ()


def test_one_line_of_environment_needs_no_file(environ: dict[str, str]) -> None:
    environ |= {
        "API_SERVER_PORT": "9001",
        "API_SERVER_KEY": "k-listen",
        "OPENAI_BASE_URL": "http://127.0.0.1:5000/v1",
        "OPENAI_API_KEY": "k-model",
        "HERMES_MODEL": "m",
        "HERMES_WORKSPACE": "/srv/project",
        "HERMES_REASONING_EFFORT": "xhigh",
        "HERMES_MAX_ITERATIONS": "9",
    }
    found = load_settings(environ=environ)
    assert (found.listener.port, found.listener.key) == (9001, "k-listen")
    assert found.agent.provider == ProviderSettings(
        provider="custom", model="m", base_url="http://127.0.0.1:5000/v1", api_key="k-model"
    )
    assert found.agent.workspace == Path("/srv/project")
    assert (found.agent.reasoning_effort, found.agent.max_iterations) == ("xhigh", 9)


LAYERED = [
    ("listener.port", "API_SERVER_PORT", "server: {port: %s}", ("1", "2", "3"), int),
    ("listener.host", "API_SERVER_HOST", "server: {host: %s}", ("ha", "hb", "hc"), str),
    ("agent.max_iterations", "HERMES_MAX_ITERATIONS", "agent: {max_iterations: %s}", "123", int),
    ("log.level", "HERMES_LOG_LEVEL", "log: {level: %s}", ("DEBUG", "ERROR", "WARNING"), str),
]
DEFAULTS = {
    "listener.port": 8642,
    "listener.host": "127.0.0.1",
    "agent.max_iterations": 50,
    "log.level": "INFO",
}


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
@given(
    row=st.sampled_from(LAYERED),
    in_file=st.booleans(),
    in_environment=st.booleans(),
    on_command_line=st.booleans(),
)
def test_the_command_line_beats_the_environment_beats_the_file_beats_the_default(
    row: Any,
    in_file: bool,
    in_environment: bool,
    on_command_line: bool,
    environ: dict[str, str],
    write_config: WriteConfig,
) -> None:
    name, variable, template, (low, middle, high), kind = row
    path = write_config(template % low if in_file else "")
    variables = environ | {variable: middle if in_environment else ""}
    overrides = {name: kind(high) if on_command_line else None}

    found = load_settings(environ=variables, overrides=overrides)

    section, field = name.split(".")
    if on_command_line:
        expected, source = kind(high), f"--{field.replace('_', '-')}"
    elif in_environment:
        expected, source = kind(middle), variable
    elif in_file:
        expected, source = kind(low), f"{PREFIX}{path.read_text().split(':')[0]}.{field}"
    else:
        expected, source = DEFAULTS[name], None
    assert getattr(getattr(found, section), field) == expected
    assert found.sources.get(name) == source


@pytest.mark.parametrize(
    ("changes", "overrides", "text", "message"),
    [
        (
            {"API_SERVER_PORT": "not-a-port"},
            {},
            "",
            "API_SERVER_PORT: found 'not-a-port'; allowed: a whole number from 0 to 65535",
        ),
        (
            {},
            {"listener.port": 70000},
            "",
            "--port: found 70000; allowed: a whole number from 0 to 65535",
        ),
        (
            {},
            {},
            "agent: {max_iterations: many}",
            "config.yaml: agent.max_iterations: found 'many'; "
            "allowed: a whole number from 1 to 10000",
        ),
        (
            {},
            {},
            "api_key: 12345",
            "config.yaml: api_key: found a secret value; allowed: text on one line, in quotes",
        ),
    ],
)
def test_a_wrong_value_names_the_key_what_was_found_and_what_is_allowed(
    changes: dict[str, str],
    overrides: dict[str, Any],
    text: str,
    message: str,
    environ: dict[str, str],
    write_config: WriteConfig,
) -> None:
    write_config(text)
    with pytest.raises(SettingsError) as caught:
        load_settings(environ=environ | changes, overrides=overrides)
    assert str(caught.value) == message


def test_an_override_nobody_knows_is_refused(environ: dict[str, str]) -> None:
    with pytest.raises(SettingsError, match=r"listener\.prot.*listener\.port"):
        load_settings(environ=environ, overrides={"listener.prot": 1})


def test_empty_values_in_the_file_count_as_unset(
    environ: dict[str, str], write_config: WriteConfig
) -> None:
    write_config('model:\napi_key: ""\nserver:\nfallback: {}\n')
    found = load_settings(environ=environ)
    assert found.agent.provider.provider == "demo"
    assert found.sources == {}


def test_a_relative_workspace_belongs_to_the_place_where_it_was_written(
    environ: dict[str, str], home: Path, write_config: WriteConfig
) -> None:
    write_config("tools: {workspace: here}")
    assert load_settings(environ=environ).agent.workspace == home / "here"
    environ["HERMES_WORKSPACE"] = "there"
    assert load_settings(environ=environ).agent.workspace == Path.cwd() / "there"


def test_a_key_may_lie_in_a_variable_the_file_names(
    environ: dict[str, str], write_config: WriteConfig
) -> None:
    write_config("server: {key_env: MY_KEY}")
    found = load_settings(environ=environ | {"MY_KEY": "k-listen"})
    assert found.listener.key == "k-listen"
    assert found.sources["listener.key"] == "config.yaml: server.key_env"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("api_key_env: hunter2\nprovider: openai", "found a variable that is not set"),
        ("api_key_env: sk-hunter2-x\nprovider: openai", "found a secret value"),
        ("api_key_env: MY_KEY\napi_key: hunter2", "found both it and the key itself"),
    ],
)
def test_a_wrong_holder_of_a_key_is_refused_without_showing_it(
    text: str, message: str, environ: dict[str, str], write_config: WriteConfig
) -> None:
    write_config(text)
    with pytest.raises(SettingsError) as caught:
        load_settings(environ=environ)
    assert caught.value.key == "config.yaml: api_key_env"
    assert message in str(caught.value)
    assert "hunter2" not in str(caught.value)


def test_a_key_in_a_file_others_can_read_is_a_warning_with_its_remedy(
    environ: dict[str, str], write_config: WriteConfig
) -> None:
    path = write_config("server: {key: k-server}")
    path.chmod(0o644)
    (warning,) = load_settings(environ=environ).warnings
    assert f"chmod 600 {path}" in warning
    assert "k-server" not in warning
    write_config("model: m\nprovider: demo").chmod(0o644)
    assert not [w for w in load_settings(environ=environ).warnings if "chmod" in w]


def test_no_secret_shows_in_any_repr(environ: dict[str, str], write_config: WriteConfig) -> None:
    write_config("""
provider: openai
api_key: hunter2-a
headers: {X-Api-Key: hunter2-b, X-Team: blue}
fallback: {provider: anthropic, api_key_env: OTHER}
server: {key: hunter2-c}
""")
    found = load_settings(environ=environ | {"OTHER": "hunter2-d"})
    assert found.secrets == {"hunter2-a", "hunter2-b", "hunter2-c", "hunter2-d"}
    parts = (found, found.listener, found.agent, found.agent.provider, found.agent.fallbacks)
    for shown in (*map(repr, parts), *map(str, parts), repr(found.sources), repr(found.warnings)):
        assert "hunter2" not in shown


def test_settings_cannot_be_changed(environ: dict[str, str]) -> None:
    with pytest.raises(dataclasses.FrozenInstanceError):
        load_settings(environ=environ).listener.port = 1  # type: ignore[misc]


@pytest.mark.parametrize(
    ("host", "is_loopback"),
    [
        ("127.0.0.1", True),
        ("127.8.9.1", True),
        ("::1", True),
        ("[::1]", True),
        ("LocalHost", True),
        ("0.0.0.0", False),
        ("::", False),
        ("10.0.0.1", False),
        ("example.org", False),
    ],
)
def test_only_addresses_of_this_machine_are_loopback(host: str, is_loopback: bool) -> None:
    assert ListenerSettings(host=host).is_loopback is is_loopback
