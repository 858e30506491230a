"""A turn as a Responses stream, checked as strictly as the strictest readers do."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

import pytest
from hypothesis import given, settings
from openai.types.responses import ResponseStreamEvent
from pydantic import TypeAdapter

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
from hermes.wire.responses import ResponseHead
from hermes.wire.responses_stream import ResponsesEncoder
from hermes.wire.sse import KEEPALIVE
from tests.unit.wire.event_logs import logs, result_of, streamed_text
from tests.unit.wire.sse_reader import Received, read

HEAD = ResponseHead(id="resp_1", created_at=1700000000, model="hermes-agent")
# The SDK's union knows every item we write, `function_call_output` included.
strict = TypeAdapter[Any](ResponseStreamEvent)


def encoder() -> ResponsesEncoder:
    return ResponsesEncoder(HEAD, clock=lambda: 1700000009.5)


def written(log: Sequence[Event], using: ResponsesEncoder | None = None) -> list[dict[str, Any]]:
    """The payloads of a whole stream, each checked to be named after its type."""
    using = using or encoder()
    received = read(b"".join([*using.opening(), *(using.encode(event) for event in log)]))
    if isinstance(log[-1], TurnEnded):
        assert received.pop() == Received("message", "[DONE]")
    payloads = [one.json for one in received]
    assert [one.event for one in received] == [payload["type"] for payload in payloads]
    return payloads


def kinds(payloads: list[dict[str, Any]]) -> list[str]:
    return [payload["type"].removeprefix("response.") for payload in payloads]


def started(call_id: str = "call_1", name: str = "read_file") -> ToolStarted:
    return ToolStarted(call_id, name, {"path": "a.txt"})


def finished(call_id: str = "call_1", name: str = "read_file") -> ToolFinished:
    return ToolFinished(call_id, name, {"path": "a.txt"}, '{"content":"hello"}')


def ended(text: str = "", outcome: Outcome = Outcome.COMPLETED) -> TurnEnded:
    return TurnEnded(TurnResult(text=text, outcome=outcome, error="Why.", usage=Usage()))


def texts(response: dict[str, Any]) -> list[str]:
    return [item["content"][0]["text"] for item in response["output"] if item["type"] == "message"]


def test_a_short_answer_has_every_event_in_order():
    payloads = written([TextDelta("Hel"), TextDelta("lo"), ended("Hello")])
    assert kinds(payloads) == [
        "created",
        "in_progress",
        "output_item.added",
        "content_part.added",
        "output_text.delta",
        "output_text.delta",
        "output_text.done",
        "content_part.done",
        "output_item.done",
        "completed",
    ]
    assert payloads[-1]["response"]["completed_at"] == 1700000009
    assert texts(payloads[-1]["response"]) == ["Hello"]


def test_the_opening_is_two_events_to_be_written_apart():
    first, second = encoder().opening()
    assert [one.event for one in read(first)] == ["response.created"]
    assert [one.event for one in read(second)] == ["response.in_progress"]
    assert read(first)[0].json["response"] == read(second)[0].json["response"]


@pytest.mark.parametrize("text", ["plain", '"quoted"\n', "\u2028", "\ud800", "🙂\x00"])
def test_the_template_writes_what_json_would_write(text: str):
    using = encoder()
    using.encode(TextDelta("first"))
    raw = using.encode(TextDelta(text))
    assert raw.isascii()
    [one] = read(raw)
    assert one.json["delta"] == text
    assert one.data == json.dumps(one.json)


def test_a_tool_is_a_call_and_its_output():
    payloads = written([started(), finished(), TextDelta("Done."), ended("Done.")])
    assert kinds(payloads)[2:9] == [
        "output_item.added",
        "function_call_arguments.delta",
        "function_call_arguments.done",
        "output_item.done",
        "output_item.added",
        "output_item.done",
        "output_item.added",
    ]
    added, call, output = payloads[2]["item"], payloads[5]["item"], payloads[7]["item"]
    assert (added["arguments"], added["status"]) == ("", "in_progress")
    assert (call["arguments"], call["status"]) == ('{"path":"a.txt"}', "completed")
    assert (call["call_id"], call["name"]) == ("call_1", "read_file")
    assert output["call_id"] == "call_1"
    assert (
        '"output": [{"type": "input_text", "text": "{\\"content\\":\\"hello\\"}"}]'
        in json.dumps(output)
    )


def test_text_before_a_tool_is_a_message_of_its_own():
    final = written(
        [TextDelta("Wait."), started(), finished(), TextDelta("Done."), ended("Done.")]
    )[-1]["response"]
    assert [item["type"] for item in final["output"]] == [
        "message",
        "function_call",
        "function_call_output",
        "message",
    ]
    assert texts(final) == ["Wait.", "Done."]


def test_tools_side_by_side_keep_their_own_places():
    payloads = written([started("a"), started("b"), finished("b"), finished("a"), ended("ok")])
    calls = {
        payload["item"]["call_id"]: payload["output_index"]
        for payload in payloads
        if payload["type"] == "response.output_item.done"
        and payload["item"]["type"] == "function_call"
    }
    assert calls == {"a": 0, "b": 1}
    outputs = [item["call_id"] for item in payloads[-1]["response"]["output"][2:4]]
    assert outputs == ["b", "a"]


def test_internal_tools_leave_no_trace():
    using = encoder()
    assert using.encode(started("x", "_memory")) == b""
    assert using.encode(finished("x", "_memory")) == b""
    log = [TextDelta("Hello"), started("x", "_m"), finished("x", "_m"), ended("Hello")]
    assert texts(written(log)[-1]["response"]) == ["Hello"]


def test_a_call_that_never_reports_back_is_closed_as_incomplete():
    final = written([started(), ended("", Outcome.INTERRUPTED)])[-1]["response"]
    assert [(item["type"], item["status"]) for item in final["output"]] == [
        ("function_call", "incomplete")
    ]


def test_an_answer_that_was_never_streamed_is_written_at_the_end():
    payloads = written([started(), finished(), ended("It is 42.")])
    deltas = [p["delta"] for p in payloads if p["type"] == "response.output_text.delta"]
    assert deltas == ["It is 42."]
    assert texts(payloads[-1]["response"]) == ["It is 42."]


def test_an_answer_that_broke_off_is_completed_in_place():
    assert texts(written([TextDelta("It is"), ended("It is 42.")])[-1]["response"]) == ["It is 42."]


def test_a_second_attempt_is_a_message_of_its_own():
    log = [TextDelta("First"), started("x", "_m"), finished("x", "_m"), ended("Second")]
    assert texts(written(log)[-1]["response"]) == ["First", "Second"]


def test_a_completed_turn_without_text_still_ends_with_a_message():
    assert texts(written([ended()])[-1]["response"]) == [""]


@pytest.mark.parametrize(
    ("outcome", "kind", "details", "error"),
    [
        (Outcome.TRUNCATED, "incomplete", {"reason": "max_output_tokens"}, None),
        (Outcome.INTERRUPTED, "incomplete", None, None),
        (Outcome.FAILED, "failed", None, {"code": "server_error", "message": "Why."}),
    ],
)
def test_a_turn_that_did_not_complete_says_so(
    outcome: Outcome, kind: str, details: Any, error: Any
):
    last = written([TextDelta("half"), ended("half", outcome)])[-1]
    response = last["response"]
    assert (last["type"], response["status"]) == (f"response.{kind}", kind)
    assert (response["incomplete_details"], response["error"]) == (details, error)
    assert response["output"][0]["status"] == "incomplete"
    assert response["completed_at"] is None


def test_a_snapshot_keeps_the_text_so_far_and_disturbs_nothing():
    using = encoder()
    payloads = written([TextDelta("Wait."), started(), SegmentEnd(), TextDelta("partial")], using)
    cut = using.snapshot("incomplete")
    assert cut["status"] == "incomplete"
    assert [item["status"] for item in cut["output"]] == ["completed", "incomplete", "incomplete"]
    assert texts(cut) == ["Wait.", "partial"]
    going = using.snapshot("in_progress")
    assert [item["status"] for item in going["output"]] == [
        "completed",
        "in_progress",
        "in_progress",
    ]
    [delta] = read(using.encode(TextDelta("!")))
    assert delta.json["sequence_number"] == payloads[-1]["sequence_number"] + 1
    assert texts(cut) == ["Wait.", "partial"]


def test_there_is_no_final_response_before_the_end():
    using = encoder()
    assert using.final is None
    last = written([ended("x")], using)[-1]
    assert using.final == last["response"]


@pytest.mark.parametrize(
    "event", [ReasoningDelta("hm"), ToolProgress("x"), Notice("retry", "again"), SegmentEnd()]
)
def test_what_has_no_place_here_leaves_nothing(event: Event):
    assert encoder().encode(event) == b""


def test_silence_is_a_comment():
    assert encoder().encode(Idle()) == KEEPALIVE


@given(logs)
@settings(max_examples=60)
def test_every_event_is_valid_in_strict_mode(log: list[Event]):
    for payload in written(log):
        strict.validate_json(json.dumps(payload), strict=True)


@given(logs)
def test_numbers_have_no_gap_and_the_end_comes_once(log: list[Event]):
    payloads = written(log)
    assert [payload["sequence_number"] for payload in payloads] == list(range(len(payloads)))
    assert kinds(payloads)[:2] == ["created", "in_progress"]
    ends = [kind for kind in kinds(payloads) if kind in ("completed", "incomplete", "failed")]
    assert ends == [kinds(payloads)[-1]]


@given(logs)
def test_every_item_is_opened_and_closed_once_and_the_final_output_is_what_was_done(
    log: list[Event],
):
    payloads = written(log)
    added = [p for p in payloads if p["type"] == "response.output_item.added"]
    done = [p for p in payloads if p["type"] == "response.output_item.done"]
    final = payloads[-1]["response"]["output"]
    assert [p["output_index"] for p in added] == list(range(len(final)))
    assert [p["item"]["id"] for p in added] == [item["id"] for item in final]
    assert sorted(p["output_index"] for p in done) == list(range(len(final)))
    assert [p["item"] for p in sorted(done, key=lambda p: p["output_index"])] == final
    assert all(item["status"] != "in_progress" for item in final)


@given(logs)
def test_every_message_is_the_sum_of_its_deltas(log: list[Event]):
    payloads = written(log)
    streamed: dict[str, str] = {}
    for payload in payloads:
        match payload["type"]:
            case "response.content_part.added":
                streamed[payload["item_id"]] = ""
            case "response.output_text.delta":
                streamed[payload["item_id"]] += payload["delta"]
            case "response.output_text.done":
                assert payload["text"] == streamed[payload["item_id"]]
    final = payloads[-1]["response"]
    assert texts(final) == list(streamed.values())
    said = "".join(texts(final))
    assert said.startswith(streamed_text(log))
    assert result_of(log).text.endswith(said[len(streamed_text(log)) :])


@given(logs)
def test_no_answer_is_lost(log: list[Event]):
    quiet = [event for event in log if not isinstance(event, TextDelta)]
    assert "".join(texts(written(quiet)[-1]["response"])) == result_of(log).text
