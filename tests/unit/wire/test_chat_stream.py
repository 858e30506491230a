"""A turn as a chat stream: valid chunks only, and the same text the agent wrote."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

import pytest
from hypothesis import given
from openai.types.chat import ChatCompletionChunk

from hermes.core.events import (
    Event,
    Idle,
    Notice,
    ReasoningDelta,
    SegmentEnd,
    TextDelta,
    ToolFinished,
    ToolProgress,
    ToolStarted,
    TurnEnded,
)
from hermes.core.turn import Outcome, TurnResult, Usage
from hermes.wire.chat import ChatHead
from hermes.wire.chat_stream import ChatEncoder
from hermes.wire.own_renderings import strip
from hermes.wire.sse import KEEPALIVE
from hermes.wire.tool_forms import AUDIENCES, CONTRACT_DIALECT, Dialect, ReasoningView
from tests.unit.wire.event_logs import PENDING, dialects, logs, result_of, streamed_text
from tests.unit.wire.sse_reader import Received, read

HEAD = ChatHead("chatcmpl-1", 'a "content": "" model', 1700000000)


def label(name: str, arguments: Mapping[str, Any]) -> str:
    return f"{name} {arguments.get('path', '')}".strip()


def stream(
    log: Sequence[Event],
    *,
    include_usage: bool = False,
    dialect: Dialect = CONTRACT_DIALECT,
) -> list[Received]:
    encoder = ChatEncoder(HEAD, include_usage=include_usage, preview=label, dialect=dialect)
    return read(encoder.opening() + b"".join(encoder.encode(event) for event in log))


def chunks(received: list[Received]) -> list[dict[str, Any]]:
    assert received[-1] == Received("message", "[DONE]")
    return [one.json for one in received[:-1]]


def content(found: list[dict[str, Any]]) -> str:
    return "".join(
        choice["delta"].get("content") or "" for chunk in found for choice in chunk["choices"]
    )


def started(call_id: str = "call_1", name: str = "terminal") -> ToolStarted:
    return ToolStarted(call_id, name, {"path": "a.txt"})


def finished(call_id: str = "call_1", name: str = "terminal") -> ToolFinished:
    return ToolFinished(call_id, name, {"path": "a.txt"}, "secret output")


def test_a_short_answer_is_role_text_finish_and_done():
    received = stream([TextDelta("Hel"), TextDelta("lo"), TurnEnded(TurnResult(text="Hello"))])
    assert [chunk["choices"][0] for chunk in chunks(received)] == [
        {"index": 0, "delta": {"role": "assistant", "content": ""}, "finish_reason": None},
        {"index": 0, "delta": {"content": "Hel"}, "finish_reason": None},
        {"index": 0, "delta": {"content": "lo"}, "finish_reason": None},
        {"index": 0, "delta": {}, "finish_reason": "stop"},
    ]
    assert all(
        set(chunk) == {"id", "object", "created", "model", "choices"} for chunk in chunks(received)
    )


@pytest.mark.parametrize("include_usage", [False, True])
@pytest.mark.parametrize("text", ["plain", 'a "quote"\n', "\u2028\u2029\x85", "\ud800", "🙂é\x00"])
def test_the_template_writes_what_json_would_write(text: str, include_usage: bool):
    encoder = ChatEncoder(HEAD, include_usage=include_usage, preview=label)
    chunk: dict[str, Any] = {
        "id": HEAD.id,
        "object": "chat.completion.chunk",
        "created": HEAD.created,
        "model": HEAD.model,
        "choices": [{"index": 0, "delta": {"content": text}, "finish_reason": None}],
    }
    if include_usage:
        chunk["usage"] = None
    written = encoder.encode(TextDelta(text))
    assert written == f"data: {json.dumps(chunk)}\n\n".encode()
    assert written.isascii()


def test_a_tool_is_shown_as_a_valid_chunk_with_an_empty_delta():
    received = stream([started(), finished(), TurnEnded(TurnResult(text="ok"))])
    shown = [one.json for one in received if one.event == "hermes.tool.progress"]
    assert [(one["status"], one["toolCallId"]) for one in shown] == [
        ("running", "call_1"),
        ("completed", "call_1"),
    ]
    assert shown[0]["tool"] == "terminal"
    assert shown[0]["label"] == "terminal a.txt"
    assert shown[0]["choices"] == [{"index": 0, "delta": {}, "finish_reason": None}]
    assert "secret output" not in json.dumps(shown)


def test_internal_tools_are_never_shown():
    hidden = [started("call_x", "_memory"), finished("call_x", "_memory")]
    encoder = ChatEncoder(HEAD, preview=label)
    assert [encoder.encode(event) for event in hidden] == [b"", b""]


@pytest.mark.parametrize(
    "event", [ReasoningDelta("hm"), SegmentEnd(), ToolProgress("x"), Notice("retry", "again")]
)
def test_what_chat_clients_have_no_place_for_leaves_nothing(event: Event):
    assert ChatEncoder(HEAD, preview=label).encode(event) == b""


def test_silence_is_a_comment():
    assert ChatEncoder(HEAD, preview=label).encode(Idle()) == KEEPALIVE


def test_text_that_was_never_streamed_comes_before_the_finish():
    found = chunks(
        stream(
            [TextDelta("Looking"), started(), finished(), TurnEnded(TurnResult(text="It is 42."))]
        )
    )
    assert content(found) == "LookingIt is 42."
    assert found[-2]["choices"][0]["delta"] == {"content": "It is 42."}


def test_streamed_text_is_not_repeated_after_an_internal_tool():
    log = [
        TextDelta("Hello"),
        started("c", "_memory"),
        finished("c", "_memory"),
        TurnEnded(TurnResult(text="Hello")),
    ]
    assert content(chunks(stream(log))) == "Hello"


def test_a_failed_turn_says_why_in_its_finish_chunk():
    result = TurnResult(outcome=Outcome.FAILED, error="upstream model 500")
    finish = chunks(stream([TextDelta("partial"), TurnEnded(result)]))[-1]
    assert finish["choices"][0]["finish_reason"] == "error"
    assert finish["error"] == {
        "message": "upstream model 500",
        "type": "server_error",
        "param": None,
        "code": "agent_failed",
    }
    assert finish["hermes"]["failed"] is True


def test_a_truncated_turn_finishes_with_length_and_no_error():
    result = TurnResult(text="half", outcome=Outcome.TRUNCATED, error="output was truncated")
    finish = chunks(stream([TextDelta("half"), TurnEnded(result)]))[-1]
    assert finish["choices"][0]["finish_reason"] == "length"
    assert finish["hermes"]["error_code"] == "output_truncated"
    assert "error" not in finish


def test_an_interrupted_turn_with_streamed_text_is_no_error():
    finish = chunks(
        stream([TextDelta("half"), TurnEnded(TurnResult(outcome=Outcome.INTERRUPTED))])
    )[-1]
    assert finish["choices"][0]["finish_reason"] == "length"
    finish = chunks(stream([TurnEnded(TurnResult(outcome=Outcome.INTERRUPTED))]))[-1]
    assert finish["error"]["code"] == "interrupted"


def test_usage_comes_once_at_the_end_and_only_when_asked_for():
    usage = Usage(input_tokens=1, output_tokens=2, total_tokens=3)
    log = [TextDelta("x"), started(), TurnEnded(TurnResult(text="y", usage=usage))]
    found = chunks(stream(log, include_usage=True))
    assert [chunk["usage"] for chunk in found[:-1]] == [None] * (len(found) - 1)
    assert found[-1]["choices"] == []
    assert found[-1]["usage"]["total_tokens"] == 3
    assert all("usage" not in chunk for chunk in chunks(stream(log)))


# --- dialects -------------------------------------------------------------------------------------

RAN = [started(), finished(), TextDelta("ok"), TurnEnded(TurnResult(text="ok"))]


def deltas(audience: str, log: Sequence[Event]) -> list[dict[str, Any]]:
    """Every delta between the opening and the finish; no event may have a name."""
    received = stream(log, dialect=Dialect(forms=AUDIENCES[audience]))
    assert {one.event for one in received} == {"message"}
    return [chunk["choices"][0]["delta"] for chunk in chunks(received)[1:-1]]


def test_progress_can_be_an_extra_key_of_a_delta():
    running, completed, text = deltas("mcp", RAN)
    assert running == {
        "hermes_tool": {
            "tool": "terminal",
            "label": "terminal a.txt",
            "toolCallId": "call_1",
            "status": "running",
        }
    }
    assert completed["hermes_tool"]["status"] == "completed"
    assert text == {"content": "ok"}


@pytest.mark.parametrize("audience", ["open_webui", "reasoning"])
def test_progress_can_be_one_marked_line_of_reasoning(audience: str):
    line, text = deltas(audience, RAN)
    assert "terminal a.txt" in line["reasoning_content"]
    assert strip(line["reasoning_content"]) == ""
    assert text == {"content": "ok"}


def test_progress_can_be_hidden():
    assert deltas("hidden", RAN) == [{"content": "ok"}]


def test_thinking_is_reasoning_content_where_it_is_shown():
    log = [ReasoningDelta("Why?"), ReasoningDelta(""), TurnEnded(TurnResult(text="ok"))]
    found = chunks(stream(log, dialect=Dialect(reasoning=ReasoningView.SHOWN)))
    assert [chunk["choices"][0]["delta"] for chunk in found[1:-1]] == [
        {"reasoning_content": "Why?"},
        {"content": "ok"},
    ]


@pytest.mark.parametrize("audience", AUDIENCES)
def test_what_the_client_has_to_run_comes_as_tool_calls_before_the_finish(audience: str):
    result = TurnResult(outcome=Outcome.WAITING, pending=[PENDING, {**PENDING, "id": "call_10"}])
    found = chunks(stream([TurnEnded(result)], dialect=Dialect(forms=AUDIENCES[audience])))
    first, second, finish = (chunk["choices"][0] for chunk in found[1:])
    assert first["delta"] == {"tool_calls": [{"index": 0, **PENDING}]}
    assert second["delta"]["tool_calls"][0]["index"] == 1
    assert second["delta"]["tool_calls"][0]["id"] == "call_10"
    assert (finish["delta"], finish["finish_reason"]) == ({}, "tool_calls")
    assert "hermes" not in found[-1]


def test_what_was_said_before_the_servers_tools_is_not_said_again_beside_the_clients():
    result = TurnResult(text="One moment.", outcome=Outcome.WAITING, pending=[PENDING])
    log = [TextDelta("One moment."), SegmentEnd(), started(), finished(), TurnEnded(result)]
    assert content(chunks(stream(log))) == "One moment."


@given(logs, dialects)
def test_every_lawful_log_gives_a_lawful_stream(log: list[Event], dialect: Dialect):
    found = chunks(stream(log, dialect=dialect))
    finishes = [chunk["choices"][0]["finish_reason"] for chunk in found]
    assert [reason for reason in finishes if reason] == [finishes[-1]]
    for chunk in found:
        # The contract's "error" is no finish reason the SDK knows; everything else is strict.
        if chunk["choices"][0]["finish_reason"] == "error":
            chunk["choices"][0]["finish_reason"] = "stop"
        ChatCompletionChunk.model_validate_json(json.dumps(chunk), strict=True)
    said = content(found)
    assert said.startswith(streamed_text(log))
    assert result_of(log).text.endswith(said[len(streamed_text(log)) :])


@given(logs, dialects)
def test_no_answer_is_lost(log: list[Event], dialect: Dialect):
    quiet = [event for event in log if not isinstance(event, TextDelta)]
    assert content(chunks(stream(quiet, dialect=dialect))) == result_of(log).text


@given(logs)
def test_every_shown_start_and_finish_is_shown_once(log: list[Event]):
    shown = [
        (one.json["toolCallId"], one.json["status"])
        for one in stream(log)
        if one.event == "hermes.tool.progress"
    ]
    status = {ToolStarted: "running", ToolFinished: "completed"}
    assert shown == [
        (event.call_id, status[type(event)])
        for event in log
        if isinstance(event, (ToolStarted, ToolFinished)) and not event.name.startswith("_")
    ]
