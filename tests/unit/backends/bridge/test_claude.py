"""How the bridge calls the CLI, and what its output means there."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hermes.backends.bridge.claude import ARGUMENT_LIMIT, BridgePeer, Errand, arguments
from hermes.backends.jobs import Question
from hermes.backends.saying import CloseInput, Ending, EndKind, Exit, StopReason, Write

GUARDS = ("--setting-sources", "user", "--strict-mcp-config", "--max-budget-usd", "2.5")
OUTPUT = ("-p", "--output-format", "stream-json", "--verbose", "--include-partial-messages")
HI = Errand(model="haiku", prompt="hi", max_budget_usd=2.5, timeout_seconds=9)

INIT = {"type": "system", "subtype": "init", "session_id": "s-1", "tools": []}


def result(**changes: Any) -> dict[str, Any]:
    """A result line; its type stands last, as the CLI sometimes prints it."""
    usual = {"subtype": "success", "is_error": False, "result": "Hello.", "session_id": "s-1"}
    return usual | changes | {"type": "result"}


def ending(*lines: Any, heard: list[bytes] | None = None, **exit_: Any) -> Ending:
    take = heard.append if heard is not None else lambda _line: None
    peer = BridgePeer("job_1", HI, take)
    for line in lines:
        peer.read(line if isinstance(line, bytes) else json.dumps(line).encode())
    return peer.finish(Exit(**({"code": 0} | exit_)))


def test_the_prompt_is_the_last_argument_and_cannot_be_an_option() -> None:
    assert arguments(("claude",), replace(HI, prompt="--version")) == (
        *("claude", *GUARDS, *OUTPUT),
        *("--model", "haiku", "--", "--version"),
    )


def test_a_prompt_with_a_slash_is_text_and_no_command() -> None:
    assert arguments(("claude",), replace(HI, prompt="/cost"))[-1] == " /cost"


def test_the_operators_word_about_a_guard_counts() -> None:
    command = ("claude", "--setting-sources", "user,project", "--max-budget-usd", "99")
    assert arguments(command, HI) == (
        *(*command, "--strict-mcp-config", *OUTPUT),
        *("--model", "haiku", "--", "hi"),
    )


def test_an_agent_is_asked_for_where_one_is_wanted() -> None:
    words = arguments(("claude",), replace(HI, agent="triage"))
    assert words[words.index("--agent") + 1] == "triage"
    assert "--agent" not in arguments(("claude",), HI)


def test_a_prompt_too_long_for_an_argument_goes_through_stdin() -> None:
    errand = replace(HI, prompt="ä" * ARGUMENT_LIMIT)
    assert arguments(("claude",), errand) == ("claude", *GUARDS, *OUTPUT, "--model", "haiku")
    peer = BridgePeer("job_1", errand, lambda _line: None)
    asked = peer.ask(Question(text=errand.prompt))
    assert list(asked) == [Write(errand.prompt.encode()), CloseInput()]


def test_a_prompt_that_is_an_argument_is_not_said_again() -> None:
    assert list(BridgePeer("job_1", HI, print).ask(Question(text="hi"))) == [CloseInput()]


def test_the_result_is_the_answer_with_its_session() -> None:
    ended = ending(INIT, result(total_cost_usd=0.01, usage={"output_tokens": 7}))
    assert (ended.kind, ended.text, ended.session_id) == (EndKind.ANSWERED, "Hello.", "s-1")
    assert ended.usage.output_tokens == 7
    assert ended.usage.cost_usd == 0.01


def test_the_minimal_result_is_enough() -> None:
    ended = ending({"type": "result", "result": "ok", "is_error": False})
    assert (ended.kind, ended.text) == (EndKind.ANSWERED, "ok")


def test_lines_are_told_as_they_are_without_pieces_of_messages() -> None:
    heard: list[bytes] = []
    ending(INIT, {"type": "stream_event", "event": {}}, b"\xff noise", heard=heard)
    assert heard == [json.dumps(INIT).encode(), b"\xff noise"]


def test_what_a_run_has_used_is_known_when_it_is_stopped() -> None:
    begun = {"type": "message_start", "message": {"usage": {"input_tokens": 40}}}
    line = {"type": "stream_event", "event": begun}
    ended = ending(INIT, line, code=-15, stopped=StopReason.TOO_LONG)
    assert ended.usage.input_tokens == 40


@pytest.mark.parametrize("is_whole", [True, False])
def test_plain_text_is_an_answer_as_it_is(is_whole: bool) -> None:
    lines = (b"plain", b"", b'  {"answer": 1}', b"text")
    ended = ending(*lines, last_line_is_whole=is_whole)
    assert ended.kind is EndKind.ANSWERED
    assert ended.text == ended.unsaid == 'plain\n\n  {"answer": 1}\ntext'


@pytest.mark.parametrize(
    ("lines", "exit_"),
    [
        ((b"plain",), {"code": 1}),
        ((b"plain",), {"code": 0, "stopped": StopReason.TOO_LONG}),
        ((), {"code": 0}),
        ((b"  ",), {"code": 0}),
        ((INIT, b"plain"), {"code": 0}),
        ((b'{"type": "result", "resu',), {"code": 0}),
        ((b'{"type": "result", "resu',), {"code": 0, "last_line_is_whole": False}),
        ((b"plain", result(is_error=True)), {"code": 0}),
        ((result(is_error=True),), {"code": 0}),
        ((result(),), {"code": 1}),
    ],
)
def test_what_failed_or_broke_off_is_no_answer(lines: Any, exit_: dict[str, Any]) -> None:
    assert ending(*lines, **exit_).kind is EndKind.FAILED


@given(st.lists(st.binary() | st.text().map(str.encode)), st.integers(-9, 3))
def test_nothing_that_is_printed_breaks_it(lines: list[bytes], code: int) -> None:
    ended = ending(*lines, code=code)
    ended.text.encode()
