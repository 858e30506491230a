"""How Claude Code is started: what each profile may do, and what no checkout can change."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from hermes.backends.drivers.base import Installed
from hermes.backends.drivers.claude import KIND, ClaudeDriver
from hermes.backends.drivers.versions import is_tested
from hermes.backends.jobs import CliSession, Endpoint, Places, Plan, Setup
from hermes.core.cli_agents import Profile

PLACES = Places(home=Path("/j/home"), workspace=Path("/j/work"), scratch=Path("/j/scratch"))
NEW = Installed(
    command=("/bin/claude",),
    version=(2, 1, 325),
    help="--restricted --system-prompt-snapshot <on|off>",
)
OLD = Installed(command=("/bin/claude",), version=(2, 1, 197), help="--bare")


def planned(
    installed: Installed = NEW,
    *,
    one_shot: bool = False,
    endpoint: Endpoint | None = None,
    **setup: Any,
) -> Plan:
    driver = ClaudeDriver(installed, one_shot=one_shot)
    return driver.plan(Setup(job_id="j", **setup), PLACES, endpoint, None)


def value(plan: Plan, flag: str) -> str:
    assert plan.argv.count(flag) == 1
    return plan.argv[plan.argv.index(flag) + 1]


def has(plan: Plan, *flags: str) -> bool:
    return all(flag in plan.argv for flag in flags)


@pytest.mark.parametrize("one_shot", [False, True])
@pytest.mark.parametrize("profile", Profile)
@pytest.mark.parametrize("installed", [NEW, OLD])
def test_nothing_of_a_checkout_is_loaded(
    installed: Installed, profile: Profile, *, one_shot: bool
) -> None:
    plan = planned(installed, one_shot=one_shot, profile=profile)
    assert value(plan, "--setting-sources") == ""
    assert has(plan, "--strict-mcp-config", "--disable-slash-commands")


def test_the_operators_word_about_a_guard_counts() -> None:
    command = ("/bin/claude", "--setting-sources", "project")
    plan = planned(Installed(command=command, version=(2, 1, 325)))
    assert plan.argv[:3] == command
    assert value(plan, "--setting-sources") == "project"


@pytest.mark.parametrize("installed", [NEW, OLD])
def test_a_chat_has_no_tools_and_reads_no_files(installed: Installed) -> None:
    plan = planned(installed)
    assert value(plan, "--tools") == ""
    assert value(plan, "--disallowedTools") == "Read(//**)"
    assert has(plan, "--restricted") is (installed is NEW)


def test_read_only_has_the_tools_that_read() -> None:
    plan = planned(profile=Profile.READ_ONLY)
    assert value(plan, "--tools") == "Read,Glob,Grep"
    assert has(plan, "--restricted")
    assert not has(plan, "--permission-mode")


def test_edit_changes_files_without_asking_and_stays_confined() -> None:
    plan = planned(profile=Profile.EDIT)
    assert value(plan, "--permission-mode") == "acceptEdits"
    assert has(plan, "--restricted")
    tools = value(plan, "--tools").split(",")
    assert {"Read", "Write", "Bash"} <= set(tools)
    assert "AskUserQuestion" not in tools


def test_full_asks_nobody() -> None:
    plan = planned(profile=Profile.FULL)
    assert value(plan, "--permission-mode") == "bypassPermissions"
    assert "AskUserQuestion" in value(plan, "--disallowedTools")
    assert not has(plan, "--restricted")
    assert "IS_SANDBOX" not in plan.environment


def test_only_what_can_be_confined_is_promised() -> None:
    assert ClaudeDriver(NEW).features.profiles == frozenset(Profile)
    assert ClaudeDriver(OLD).features.profiles == {Profile.CHAT, Profile.FULL}
    without_help = Installed(command=("/bin/claude",), version=(2, 1, 400))
    assert ClaudeDriver(without_help).features.profiles == frozenset(Profile)


@pytest.mark.parametrize("profile", [Profile.READ_ONLY, Profile.EDIT])
def test_a_cli_that_cannot_be_confined_would_refuse_to_start(profile: Profile) -> None:
    assert has(planned(OLD, profile=profile), "--restricted")


def test_permission_is_asked_for_where_somebody_can_be_asked() -> None:
    asked = planned(profile=Profile.EDIT, can_ask=True)
    assert value(asked, "--permission-prompt-tool") == "stdio"
    assert not has(planned(profile=Profile.EDIT), "--permission-prompt-tool")
    one_shot = planned(profile=Profile.EDIT, can_ask=True, one_shot=True)
    assert not has(one_shot, "--permission-prompt-tool")


@pytest.mark.parametrize(("one_shot", "talks"), [(False, True), (True, False)])
def test_only_a_talk_has_pictures_permissions_and_warm_starts(
    *, one_shot: bool, talks: bool
) -> None:
    features = ClaudeDriver(NEW, one_shot=one_shot).features
    assert (features.images, features.asks, features.can_be_warm) == (talks, talks, talks)
    assert features.late_system_prompt is talks
    assert features.chooses_session_ids
    assert features.answer_schema
    assert has(planned(one_shot=one_shot), "--input-format") is talks


@pytest.mark.parametrize("one_shot", [False, True])
def test_its_output_is_read_as_it_grows(*, one_shot: bool) -> None:
    plan = planned(one_shot=one_shot)
    assert value(plan, "--output-format") == "stream-json"
    assert has(plan, "-p", "--verbose", "--include-partial-messages")


@pytest.mark.parametrize(
    ("session", "flags"),
    [
        (None, ["--no-session-persistence"]),
        (CliSession(), []),
        (CliSession(id="u-1"), ["--session-id", "u-1"]),
        (CliSession(id="u-1", is_resumed=True), ["--resume", "u-1"]),
    ],
)
def test_a_session_is_opened_resumed_or_not_kept(
    session: CliSession | None, flags: list[str]
) -> None:
    plan = planned(OLD, session=session)
    found = [word for word in plan.argv if "session" in word or word in ("--resume", "u-1")]
    assert found == flags


def test_a_resumed_session_hears_the_system_prompt_of_its_newest_turn() -> None:
    session = CliSession(id="u-1", is_resumed=True)
    assert value(planned(session=session), "--system-prompt-snapshot") == "off"
    assert not has(planned(OLD, session=session), "--system-prompt-snapshot")


def test_model_effort_and_budget_are_told() -> None:
    plan = planned(model="haiku", reasoning_effort="minimal", max_cost_usd=0.00002)
    assert value(plan, "--model") == "haiku"
    assert value(plan, "--effort") == "low"
    assert value(plan, "--max-budget-usd") == "0.000020"
    bare = planned(reasoning_effort="heroic")
    assert not has(bare, "--effort")
    assert not has(bare, "--model")
    assert not has(bare, "--max-budget-usd")


def test_two_setups_that_differ_in_what_is_told_later_start_the_same_process() -> None:
    told_later = planned(system_prompt="Be brief.", answer_schema={"type": "object"})
    assert told_later == planned()
    assert told_later.files == {}


def test_in_one_shot_the_system_prompt_is_a_file_and_the_schema_an_argument() -> None:
    schema = {"type": "object"}
    plan = planned(one_shot=True, system_prompt="Sei knäpp.", answer_schema=schema)
    path = Path(value(plan, "--system-prompt-file"))
    assert path.is_relative_to(PLACES.scratch)
    assert plan.files == {path: "Sei knäpp.".encode()}
    assert json.loads(value(plan, "--json-schema")) == schema


def test_in_one_shot_with_tools_the_system_prompt_is_added() -> None:
    plan = planned(one_shot=True, profile=Profile.EDIT, system_prompt="Be brief.")
    assert plan.files == {Path(value(plan, "--append-system-prompt-file")): b"Be brief."}
    without = planned(one_shot=True, profile=Profile.EDIT)
    assert without.files == {}
    assert not has(without, "--append-system-prompt-file")


def test_its_settings_are_those_of_the_job_and_it_calls_nobody_else() -> None:
    environment = planned().environment
    assert environment["CLAUDE_CONFIG_DIR"] == "/j/home/.claude"
    assert environment["CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC"] == "1"
    assert environment["DISABLE_AUTOUPDATER"] == "1"
    assert int(environment["CLAUDE_CODE_MAX_RETRIES"]) <= 2
    assert "ANTHROPIC_API_KEY" not in environment


def test_an_endpoint_is_told_by_the_environment_alone() -> None:
    endpoint = Endpoint(base_url="http://127.0.0.1:9", key="secret-of-the-job")
    plan = planned(endpoint=endpoint)
    assert plan.environment["ANTHROPIC_BASE_URL"] == "http://127.0.0.1:9"
    assert plan.environment["ANTHROPIC_API_KEY"] == "secret-of-the-job"
    assert "secret-of-the-job" not in " ".join(plan.argv)
    assert "secret-of-the-job" not in repr(plan)


def test_the_kind_knows_its_range_and_its_login() -> None:
    assert KIND.tested is not None
    assert is_tested((2, 1, 250), KIND.tested)
    assert KIND.default_model in KIND.models
    # The other file in the home has settings of projects.
    assert KIND.login_files == (".claude/.credentials.json",)
