"""Our side of the talk with Claude Code."""

from __future__ import annotations

import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pytest

from hermes.backends.drivers.base import Installed, Peer
from hermes.backends.drivers.claude import ClaudeDriver
from hermes.backends.jobs import Image, Places, Question, Setup
from hermes.backends.saying import (
    CloseInput,
    EndKind,
    Event,
    Exit,
    PermissionAsked,
    Said,
    Step,
    Told,
    Write,
)
from hermes.core.cli_agents import Profile
from tests.unit.backends.drivers.claude_output import delta, printed, result, start

PLACES = Places(home=Path("/j/home"), workspace=Path("/j/work"), scratch=Path("/j/scratch"))


def new(*, one_shot: bool = False, **setup: Any) -> Peer:
    driver = ClaudeDriver(Installed(command=("/bin/claude",)), one_shot=one_shot)
    return driver.peer(Setup(job_id="j", **setup), PLACES)


def sent(steps: Iterable[Event | Step]) -> list[Any]:
    """The lines that are written, each of them whole."""
    written = [step.data for step in steps if isinstance(step, Write)]
    assert all(data.endswith(b"\n") and data.count(b"\n") == 1 for data in written)
    return [json.loads(data) for data in written]


def started_with(**setup: Any) -> dict[str, Any]:
    start_line, _ = sent(new(**setup).ask(Question(text="hi")))
    request: dict[str, Any] = start_line["request"]
    return request


def asking(tool: str = "Bash", **arguments: Any) -> bytes:
    request = {"subtype": "can_use_tool", "tool_name": tool, "input": arguments}
    line = {"type": "control_request", "request_id": "r-1"}
    return printed(line | {"request": request | {"tool_use_id": "toolu_1"}})


def test_a_process_that_waits_is_greeted_and_nothing_is_fixed_by_that() -> None:
    (line,) = sent(new(system_prompt="Be brief.").greet())
    assert line["request"] == {"subtype": "mcp_status"}


def test_a_question_begins_the_talk_and_is_text() -> None:
    first, second = sent(new().ask(Question(text="hi")))
    assert first["request"]["subtype"] == "initialize"
    assert second == {
        "type": "user",
        "message": {"role": "user", "content": [{"type": "text", "text": "hi"}]},
    }


@pytest.mark.parametrize("one_shot", [False, True])
def test_a_prompt_that_begins_with_a_slash_is_no_command(*, one_shot: bool) -> None:
    write = [
        step
        for step in new(one_shot=one_shot).ask(Question(text="/cost"))
        if isinstance(step, Write)
    ]
    assert b" /cost" in write[-1].data


def test_pictures_stand_before_the_text() -> None:
    picture = Image(media_type="image/png", data=b"\x89PNG")
    _, line = sent(new().ask(Question(text="What is it?", images=(picture,))))
    source = {"type": "base64", "media_type": "image/png", "data": "iVBORw=="}
    assert line["message"]["content"] == [
        {"type": "image", "source": source},
        {"type": "text", "text": "What is it?"},
    ]


def test_in_a_chat_the_callers_system_prompt_replaces_that_of_the_cli() -> None:
    assert started_with(system_prompt="Be brief.")["systemPrompt"] == "Be brief."
    assert started_with()["systemPrompt"] == ""


def test_a_process_that_was_started_ahead_hears_its_system_prompt_with_the_question() -> None:
    question = Question(text="hi", system_prompt="Be brief.")
    chat, _ = sent(new().ask(question))
    assert chat["request"]["systemPrompt"] == "Be brief."
    edit, _ = sent(new(profile=Profile.EDIT).ask(question))
    assert edit["request"]["appendSystemPrompt"] == "Be brief."


def test_with_tools_the_callers_system_prompt_is_added_to_that_of_the_cli() -> None:
    request = started_with(profile=Profile.EDIT, system_prompt="Be brief.")
    assert request == {"subtype": "initialize", "appendSystemPrompt": "Be brief."}
    assert started_with(profile=Profile.EDIT) == {"subtype": "initialize"}


def test_the_form_of_the_answer_is_told_at_the_start() -> None:
    schema = {"type": "object"}
    assert started_with(answer_schema=schema)["jsonSchema"] == schema


@pytest.mark.parametrize(
    ("tool", "arguments", "shown", "reason"),
    [
        ("Bash", {"command": "rm -r x", "timeout": 3}, "rm -r x", "wants to run a command"),
        ("Write", {"file_path": "/w/a", "content": "b"}, "/w/a", "wants to write a file"),
        ("WebFetch", {"url": "http://a", "prompt": "b"}, "http://a", "wants to read a web page"),
        ("Novel", {"depth": 3}, '{"depth": 3}', "wants to use Novel"),
    ],
)
def test_a_request_for_permission_shows_exactly_what_would_be_done(
    tool: str, arguments: dict[str, Any], shown: str, reason: str
) -> None:
    (asked,) = new(can_ask=True).read(asking(tool, **arguments))
    assert asked == PermissionAsked(
        id="r-1",
        call_id="toolu_1",
        tool=tool,
        arguments=arguments,
        shown=shown,
        reason=reason,
    )


def test_what_is_allowed_is_done_as_it_was_shown() -> None:
    peer = new(can_ask=True)
    peer.read(asking(command="make"))
    (line,) = sent(peer.answer("r-1", is_allowed=True))
    assert line["response"] == {
        "subtype": "success",
        "request_id": "r-1",
        "response": {"behavior": "allow", "updatedInput": {"command": "make"}},
    }


def test_who_denies_may_say_why() -> None:
    peer = new(can_ask=True)
    peer.read(asking(command="make"))
    (line,) = sent(peer.answer("r-1", is_allowed=False, message="Not today."))
    assert line["response"]["response"] == {"behavior": "deny", "message": "Not today."}


def test_a_question_is_answered_once() -> None:
    peer = new(can_ask=True)
    peer.read(asking(command="make"))
    peer.answer("r-1", is_allowed=True)
    assert (peer.answer("r-1", is_allowed=True), peer.answer("r-2", is_allowed=True)) == ((), ())


def test_a_question_that_was_withdrawn_needs_no_answer() -> None:
    peer = new(can_ask=True)
    peer.read(asking(command="make"))
    peer.read(printed({"type": "control_cancel_request", "request_id": "r-1"}))
    assert peer.answer("r-1", is_allowed=True) == ()


def test_where_nobody_can_be_asked_it_is_denied_at_once() -> None:
    (line,) = sent(new().read(asking(command="make")))
    assert line["response"]["response"]["behavior"] == "deny"


def test_a_request_that_we_do_not_know_does_not_wait_for_ever() -> None:
    line = {"type": "control_request", "request_id": "r-9", "request": {"subtype": "elicitation"}}
    (answer,) = sent(new().read(printed(line)))
    assert (answer["response"]["subtype"], answer["response"]["request_id"]) == ("error", "r-9")


def test_a_request_of_ours_that_is_refused_is_told() -> None:
    refused = {"subtype": "error", "request_id": "start", "error": "bad schema"}
    assert new().read(printed({"type": "control_response", "response": refused})) == (
        Told("cli_warning", "The CLI refused a request: bad schema"),
    )


def test_an_answer_to_a_request_of_ours_says_nothing_to_the_reader() -> None:
    accepted = {"subtype": "success", "request_id": "start", "response": {}}
    unknown = {"subtype": "error", "request_id": "ready", "error": "unknown"}
    for response in (accepted, unknown):
        assert new().read(printed({"type": "control_response", "response": response})) == ()


def test_other_lines_are_read_as_ever() -> None:
    peer = new()
    peer.read(printed(start()))
    assert list(peer.read(printed(delta("Hello.")))) == [Said("Hello.")]
    assert [type(event) for event in peer.read(b"noise")] == [Told]


def test_an_interrupted_run_is_stopped_however_it_ends() -> None:
    peer = new()
    (line,) = sent(peer.interrupt())
    assert line["request"] == {"subtype": "interrupt"}
    peer.read(printed(result(None, subtype="error_during_execution", is_error=True)))
    assert peer.finish(Exit(code=1)).kind is EndKind.STOPPED


def test_a_process_is_dismissed_by_the_end_of_its_input() -> None:
    assert new().dismiss() == (CloseInput(),)


def test_one_shot_gives_the_prompt_and_reads() -> None:
    peer = new(one_shot=True)
    assert peer.ask(Question(text="--version")) == (Write(b"--version"), CloseInput())
    assert (peer.greet(), peer.interrupt(), peer.dismiss()) == ((), (), ())
    assert peer.answer("r-1", is_allowed=True) == ()
    peer.read(printed(result("Hello.")))
    assert peer.finish(Exit(code=0)).text == "Hello."
