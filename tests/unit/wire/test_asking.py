"""A turn that has to ask ends as a normal answer that shows what will run, in every dialect."""

from __future__ import annotations

from typing import Any

import pytest
from openai.types.chat import ChatCompletion
from openai.types.responses import ResponseStreamEvent
from pydantic import TypeAdapter

from hermes.core.approvals import ApprovalRequest, Decision
from hermes.core.events import (
    ApprovalDecided,
    ApprovalRequested,
    Event,
    MessageKept,
    RunQueued,
    RunStarted,
    SegmentEnd,
    Steered,
    TextDelta,
    TurnEnded,
)
from hermes.core.turn import Outcome, TurnResult
from hermes.wire.approval_text import code_in, question
from hermes.wire.chat import ChatHead, completion
from hermes.wire.responses import ResponseHead, ended_response
from hermes.wire.runs import approval_object
from hermes.wire.sessions import session_chat_completion
from hermes.wire.tool_forms import ResponsesForm
from hermes.wire.turn_output import output_items
from tests.unit.wire.sse_reader import Received, read
from tests.unit.wire.test_same_bytes import chat, label, responses, session

REQUEST = ApprovalRequest(
    id="appr_1",
    code="K7Q2M",
    call_id="c1",
    tool="terminal",
    arguments={"command": "rm -r build"},
    shown="rm -r build",
    reason="it deletes files",
    expires_at=1_700_000_900.0,
)
CALL = {"id": "c1", "type": "function", "function": {"name": "terminal", "arguments": "{}"}}
SAID: dict[str, Any] = {"role": "assistant", "content": "I will.", "tool_calls": [CALL]}
ASKS = TurnResult(
    text="I will.",
    outcome=Outcome.ASKING,
    approvals=[REQUEST],
    messages=[{"role": "user", "content": "Clean up"}, SAID],
)
SILENT = TurnResult(outcome=Outcome.ASKING, approvals=[REQUEST])
TURN: list[Event] = [
    TextDelta("I will."),
    SegmentEnd(),
    MessageKept(SAID),
    ApprovalRequested(REQUEST),
    TurnEnded(ASKS),
]
WHOLE = f"I will.\n\n{question([REQUEST])}"
strict = TypeAdapter[Any](ResponseStreamEvent)


def last(received: list[Received], name: str) -> Any:
    [found] = [one.json for one in received if one.event == name]
    return found


def chat_text(log: list[Event]) -> str:
    chunks = [one.json for one in read(b"".join(chat(log))) if one.data != "[DONE]"]
    assert [chunk["choices"][0]["finish_reason"] for chunk in chunks if chunk["choices"]][
        -1
    ] == "stop"
    return "".join(
        chunk["choices"][0]["delta"].get("content", "") for chunk in chunks if chunk["choices"]
    )


def test_a_chat_stream_ends_with_the_question() -> None:
    assert chat_text(TURN) == WHOLE
    assert chat_text([ApprovalRequested(REQUEST), TurnEnded(SILENT)]) == question([REQUEST])


def test_a_completion_holds_the_question() -> None:
    answer = completion(ChatHead("chatcmpl-1", "m", 1), ASKS)
    ChatCompletion.model_validate(answer)
    assert answer["choices"][0]["message"]["content"] == WHOLE
    assert answer["choices"][0]["finish_reason"] == "stop"
    assert "hermes" not in answer


def test_a_responses_stream_ends_with_the_question_as_a_message() -> None:
    payloads = [one.json for one in read(b"".join(responses(TURN))) if one.data != "[DONE]"]
    for payload in payloads:
        strict.validate_python(payload)
    final = payloads[-1]
    assert final["type"] == "response.completed"
    assert [item["type"] for item in final["response"]["output"]] == ["message", "message"]
    assert _output_text(final["response"]["output"]) == WHOLE


@pytest.mark.parametrize("form", ResponsesForm)
def test_a_response_shows_the_question_and_no_call_that_was_not_made(form: ResponsesForm) -> None:
    output = output_items(ASKS, response_id="resp_1", prior=0, form=form, preview=label)
    assert [item["type"] for item in output] == ["message", "message"]
    assert _output_text(output) == WHOLE
    head = ResponseHead(id="resp_1", created_at=1, model="m")
    assert ended_response(head, ASKS, output=output, ended_at=2)["status"] == "completed"


def test_calls_that_were_made_before_the_question_are_shown() -> None:
    earlier = {"id": "c0", "type": "function", "function": {"name": "list", "arguments": "{}"}}
    turn = [
        {"role": "assistant", "content": "Look.", "tool_calls": [earlier]},
        {"role": "tool", "tool_call_id": "c0", "content": "build"},
        SAID,
    ]
    result = TurnResult(text="I will.", outcome=Outcome.ASKING, approvals=[REQUEST], messages=turn)
    output = output_items(result, response_id="resp_1", prior=0, preview=label)
    assert [item["type"] for item in output] == [
        "message",
        "function_call",
        "function_call_output",
        "message",
        "message",
    ]
    assert code_in(output[-1]["content"][0]["text"]) == "K7Q2M"


def test_a_session_stream_says_that_the_run_waits() -> None:
    received = read(b"".join(session(TURN)))
    assert [one.event for one in received] == [
        "run.started",
        "message.started",
        "assistant.delta",
        "approval.requested",
        "assistant.delta",
        "assistant.completed",
        "run.waiting_for_approval",
        "done",
    ]
    assert last(received, "approval.requested")["approval"] == approval_object(REQUEST)
    assert last(received, "assistant.completed")["content"] == WHOLE
    waiting = last(received, "run.waiting_for_approval")
    assert waiting["approvals"] == [approval_object(REQUEST)]
    assert waiting["messages"] == [SAID]
    assert last(received, "done")["state"] == "waiting_for_approval"


def test_a_session_chat_is_answered_with_the_question() -> None:
    assert session_chat_completion("s1", ASKS)["message"]["content"] == WHOLE


def test_a_session_stream_tells_what_happens_around_a_turn() -> None:
    log: list[Event] = [
        RunQueued(2),
        RunStarted(1),
        ApprovalDecided("appr_1", "c1", Decision.DENY, "timeout"),
        Steered("steer_1", "Hurry."),
        TurnEnded(TurnResult(text="Done.")),
    ]
    received = read(b"".join(session(log)))
    assert last(received, "run.queued") == {"run_id": "run_1", "session_id": "s1", "place": 2}
    decided = last(received, "approval.decided")
    assert (decided["decision"], decided["by"]) == ("deny", "timeout")
    assert last(received, "steer.delivered")["text"] == "Hurry."


def test_a_queued_turn_is_a_comment_where_openai_has_no_word_for_it() -> None:
    assert chat([RunQueued(2)])[-1] == b": queued 2\n\n"
    assert responses([RunQueued(0)])[-1] == b": queued 0\n\n"


def test_the_messages_of_a_session_stream_are_those_its_log_kept() -> None:
    log: list[Event] = [
        MessageKept({"role": "user", "content": "Hi"}),
        MessageKept({"role": "assistant", "content": "Hello."}),
        TurnEnded(TurnResult(text="Hello.")),
    ]
    completed = last(read(b"".join(session(log))), "run.completed")
    assert completed["messages"] == [{"role": "assistant", "content": "Hello."}]


def _output_text(output: list[dict[str, Any]]) -> str:
    return "".join(item["content"][0]["text"] for item in output)
