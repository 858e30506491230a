"""The bridge's wire: what a body may say, and what an answer looks like."""

from __future__ import annotations

import json
from typing import Any

import pytest

from hermes.backends.chat import ChatRequest, completion, model_list, parse_request
from hermes.backends.claude import Answered
from hermes.backends.workspaces.reports import SyncReport, SyncStatus
from hermes.core.errors import InvalidRequest
from hermes.core.turn import Usage

HELLO = [{"role": "user", "content": "hello"}]


def refusal_of(fields: Any) -> InvalidRequest:
    with pytest.raises(InvalidRequest) as refused:
        parse_request(json.dumps(fields).encode())
    return refused.value


@pytest.mark.parametrize("stream", [{}, {"stream": False}, {"stream": None}])
@pytest.mark.parametrize(
    ("named", "used"), [({}, "sonnet"), ({"model": None}, "sonnet"), ({"model": "opus"}, "opus")]
)
def test_a_model_is_taken_or_the_default_used(
    stream: dict[str, Any], named: dict[str, Any], used: str
) -> None:
    body = json.dumps({"messages": HELLO, "temperature": 0.2} | stream | named).encode()
    assert parse_request(body) == ChatRequest(used, "hello")


@pytest.mark.parametrize("stream", [True, 1, "yes"])
def test_streaming_is_refused_with_advice(stream: Any) -> None:
    refused = refusal_of({"messages": HELLO, "stream": stream})
    assert refused.message == "streaming not supported"
    assert "false" in refused.extra["detail"]


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
        parse_request(body)
    assert refused.value.param == "body"


def test_a_completion_has_openais_shape_and_our_extras_apart() -> None:
    usage = Usage(
        input_tokens=9, output_tokens=2, total_tokens=11, cached_tokens=4, reasoning_tokens=1
    )
    reply = Answered(text="Hi.", usage=usage, cost_usd=0.5, session_id="s-1")
    sync = SyncReport(SyncStatus.UP_TO_DATE)
    assert completion(reply, model="haiku", completion_id="chatcmpl-1", created=5, sync=sync) == {
        "id": "chatcmpl-1",
        "object": "chat.completion",
        "created": 5,
        "model": "haiku",
        "choices": [
            {
                "index": 0,
                "message": {"role": "assistant", "content": "Hi."},
                "finish_reason": "stop",
            }
        ],
        "usage": {
            "prompt_tokens": 9,
            "completion_tokens": 2,
            "total_tokens": 11,
            "prompt_tokens_details": {"cached_tokens": 4},
            "completion_tokens_details": {"reasoning_tokens": 1},
        },
        "hermes": {"cost_usd": 0.5, "session_id": "s-1", "git_sync": "up to date"},
    }


def test_the_models_are_listed_as_openai_lists_them() -> None:
    listed = model_list()
    assert [entry["id"] for entry in listed["data"]] == ["haiku", "sonnet", "opus"]
    assert listed["object"] == "list"
