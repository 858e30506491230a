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
from hermes.wire.own_renderings import strip
from hermes.wire.response_echo import ResponseEcho
from hermes.wire.responses import ResponseHead
from hermes.wire.responses_stream import ResponsesEncoder
from hermes.wire.sse import KEEPALIVE
from hermes.wire.tool_forms import AUDIENCES, CONTRACT_DIALECT, Dialect, ReasoningView
from tests.unit.wire.event_logs import PENDING, dialects, logs, result_of, streamed_text
from tests.unit.wire.sse_reader import Received, read

HEAD = ResponseHead(id="resp_1", created_at=1700000000, model="hermes-agent")
# The SDK's union knows every item we write, `function_call_output` included.
strict = TypeAdapter[Any](ResponseStreamEvent)


def encoder(dialect: Dialect = CONTRACT_DIALECT, head: ResponseHead = HEAD) -> ResponsesEncoder:
    return ResponsesEncoder(
        head,
        preview=lambda name, arguments: str(arguments.get("path", name)),
        dialect=dialect,
    )


def written(log: Sequence[Event], using: ResponsesEncoder | None = None) -> list[dict[str, Any]]:
    """The payloads of a whole stream, each checked to be named after its type."""
    using = using or encoder()
    received = read(
        b"".join([*using.opening(), *(using.encode(event, 1700000009.5) for event in log)])
    )
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


# --- dialects -------------------------------------------------------------------------------------

MCP = Dialect(forms=AUDIENCES["mcp"])
THOUGHTS = Dialect(forms=AUDIENCES["reasoning"])
HIDDEN = Dialect(forms=AUDIENCES["hidden"])
OPEN_MIND = Dialect(reasoning=ReasoningView.SHOWN)


def test_an_mcp_call_runs_through_its_own_events():
    log = [started(), finished(), TextDelta("Done."), ended("Done.")]
    payloads = written(log, encoder(MCP))
    assert kinds(payloads)[2:9] == [
        "output_item.added",
        "mcp_call.in_progress",
        "mcp_call_arguments.delta",
        "mcp_call_arguments.done",
        "mcp_call.completed",
        "output_item.done",
        "output_item.added",
    ]
    added, done = payloads[2]["item"], payloads[7]["item"]
    assert (added["arguments"], added["status"], added["output"]) == ("", "in_progress", None)
    assert done == {
        **added,
        "arguments": '{"path":"a.txt"}',
        "status": "completed",
        "output": '{"content":"hello"}',
    }
    assert {payload["item_id"] for payload in payloads[3:7]} == {done["id"]}


def test_an_mcp_call_that_never_reports_back_has_failed():
    payloads = written([started(), ended("", Outcome.INTERRUPTED)], encoder(MCP))
    assert "mcp_call.failed" in kinds(payloads)
    [item] = payloads[-1]["response"]["output"]
    assert (item["status"], item["output"]) == ("failed", None)
    assert "unknown" in item["error"]["content"][0]["text"]


def test_a_call_shown_as_a_thought_is_open_while_it_runs():
    payloads = written([started(), finished(), ended("Done.")], encoder(THOUGHTS))
    assert kinds(payloads)[2:8] == [
        "output_item.added",
        "reasoning_summary_part.added",
        "reasoning_summary_text.delta",
        "reasoning_summary_text.done",
        "reasoning_summary_part.done",
        "output_item.done",
    ]
    text = payloads[7]["item"]["summary"][0]["text"]
    assert "read_file: a.txt" in text
    assert strip(text) == ""


def test_hidden_calls_leave_only_messages():
    log = [TextDelta("Wait."), started(), finished(), TextDelta("Done."), ended("Done.")]
    final = written(log, encoder(HIDDEN))[-1]["response"]
    assert [item["type"] for item in final["output"]] == ["message", "message"]
    assert texts(final) == ["Wait.", "Done."]


@pytest.mark.parametrize("audience", AUDIENCES)
def test_the_clients_own_calls_are_function_calls_in_every_dialect(audience: str):
    result = TurnResult(outcome=Outcome.WAITING, pending=[PENDING])
    dialect = Dialect(forms=AUDIENCES[audience])
    payloads = written([TurnEnded(result)], encoder(dialect))
    assert kinds(payloads)[2:] == [
        "output_item.added",
        "function_call_arguments.delta",
        "function_call_arguments.done",
        "output_item.done",
        "completed",
    ]
    [item] = payloads[-1]["response"]["output"]
    assert {**item, "id": "x"} == {
        "id": "x",
        "type": "function_call",
        "status": "completed",
        "call_id": "call_9",
        "name": "lookup",
        "arguments": '{"q": 1}',
    }


def test_what_was_said_before_the_servers_tools_is_not_said_again_beside_the_clients():
    result = TurnResult(text="One moment.", outcome=Outcome.WAITING, pending=[PENDING])
    log = [TextDelta("One moment."), SegmentEnd(), started(), finished(), TurnEnded(result)]
    final = written(log, encoder(MCP))[-1]["response"]
    assert [item["type"] for item in final["output"]] == ["message", "mcp_call", "function_call"]


def test_thinking_is_an_item_before_the_answer_when_it_is_shown():
    log = [ReasoningDelta("Why "), ReasoningDelta("not?"), TextDelta("Because."), ended("Because.")]
    payloads = written(log, encoder(OPEN_MIND))
    assert kinds(payloads)[2:9] == [
        "output_item.added",
        "reasoning_summary_part.added",
        "reasoning_summary_text.delta",
        "reasoning_summary_text.delta",
        "reasoning_summary_text.done",
        "reasoning_summary_part.done",
        "output_item.done",
    ]
    thought, answer = payloads[-1]["response"]["output"]
    assert thought["summary"] == [{"type": "summary_text", "text": "Why not?"}]
    assert answer["type"] == "message"


@pytest.mark.parametrize(
    ("view", "summary", "shown"),
    [
        (ReasoningView.IF_ASKED, "auto", True),
        (ReasoningView.IF_ASKED, None, False),
        (ReasoningView.HIDDEN, "auto", False),
        (ReasoningView.SHOWN, None, True),
    ],
)
def test_thinking_is_shown_to_those_who_ask_unless_it_is_hidden(
    view: ReasoningView, summary: str | None, shown: bool
):
    echo = ResponseEcho(reasoning={"effort": None, "summary": summary})
    head = ResponseHead(id="resp_1", created_at=1, model="m", echo=echo)
    using = encoder(Dialect(reasoning=view), head)
    assert bool(using.encode(ReasoningDelta("hm"))) is shown


def test_a_snapshot_holds_an_open_thought():
    using = encoder(OPEN_MIND)
    written([ReasoningDelta("Hm, ")], using)
    cut = using.snapshot("incomplete")
    assert cut["output"][0]["summary"] == [{"type": "summary_text", "text": "Hm, "}]


@given(logs, dialects)
def test_thoughts_never_reach_the_text(log: list[Event], dialect: Dialect):
    shown = texts(written(log, encoder(dialect))[-1]["response"])
    assert "".join(shown) == "".join(texts(written(log)[-1]["response"]))


@given(logs, dialects)
@settings(max_examples=60)
def test_every_event_is_valid_in_strict_mode(log: list[Event], dialect: Dialect):
    for payload in written(log, encoder(dialect)):
        strict.validate_json(json.dumps(payload), strict=True)


@given(logs, dialects)
def test_numbers_have_no_gap_and_the_end_comes_once(log: list[Event], dialect: Dialect):
    payloads = written(log, encoder(dialect))
    assert [payload["sequence_number"] for payload in payloads] == list(range(len(payloads)))
    assert kinds(payloads)[:2] == ["created", "in_progress"]
    ends = [kind for kind in kinds(payloads) if kind in ("completed", "incomplete", "failed")]
    assert ends == [kinds(payloads)[-1]]


@given(logs, dialects)
def test_every_item_is_opened_and_closed_once_and_the_final_output_is_what_was_done(
    log: list[Event], dialect: Dialect
):
    payloads = written(log, encoder(dialect))
    added = [p for p in payloads if p["type"] == "response.output_item.added"]
    done = [p for p in payloads if p["type"] == "response.output_item.done"]
    final = payloads[-1]["response"]["output"]
    assert [p["output_index"] for p in added] == list(range(len(final)))
    assert [p["item"]["id"] for p in added] == [item["id"] for item in final]
    assert sorted(p["output_index"] for p in done) == list(range(len(final)))
    assert [p["item"] for p in sorted(done, key=lambda p: p["output_index"])] == final
    assert all(item.get("status") != "in_progress" for item in final)


@given(logs, dialects)
def test_every_message_is_the_sum_of_its_deltas(log: list[Event], dialect: Dialect):
    payloads = written(log, encoder(dialect))
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


@given(logs, dialects)
def test_no_answer_is_lost(log: list[Event], dialect: Dialect):
    quiet = [event for event in log if not isinstance(event, TextDelta)]
    assert "".join(texts(written(quiet, encoder(dialect))[-1]["response"])) == result_of(log).text
