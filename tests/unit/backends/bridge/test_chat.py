"""The bridge's wire: what a body may say, and what an answer looks like."""

from __future__ import annotations

import json
from typing import Any

import pytest

from hermes.backends.bridge.chat import ChatRequest, Completion, model_list, parse_request
from hermes.backends.bridge.claude import Errand
from hermes.backends.bridge.outcome import Outcome
from hermes.backends.saying import Ending, EndKind, Exit
from hermes.backends.workspaces.reports import SyncReport, SyncStatus
from hermes.core.errors import InvalidRequest
from hermes.core.usage import Usage

HELLO = [{"role": "user", "content": "hello"}]


def refusal_of(fields: Any) -> InvalidRequest:
    with pytest.raises(InvalidRequest) as refused:
        parse_request(json.dumps(fields).encode(), can_stream=False)
    return refused.value


@pytest.mark.parametrize("stream", [{}, {"stream": False}, {"stream": None}])
@pytest.mark.parametrize(
    ("named", "used"), [({}, "sonnet"), ({"model": None}, "sonnet"), ({"model": "opus"}, "opus")]
)
def test_a_model_is_taken_or_the_default_used(
    stream: dict[str, Any], named: dict[str, Any], used: str
) -> None:
    body = json.dumps({"messages": HELLO, "temperature": 0.2} | stream | named).encode()
    wanted = ChatRequest(model=used, prompt="hello")
    assert parse_request(body, can_stream=False) == wanted
    assert parse_request(body, can_stream=True) == wanted


@pytest.mark.parametrize("stream", [True, 1, "yes"])
def test_streaming_is_refused_with_advice(stream: Any) -> None:
    refused = refusal_of({"messages": HELLO, "stream": stream})
    assert refused.message == "streaming not supported"
    assert "false" in refused.extra["detail"]


def test_where_streaming_is_on_a_request_may_want_it() -> None:
    fields = {"messages": HELLO, "stream": True, "stream_options": {"include_usage": True}}
    asked = parse_request(json.dumps(fields).encode(), can_stream=True)
    assert asked == ChatRequest(model="sonnet", prompt="hello", wants_stream=True, wants_usage=True)


@pytest.mark.parametrize("model", ["gpt-4o", "", 7, ["haiku"]])
def test_another_model_is_refused_with_the_list(model: Any) -> None:
    refused = refusal_of({"messages": HELLO, "model": model})
    assert refused.message == "unsupported model"
    assert refused.extra == {"supported": ["haiku", "sonnet", "opus"]}


@pytest.mark.parametrize("messages", [None, [], "hello", {"role": "user"}])
def test_messages_must_be_a_list_with_something_in_it(messages: Any) -> None:
    assert refusal_of({"messages": messages}).param == "messages"


@pytest.mark.parametrize("body", [b"", b"{", b"\xff", b"[]", b'"hi"', b"[" * 100_000])
def test_a_body_that_is_no_json_object_is_refused(body: bytes) -> None:
    with pytest.raises(InvalidRequest) as refused:
        parse_request(body, can_stream=False)
    assert refused.value.param == "body"


def outcome(text: str) -> Outcome:
    usage = Usage(
        input_tokens=9,
        output_tokens=2,
        total_tokens=11,
        cached_tokens=4,
        reasoning_tokens=1,
        cost_usd=0.5,
    )
    return Outcome(
        errand=Errand(model="haiku", prompt="hi", max_budget_usd=1, timeout_seconds=1),
        ending=Ending(kind=EndKind.ANSWERED, text=text, usage=usage, session_id="s-1"),
        exit=Exit(code=0),
        sync=SyncReport(SyncStatus.UP_TO_DATE),
    )


USAGE = {
    "prompt_tokens": 9,
    "completion_tokens": 2,
    "total_tokens": 11,
    "prompt_tokens_details": {"cached_tokens": 4},
    "completion_tokens_details": {"reasoning_tokens": 1},
}
EXTRAS = {"cost_usd": 0.5, "session_id": "s-1", "git_sync": "up to date"}
COMPLETION = Completion(id="chatcmpl-1", model="haiku", created=5)


def test_a_completion_has_openais_shape_and_our_extras_apart() -> None:
    message = {"role": "assistant", "content": "Hi."}
    assert COMPLETION.whole(outcome("Hi.")) == {
        "id": "chatcmpl-1",
        "object": "chat.completion",
        "created": 5,
        "model": "haiku",
        "choices": [{"index": 0, "message": message, "finish_reason": "stop"}],
        "usage": USAGE,
        "hermes": EXTRAS,
    }


def test_a_stream_has_openais_chunks() -> None:
    sent = b"".join(
        [
            COMPLETION.first(),
            COMPLETION.piece("Hi\n."),
            COMPLETION.last(outcome("Hi\n."), wants_usage=True),
        ]
    )
    *events, done, empty = sent.decode().split("\n\n")
    assert (done, empty) == ("data: [DONE]", "")
    chunks = [json.loads(event.removeprefix("data: ")) for event in events]
    opening = {"id": "chatcmpl-1", "object": "chat.completion.chunk", "created": 5}
    assert all(chunk.items() >= (opening | {"model": "haiku"}).items() for chunk in chunks)
    assert [chunk["choices"] for chunk in chunks] == [
        [{"index": 0, "delta": {"role": "assistant", "content": ""}, "finish_reason": None}],
        [{"index": 0, "delta": {"content": "Hi\n."}, "finish_reason": None}],
        [{"index": 0, "delta": {}, "finish_reason": "stop"}],
        [],
    ]
    assert chunks[-2]["hermes"] == EXTRAS
    assert chunks[-1]["usage"] == USAGE


def test_usage_in_a_stream_is_only_for_those_who_ask() -> None:
    assert b"usage" not in COMPLETION.last(outcome("Hi."), wants_usage=False)


def test_the_models_are_listed_as_openai_lists_them() -> None:
    listed = model_list()
    assert [entry["id"] for entry in listed["data"]] == ["haiku", "sonnet", "opus"]
    assert listed["object"] == "list"
