"""How ACP agents are started: safe, and with the provider they are given."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from hermes.backends.drivers.acp import KIND, AcpDriver, kind_of
from hermes.backends.drivers.acp_presets import PRESETS, Preset, preset_of
from hermes.backends.drivers.base import Installed
from hermes.backends.jobs import Endpoint, Places, Plan, Setup
from hermes.core.cli_agents import Profile

PLACES = Places(home=Path("/h"), workspace=Path("/w"), scratch=Path("/s"))
ENDPOINT = Endpoint(base_url="http://127.0.0.1:9/", key="sk-secret")
RELAY = Endpoint(base_url="http://127.0.0.1:9", key="sk-secret", is_relay=True)


def plan_of(
    program: str, profile: Profile = Profile.CHAT, endpoint: Endpoint | None = ENDPOINT
) -> Plan:
    driver = AcpDriver(Installed(command=(f"/usr/bin/{program}",)))
    setup = Setup(job_id="j", model="some-model", profile=profile)
    return driver.plan(setup, PLACES, endpoint, None)


def settings_of(plan: Plan, path: str) -> dict[str, Any]:
    settings: dict[str, Any] = json.loads(plan.files[Path("/h") / path])
    return settings


@pytest.mark.parametrize("preset", PRESETS, ids=lambda preset: preset.program)
def test_every_preset_is_found_by_its_program(preset: Preset) -> None:
    assert preset_of((f"/opt/bin/{preset.program}", "--flag")) is preset
    assert kind_of((preset.program,)).name == KIND.name == "acp"


@pytest.mark.parametrize("preset", PRESETS, ids=lambda preset: preset.program)
def test_every_preset_is_asked_to_speak_acp_once(preset: Preset) -> None:
    once = plan_of(preset.program).argv
    driver = AcpDriver(Installed(command=(f"/usr/bin/{preset.program}", *preset.arguments)))
    again = driver.plan(Setup(job_id="j", model="some-model"), PLACES, ENDPOINT, None).argv
    assert once == again
    assert set(preset.arguments) <= set(once)


@pytest.mark.parametrize("preset", PRESETS, ids=lambda preset: preset.program)
def test_the_key_is_never_an_argument(preset: Preset) -> None:
    plan = plan_of(preset.program)
    assert "sk-secret" not in " ".join(plan.argv)
    given = [*plan.environment.values(), *(file.decode() for file in plan.files.values())]
    assert any("sk-secret" in value for value in given)


def test_an_agent_that_nobody_tried_is_started_as_it_is_and_promised_nothing() -> None:
    driver = AcpDriver(Installed(command=("/opt/agent", "--acp")))
    plan = driver.plan(Setup(job_id="j", profile=Profile.FULL), PLACES, ENDPOINT, None)
    assert (plan.argv, dict(plan.environment), dict(plan.files)) == (
        ("/opt/agent", "--acp"),
        {},
        {},
    )
    assert driver.features.profiles == {Profile.FULL}
    assert driver.features.resumes is False


@pytest.mark.parametrize("program", ["opencode", "gemini", "qwen"])
def test_in_chat_an_agent_does_not_even_start_in_the_workspace(program: str) -> None:
    assert plan_of(program, Profile.CHAT).folder == Path("/s")
    assert plan_of(program, Profile.FULL).folder == Path("/w")


def test_the_session_is_opened_where_the_agent_starts() -> None:
    driver = AcpDriver(Installed(command=("/usr/bin/opencode",)))
    peer = driver.peer(Setup(job_id="j"), PLACES)
    peer.greet()
    (opening,) = peer.read(b'{"id":1,"result":{"protocolVersion":1}}')
    assert b'"cwd":"/s"' in getattr(opening, "data", b"")


# opencode ------------------------------------------------------------------------------------

OPENCODE = ".config/opencode/opencode.json"


def test_opencode_has_no_tools_in_chat_and_all_of_them_in_full() -> None:
    chat = settings_of(plan_of("opencode"), OPENCODE)
    assert (chat["tools"], chat["permission"]) == ({"*": False}, {"*": "deny"})
    full = settings_of(plan_of("opencode", Profile.FULL), OPENCODE)
    assert ("tools" in full, full["permission"]) == (False, {"*": "allow"})


def test_opencode_knows_no_provider_but_ours() -> None:
    settings = settings_of(plan_of("opencode"), OPENCODE)
    assert settings["model"] == settings["small_model"] == "hermes/some-model"
    assert settings["enabled_providers"] == ["hermes"]
    provider = settings["provider"]["hermes"]
    assert provider["options"]["baseURL"] == "http://127.0.0.1:9/v1"
    assert provider["npm"] == "@ai-sdk/openai-compatible"


def test_through_the_gateway_opencode_speaks_responses() -> None:
    settings = settings_of(plan_of("opencode", endpoint=RELAY), OPENCODE)
    assert settings["provider"]["hermes"]["npm"] == "@ai-sdk/openai"


def test_opencode_keeps_its_own_provider_where_none_is_given() -> None:
    settings = settings_of(plan_of("opencode", endpoint=None), OPENCODE)
    assert settings["model"] == "some-model"
    assert "provider" not in settings


@pytest.mark.parametrize("program", ["opencode", "qwen"])
def test_the_key_is_not_in_the_environment_of_their_commands(program: str) -> None:
    assert "sk-secret" not in str(dict(plan_of(program, Profile.FULL).environment))


# gemini and qwen -----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("program", "path"), [("gemini", ".gemini/settings.json"), ("qwen", ".qwen/settings.json")]
)
def test_their_tools_follow_the_profile(program: str, path: str) -> None:
    def core(profile: Profile) -> Any:
        return settings_of(plan_of(program, profile), path)["tools"].get("core")

    assert core(Profile.CHAT) == ["none"]
    assert "read_file" in core(Profile.READ_ONLY)
    assert "run_shell_command" not in core(Profile.READ_ONLY)
    assert core(Profile.FULL) is None


def test_nothing_that_lies_in_the_workspace_is_trusted() -> None:
    for program, path in (("gemini", ".gemini"), ("qwen", ".qwen")):
        settings = settings_of(plan_of(program, Profile.FULL), f"{path}/settings.json")
        assert settings["security"]["folderTrust"]["enabled"] is True
    plan = plan_of("qwen", Profile.FULL)
    trust = Path(plan.environment["QWEN_CODE_TRUSTED_FOLDERS_PATH"])
    assert json.loads(plan.files[trust])["/w"] == "DO_NOT_TRUST"


def test_their_provider_is_given_and_the_model_by_argument() -> None:
    gemini, qwen = plan_of("gemini"), plan_of("qwen")
    assert gemini.environment["GOOGLE_GEMINI_BASE_URL"] == "http://127.0.0.1:9"
    assert gemini.environment["GEMINI_API_KEY"] == "sk-secret"
    login = settings_of(qwen, ".qwen/settings.json")["security"]["auth"]
    assert (login["baseUrl"], login["apiKey"]) == ("http://127.0.0.1:9/v1", "sk-secret")
    assert gemini.argv[-2:] == qwen.argv[-2:] == ("-m", "some-model")


@pytest.mark.parametrize(
    ("program", "profiles"),
    [
        ("opencode", {Profile.CHAT, Profile.FULL}),
        ("gemini", set(Profile)),
        ("qwen", {Profile.CHAT, Profile.READ_ONLY, Profile.FULL}),
        ("goose", {Profile.FULL}),
    ],
)
def test_only_what_was_seen_to_hold_is_promised(program: str, profiles: set[Profile]) -> None:
    assert AcpDriver(Installed(command=(program,))).features.profiles == profiles
