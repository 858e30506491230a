"""How Codex is started: what it is told, what it is not told, and where."""

from __future__ import annotations

import json
import tomllib
from pathlib import Path
from typing import Any

import pytest

from hermes.backends.drivers import codex_settings
from hermes.backends.drivers.base import Installed
from hermes.backends.drivers.codex import CodexDriver
from hermes.backends.drivers.codex_exec import ExecPeer
from hermes.backends.drivers.codex_server import AppServerPeer
from hermes.backends.jobs import CliSession, Endpoint, Image, Places, Plan, Question, Setup
from hermes.core.cli_agents import Profile

PLACES = Places(home=Path("/h"), workspace=Path("/w"), scratch=Path("/s"))
PROGRAM = "/usr/lib/node_modules/@openai/codex/bin/codex.js"
INSTALLED = Installed(command=(PROGRAM,), version=(0, 166, 0))
ENDPOINT = Endpoint(base_url="http://127.0.0.1:9/", key="sk-secret")
ASK = Question(text="Hi")


def plan_of(setup: Setup, *, one_shot: bool = False, question: Question | None = ASK) -> Plan:
    return CodexDriver(INSTALLED, one_shot=one_shot).plan(setup, PLACES, ENDPOINT, question)


def settings_of(plan: Plan) -> dict[str, Any]:
    """What Codex makes of the overrides."""
    overrides = [
        after for flag, after in zip(plan.argv, plan.argv[1:], strict=False) if flag == "-c"
    ]
    return tomllib.loads("\n".join(overrides))


def of_profile(profile: Profile, *, can_ask: bool = False) -> dict[str, Any]:
    return settings_of(plan_of(Setup(job_id="j", profile=profile, can_ask=can_ask)))


def test_the_key_is_in_the_environment_and_nowhere_else() -> None:
    for one_shot in (False, True):
        plan = plan_of(Setup(job_id="j", system_prompt="x"), one_shot=one_shot)
        assert plan.environment["HERMES_PROVIDER_KEY"] == "sk-secret"
        assert "sk-secret" not in " ".join(plan.argv)
        assert not any(b"sk-secret" in content for content in plan.files.values())


def test_the_endpoint_is_a_provider_of_its_own() -> None:
    settings = settings_of(plan_of(Setup(job_id="j", model="gpt-5.5", reasoning_effort="high")))
    provider = settings["model_providers"][settings["model_provider"]]
    assert provider["base_url"] == "http://127.0.0.1:9/v1"
    assert provider["env_key"] == codex_settings.KEY_VARIABLE
    assert (settings["model"], settings["model_reasoning_effort"]) == ("gpt-5.5", "high")


def test_without_an_endpoint_codex_knows_its_own() -> None:
    plan = CodexDriver(INSTALLED).plan(Setup(job_id="j"), PLACES, None, None)
    assert "model_provider" not in settings_of(plan)
    assert set(plan.environment) == {"CODEX_HOME", "NO_COLOR"}


def test_a_home_has_no_settings_but_ours() -> None:
    plan = plan_of(Setup(job_id="j"))
    assert plan.environment["CODEX_HOME"] == "/h/.codex"
    assert plan.files == {Path("/h/.codex/config.toml"): b""}


def test_the_system_prompt_goes_by_file() -> None:
    prompt = 'You are "Ada".\n\x7f\\ 😀'
    plan = plan_of(Setup(job_id="j", system_prompt=prompt), one_shot=True)
    written = plan.files[Path("/h/.codex/config.toml")].decode()
    assert tomllib.loads(written) == {"developer_instructions": prompt}


# Profiles ------------------------------------------------------------------------------------


def test_chat_sees_no_file_and_has_no_tool() -> None:
    settings = of_profile(Profile.CHAT, can_ask=True)
    assert settings["permissions"]["hermes"]["filesystem"] == {":root": "deny"}
    switched_off = ("shell_tool", "unified_exec", "view_image", "image_generation")
    assert not any(settings["features"][name] for name in switched_off)
    assert settings["project_doc_max_bytes"] == 0
    assert (settings["web_search"], settings["approval_policy"]) == ("disabled", "never")


def test_read_only_sees_its_workspace_and_no_more() -> None:
    settings = of_profile(Profile.READ_ONLY, can_ask=True)
    assert settings["permissions"]["hermes"]["filesystem"] == {
        ":minimal": "read",
        "/usr/lib/node_modules": "read",
        ":project_roots": {".": "read"},
    }
    assert settings["permissions"]["hermes"]["network"] == {"enabled": False}
    assert settings["approval_policy"] == "never"


@pytest.mark.parametrize(("can_ask", "policy"), [(True, "on-request"), (False, "never")])
def test_edit_writes_in_its_workspace_and_asks_for_more(*, can_ask: bool, policy: str) -> None:
    settings = of_profile(Profile.EDIT, can_ask=can_ask)
    assert settings["permissions"]["hermes"]["filesystem"][":project_roots"] == {".": "write"}
    assert settings["approval_policy"] == policy


def test_full_has_no_sandbox_and_never_asks() -> None:
    settings = of_profile(Profile.FULL, can_ask=True)
    assert settings["sandbox_mode"] == "danger-full-access"
    assert settings["approval_policy"] == "never"
    assert "permissions" not in settings


@pytest.mark.parametrize("profile", Profile)
def test_a_provider_that_is_not_there_is_given_up(profile: Profile) -> None:
    assert of_profile(profile)["features"]["unbounded_connection_retries"] is False


@pytest.mark.parametrize("profile", Profile)
def test_in_every_profile_commands_get_no_keys_and_no_hook_runs(profile: Profile) -> None:
    settings = of_profile(profile)
    policy = settings["shell_environment_policy"]
    assert policy == {"inherit": "all", "ignore_default_excludes": False}
    assert not any(settings["features"][name] for name in ("hooks", "plugins", "apps"))


@pytest.mark.parametrize("profile", Profile)
def test_the_workspace_is_trusted_under_no_name(profile: Profile, tmp_path: Path) -> None:
    (folder := tmp_path.resolve() / "folder").mkdir()
    (link := tmp_path.resolve() / "link").symlink_to(folder)
    places = Places(home=Path("/h"), workspace=link, scratch=Path("/s"))
    setup = Setup(job_id="j", profile=profile)
    for one_shot in (False, True):
        plan = CodexDriver(INSTALLED, one_shot=one_shot).plan(setup, places, None, ASK)
        untrusted = {"trust_level": "untrusted"}
        assert settings_of(plan)["projects"] == {str(folder): untrusted, str(link): untrusted}


def test_a_version_that_is_not_known_to_confine_is_only_offered_in_full() -> None:
    old = CodexDriver(Installed(command=(PROGRAM,), version=(0, 99, 0)))
    assert old.features.profiles == {Profile.FULL}
    assert CodexDriver(INSTALLED).features.profiles == frozenset(Profile)


@pytest.mark.parametrize(
    ("program", "shown"),
    [
        ("/usr/lib/node_modules/@openai/codex/bin/codex.js", "/usr/lib/node_modules"),
        ("/p/node_modules/.pnpm/a/node_modules/b/codex.js", "/p/node_modules"),
        ("/opt/codex", "/opt/codex"),
    ],
)
def test_the_sandbox_shows_the_program_itself(program: str, shown: str) -> None:
    assert codex_settings.package_folder(Path(program)) == Path(shown)


def test_a_link_to_the_program_is_followed(tmp_path: Path) -> None:
    program = tmp_path.resolve() / "lib/node_modules/@openai/codex/bin/codex.js"
    program.parent.mkdir(parents=True)
    program.touch()
    (link := tmp_path / "codex").symlink_to(program)
    driver = CodexDriver(Installed(command=(str(link),)))
    plan = driver.plan(Setup(job_id="j", profile=Profile.EDIT), PLACES, None, None)
    shown = settings_of(plan)["permissions"]["hermes"]["filesystem"]
    assert shown[str(program.parents[3])] == "read"
    assert plan.argv[0] == str(link)


# The two ways --------------------------------------------------------------------------------


def test_the_server_can_wait_for_its_question_and_exec_cannot() -> None:
    server, once = CodexDriver(INSTALLED), CodexDriver(INSTALLED, one_shot=True)
    assert plan_of(Setup(job_id="j"), question=None).argv[:2] == (PROGRAM, "app-server")
    assert (server.features.can_be_warm, once.features.can_be_warm) == (True, False)
    assert (server.features.asks, once.features.asks) == (True, False)
    assert isinstance(server.peer(Setup(job_id="j"), PLACES), AppServerPeer)
    assert isinstance(once.peer(Setup(job_id="j"), PLACES), ExecPeer)


def test_exec_reads_its_prompt_from_stdin_and_keeps_nothing_unasked() -> None:
    argv = plan_of(Setup(job_id="j"), one_shot=True).argv
    assert argv[:2] == (PROGRAM, "exec")
    assert argv[-2:] == ("--", "-")
    assert "--ephemeral" in argv
    assert "Hi" not in argv


def test_exec_resumes_by_id() -> None:
    session = CliSession(id="the-id", is_resumed=True)
    argv = plan_of(Setup(job_id="j", session=session), one_shot=True).argv
    assert argv[:3] == (PROGRAM, "exec", "resume")
    assert argv[-3:] == ("--", "the-id", "-")
    assert "--ephemeral" not in argv


def test_exec_gets_images_and_the_schema_as_files() -> None:
    setup = Setup(job_id="j", answer_schema={"type": "object"})
    image = Image(media_type="image/jpeg", data=b"jpeg")
    plan = plan_of(setup, one_shot=True, question=Question(text="x", images=(image,)))
    schema, picture = Path("/s/answer-schema.json"), Path("/s/image-0.jpg")
    assert plan.files[picture] == b"jpeg"
    assert json.loads(plan.files[schema]) == {"type": "object"}
    assert plan.argv[plan.argv.index("--image") + 1] == str(picture)
    assert plan.argv[plan.argv.index("--output-schema") + 1] == str(schema)


def test_what_the_operator_added_stands_before_the_rest() -> None:
    installed = Installed(command=(PROGRAM, "--oss"))
    plan = CodexDriver(installed).plan(Setup(job_id="j"), PLACES, None, None)
    assert plan.argv[:3] == (PROGRAM, "--oss", "app-server")
