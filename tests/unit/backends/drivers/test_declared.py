"""A CLI as the operator declares it: how it is called."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from hermes.backends.drivers.base import Installed
from hermes.backends.drivers.declared import DeclaredDriver
from hermes.backends.errors import CommandFailed
from hermes.backends.jobs import CliSession, Endpoint, Places, Question, Setup
from hermes.backends.saying import CloseInput, EndKind, Exit, Write
from hermes.core.cli_agents import Profile
from hermes.settings.cli_settings import DeclaredCli

PLACES = Places(home=Path("/h"), workspace=Path("/w"), scratch=Path("/s"))
NEW = Setup(job_id="j", model="m", system_prompt="Be kind.")
HI = Question(text="--help")


def driver(**declared: Any) -> DeclaredDriver:
    installed = Installed(command=("/usr/bin/tool", "--quiet"))
    return DeclaredDriver(installed, DeclaredCli(**declared), profile=Profile.READ_ONLY)


def argv(setup: Setup = NEW, question: Question = HI, **declared: Any) -> tuple[str, ...]:
    return driver(**declared).plan(setup, PLACES, None, question).argv


def given(setup: Setup = NEW, question: Question = HI, **declared: Any) -> list[object]:
    return list(driver(**declared).peer(setup, PLACES).ask(question))


def test_by_default_the_prompt_goes_in_by_stdin_with_the_system_prompt_first() -> None:
    assert argv() == ("/usr/bin/tool", "--quiet")
    assert given() == [Write(b"Be kind.\n\n--help"), CloseInput()]


def test_flags_have_their_values_and_stand_behind_the_arguments() -> None:
    flags = {"model_flag": "--model", "system_prompt_flag": "--system"}
    assert argv(arguments=("run",), **flags) == (
        *("/usr/bin/tool", "--quiet", "run"),
        *("--model", "m"),
        *("--system", "Be kind."),
    )
    assert given(**flags) == [Write(b"--help"), CloseInput()]


def test_as_an_argument_a_prompt_is_no_option() -> None:
    called = argv(prompt_by="argument", system_prompt_flag="--system")
    assert called[-2:] == ("--", "--help")
    assert given(prompt_by="argument") == [CloseInput()]


def test_an_argument_has_no_nul_and_no_half_character() -> None:
    question = Question(text="a\0b\ud800c")
    assert argv(question=question, prompt_by="argument", system_prompt_flag="-s")[-1] == "ab?c"


@pytest.mark.parametrize(
    ("setup", "question"),
    [
        (NEW, Question(text="é" * 60_000)),
        (Setup(job_id="j", system_prompt="x" * 110_000), HI),
    ],
)
def test_what_is_too_long_for_an_argument_is_refused(setup: Setup, question: Question) -> None:
    with pytest.raises(CommandFailed, match="prompt_by: stdin"):
        argv(setup, question, prompt_by="argument", system_prompt_flag="--system")


def test_a_long_prompt_goes_in_by_stdin() -> None:
    question = Question(text="x" * 300_000)
    assert argv(question=question) == ("/usr/bin/tool", "--quiet")
    assert given(Setup(job_id="j"), question) == [Write(b"x" * 300_000), CloseInput()]


SESSIONS = {"session_flag": "--session-id", "resume_flag": "--resume"}


def test_a_session_begins_under_our_id_and_is_resumed_by_it() -> None:
    first = Setup(job_id="j", session=CliSession(id="u-1"))
    again = Setup(job_id="j", session=CliSession(id="u-1", is_resumed=True))
    assert argv(first, **SESSIONS)[-2:] == ("--session-id", "u-1")
    assert argv(again, **SESSIONS)[-2:] == ("--resume", "u-1")
    assert argv(Setup(job_id="j"), **SESSIONS) == ("/usr/bin/tool", "--quiet")


def test_a_resumed_session_is_not_told_again_what_it_is() -> None:
    again = Setup(job_id="j", system_prompt="Be kind.", session=CliSession(id="u", is_resumed=True))
    assert given(again, **SESSIONS) == [Write(b"--help"), CloseInput()]


def test_the_session_goes_on_under_the_id_that_we_chose_or_were_told() -> None:
    setup = Setup(job_id="j", session=CliSession(id="u-1"))
    chosen = driver(**SESSIONS).peer(setup, PLACES)
    chosen.read(b"Hello")
    assert chosen.finish(Exit(code=0)).session_id == "u-1"
    told = driver(output="jsonl", session_field="id", resume_flag="-r").peer(setup, PLACES)
    told.read(b'{"id": "theirs", "result": "Hello"}')
    assert told.finish(Exit(code=0)).session_id == "theirs"
    forgotten = driver(output="jsonl", session_field="id").peer(NEW, PLACES)
    forgotten.read(b'{"id": "theirs", "result": "Hello"}')
    assert forgotten.finish(Exit(code=0)).session_id is None


@pytest.mark.parametrize(
    ("declared", "resumes", "chooses"),
    [
        ({}, False, False),
        ({"resume_flag": "-r"}, False, False),
        ({"resume_flag": "-r", "session_flag": "-s"}, True, True),
        ({"resume_flag": "-r", "session_field": "id"}, True, False),
        ({"resume_flag": "-r", "output": "claude"}, True, False),
    ],
)
def test_what_it_remembers_follows_from_its_flags(
    *, declared: dict[str, Any], resumes: bool, chooses: bool
) -> None:
    features = driver(**declared).features
    assert (features.resumes, features.chooses_session_ids) == (resumes, chooses)


def test_it_has_the_one_profile_that_the_operator_gave_it() -> None:
    features = driver().features
    assert features.profiles == {Profile.READ_ONLY}
    assert not (features.asks or features.images or features.can_be_warm)


def test_its_provider_is_told_by_the_names_that_programs_know() -> None:
    endpoint = Endpoint(base_url="http://127.0.0.1:9/", key="sk-secret")
    plan = driver().plan(NEW, PLACES, endpoint, HI)
    assert plan.environment["OPENAI_BASE_URL"] == "http://127.0.0.1:9/v1"
    assert plan.environment["ANTHROPIC_API_KEY"] == "sk-secret"
    assert "sk-secret" not in " ".join(plan.argv)
    assert set(driver().plan(NEW, PLACES, None, HI).environment) == {"NO_COLOR", "TERM"}


def test_it_is_stopped_by_signals_alone() -> None:
    peer = driver().peer(NEW, PLACES)
    steps = (peer.greet(), peer.interrupt(), peer.dismiss(), peer.answer("x", is_allowed=True))
    assert steps == ([], [], [], [])
    assert peer.finish(Exit(code=1)).kind is EndKind.FAILED
