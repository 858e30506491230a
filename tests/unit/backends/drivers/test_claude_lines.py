"""What the lines of Claude Code mean while they come."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hermes.backends.drivers.claude_lines import ClaudeLines
from hermes.backends.saying import (
    Concluded,
    EndKind,
    Exit,
    MessageEnded,
    Said,
    Started,
    Thought,
    Told,
    ToolAnswered,
    ToolCalled,
)
from tests.unit.backends.drivers.claude_output import (
    INIT,
    SESSION,
    delta,
    failure,
    printed,
    read,
    result,
    said,
    start,
    stop,
    streamed,
    synthetic,
    text,
    tool_result,
    tool_use,
    whole,
)


def test_a_turn_is_told_as_it_comes_and_each_word_once() -> None:
    events = read(
        ClaudeLines(),
        *(INIT, start(), delta("Hel"), delta("lo."), whole(text("Hello."))),
        *(stop(), result("Hello.")),
    )
    assert events == [
        Started(SESSION, "claude-haiku-5-5", "2.1.325"),
        Said("Hel"),
        Said("lo."),
        MessageEnded("Hello."),
        Concluded(),
    ]


def test_thinking_is_told_apart_from_the_answer() -> None:
    thinking = {"type": "thinking", "thinking": "Let me see.", "signature": "c2ln"}
    events = read(
        ClaudeLines(),
        *(start(), delta("Let me", "thinking"), whole(thinking), delta("Yes."), stop()),
    )
    assert events == [Thought("Let me"), Thought(" see."), Said("Yes."), MessageEnded("Yes.")]


def test_a_message_that_is_told_in_whole_after_its_stream_is_not_said_again() -> None:
    lines = ClaudeLines()
    events = read(lines, start(), delta("Hel"), stop(), whole(text("Hello.")), result("Hello."))
    assert said(events) == "Hello."
    assert lines.finish(Exit(code=0)).unsaid == ""


def test_a_message_without_a_stream_is_said_in_whole_and_ends_with_the_next() -> None:
    events = read(
        ClaudeLines(),
        *(whole(text("One.")), whole(text("Two."), message_id="msg_2"), result("Two.")),
    )
    assert events == [
        *(Said("One."), MessageEnded("One.")),
        *(Said("Two."), MessageEnded("Two."), Concluded()),
    ]


@pytest.mark.parametrize("again", ["echo one two", " two"])
def test_a_stream_that_breaks_off_is_one_message_with_what_follows(again: str) -> None:
    """Providers are asked to go on where they stopped; some begin anew."""
    lines = ClaudeLines()
    synthetic_user = {"type": "user", "message": {"content": [text("Go on.")]}, "isSynthetic": True}
    events = read(
        lines,
        *(start(), delta("echo"), delta(" one"), whole(text("echo one")), stop(None)),
        synthetic_user,
        *(start("msg_2"), delta(again[:3]), delta(again[3:])),
        *(whole(text(again), message_id="msg_2"), stop(), result(again)),
    )
    assert said(events) == "echo one two"
    assert [event for event in events if isinstance(event, MessageEnded)] == [
        MessageEnded("echo one two")
    ]
    assert lines.finish(Exit(code=0)).text == "echo one two"


def test_an_answer_over_the_output_limit_goes_on_in_the_next_message() -> None:
    lines = ClaudeLines()
    events = read(
        lines,
        *(start(), delta("Once upon"), whole(text("Once upon")), stop("max_tokens")),
        *(start("msg_2"), delta(" a time."), stop(), result(" a time.")),
    )
    assert said(events) == lines.finish(Exit(code=0)).text == "Once upon a time."


def test_an_abandoned_stream_and_the_whole_message_of_another_attempt_are_one() -> None:
    events = read(
        ClaudeLines(),
        *(start(), delta("ec"), start("msg_2"), delta("ec")),
        *(whole(text("echo one"), message_id="msg_3"), result("echo one")),
    )
    assert said(events) == "echo one"


def test_text_before_and_after_a_tool_is_two_messages() -> None:
    events = read(
        ClaudeLines(),
        *(start(), delta("I look."), whole(text("I look."))),
        *(whole(tool_use("Read", file_path="/w/a")), tool_result("1\tx"), stop("tool_use")),
        *(start("msg_2"), delta("It is x."), stop(), result("It is x.")),
    )
    assert events == [
        Said("I look."),
        ToolCalled("toolu_1", "Read", {"file_path": "/w/a"}),
        ToolAnswered("toolu_1", "Read", "1\tx"),
        MessageEnded("I look."),
        Said("It is x."),
        MessageEnded("It is x."),
        Concluded(),
    ]


def test_a_tool_may_answer_while_its_message_is_still_told() -> None:
    events = read(
        ClaudeLines(),
        *(start(), whole(tool_use("Read")), tool_result("x")),
        *(delta("And more."), whole(text("And more.")), stop("tool_use")),
    )
    assert said(events) == "And more."


def test_after_a_tool_no_message_is_taken_for_a_second_attempt() -> None:
    events = read(
        ClaudeLines(),
        *(start(), delta("Look."), whole(text("Look.")), whole(tool_use("Read"))),
        *(tool_result("x"), start("msg_2"), delta("Look."), stop()),
    )
    assert [event for event in events if isinstance(event, Said | MessageEnded)] == [
        *(Said("Look."), MessageEnded("Look.")),
        *(Said("Look."), MessageEnded("Look.")),
    ]


def test_what_a_sub_agent_says_is_no_part_of_the_answer() -> None:
    events = read(
        ClaudeLines(),
        *(start(parent="toolu_1"), delta("aside", parent="toolu_1")),
        whole(text("aside"), tool_use("Bash", "toolu_2"), parent_tool_use_id="toolu_1"),
    )
    assert events == [ToolCalled("toolu_2", "Bash", {})]


def test_a_tool_that_failed_and_one_that_shows_a_picture() -> None:
    events = read(
        ClaudeLines(),
        whole(tool_use("Read"), tool_use("Bash", "toolu_2")),
        tool_result([text("a chart:"), {"type": "image", "source": {}}]),
        tool_result("No.", "toolu_2", is_error=True),
    )
    assert events[2:] == [
        ToolAnswered("toolu_1", "Read", "a chart:\n[image]"),
        ToolAnswered("toolu_2", "Bash", "No.", is_error=True),
    ]


def test_what_the_cli_says_in_the_models_place_is_not_said() -> None:
    assert read(ClaudeLines(), synthetic("API Error: 500", "server_error")) == []


def test_with_a_schema_only_the_value_is_the_answer() -> None:
    lines = ClaudeLines(has_schema=True)
    events = read(
        lines,
        *(start(), delta("Sure."), whole(tool_use("StructuredOutput", name="Ada"))),
        *(tool_result("provided"), stop("tool_use")),
        result('{"name":"Ada"}', structured_output={"name": "Ada"}),
    )
    assert events == [Concluded()]
    ending = lines.finish(Exit(code=0))
    assert (ending.kind, ending.text, ending.unsaid) == (
        EndKind.ANSWERED,
        '{"name": "Ada"}',
        '{"name": "Ada"}',
    )


def test_a_retry_is_told() -> None:
    retry = {"type": "system", "subtype": "api_retry", "error_status": 529, "retry_delay_ms": 500}
    lost = {"type": "system", "subtype": "api_retry", "error_status": None}
    assert read(ClaudeLines(), retry, lost) == [
        Told("cli_retry", "The provider answered with status 529; the CLI tries again."),
        Told("cli_retry", "The provider could not be reached; the CLI tries again."),
    ]


def test_a_denial_is_told_once() -> None:
    line = {"type": "system", "subtype": "permission_denied", "tool_use_id": "toolu_1"}
    denials = [
        {"tool_name": "Read", "tool_use_id": "toolu_1"},
        {"tool_name": "Bash", "tool_use_id": "toolu_2"},
        {"tool_name": "Write", "tool_use_id": "toolu_3"},
    ]
    lines = ClaudeLines()
    lines.expect_denial("toolu_3")
    events = read(lines, line | {"message": "Outside."}, result(permission_denials=denials))
    assert events == [
        Told("cli_denied", "Outside."),
        Told("cli_denied", "Bash was denied."),
        Concluded(),
    ]


def test_a_notice_is_told() -> None:
    notice = {"type": "system", "subtype": "informational", "content": "Safeguards."}
    assert read(ClaudeLines(), notice) == [Told("cli_warning", "Safeguards.")]


@pytest.mark.parametrize(
    "line",
    [
        {"type": "system", "subtype": "ui_invalidate"},
        {"type": "system", "subtype": "invented_tomorrow"},
        {"type": "rate_limit_event"},
        {"type": "control_response", "response": {}},
        streamed({"type": "ping"}),
    ],
)
def test_what_is_not_about_the_answer_is_passed_over(line: dict[str, Any]) -> None:
    assert read(ClaudeLines(), line) == []


@pytest.mark.parametrize(
    "line", [b"Oh: no", b'{"type": "new"}', b'{"type": []}', b"{", b"[1]", b"\xff"]
)
def test_a_line_of_an_unknown_kind_is_told_without_its_content(line: bytes) -> None:
    (told,) = ClaudeLines().read(line)
    assert isinstance(told, Told)
    assert told.code == "unknown_line"
    assert line.decode(errors="replace") not in told.message


def test_an_empty_line_says_nothing() -> None:
    assert ClaudeLines().read(b" ") == []


VALUES = st.recursive(
    st.none() | st.booleans() | st.floats() | st.text(max_size=5) | st.integers(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner),
    max_leaves=5,
)
NAMES = ["message", "event", "subtype", "content", "usage", "delta", "result", "errors", "error"]
NAMES += ["modelUsage", "model_usage_since_last_result", "permission_denials", "retry_delay_ms"]
KINDS = ["system", "assistant", "user", "result", "stream_event", "control_request"]


@given(st.lists(st.tuples(st.sampled_from(KINDS), st.dictionaries(st.sampled_from(NAMES), VALUES))))
def test_no_line_makes_it_raise(told: list[tuple[str, dict[str, Any]]]) -> None:
    lines = ClaudeLines()
    for kind, fields in told:
        lines.read(printed(fields | {"type": kind}))
    lines.finish(Exit(code=0))


def test_an_error_after_an_answer_keeps_what_was_said() -> None:
    lines = ClaudeLines()
    read(lines, start(), delta("Half an"), failure("API Error: Connection lost."))
    ending = lines.finish(Exit(code=1))
    assert (ending.kind, ending.text, ending.code) == (EndKind.FAILED, "Half an", "network")
