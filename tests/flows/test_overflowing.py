"""Prompts that a provider refuses as too long, and what becomes of them and of their clients."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from hermes.settings.context_options import ContextSettings
from hermes.testing.replies import HttpError, Reply, Text, ToolUse, refusal
from hermes.testing.scripted import ModelRequest
from hermes.testing.sse import parse_events
from tests.flows.conftest import Flow, StartFlow
from tests.flows.test_sessions import SESSIONS, chat, messages_of, new_session

Body = dict[str, Any]
LONG = [
    {"role": role, "content": f"{at}: {'the sea was calm ' * 20}"}
    for at in range(80)
    for role in ("user", "assistant")
]
"""About 14000 tokens."""
STATED = "This model's maximum context length is {} tokens."
CODE = "context_length_exceeded"


def asked_for_summary(request: ModelRequest) -> bool:
    return request.last_user_text.endswith("Write the summary only.")


def strict(window: int, words: str = STATED) -> Callable[[ModelRequest], Reply]:
    def reply(request: ModelRequest) -> Reply:
        if request.input_tokens > window:
            return refusal(400, words.format(window), code=CODE)
        return Text("A summary." if asked_for_summary(request) else "An answer.")

    return reply


async def complete(
    served: Flow, messages: list[Body], words: str = "And?", **more: Any
) -> tuple[int, Body]:
    asked = [*messages, {"role": "user", "content": words}]
    return await served.answer("POST", "/v1/chat/completions", json={"messages": asked, **more})


def summaries(served: Flow) -> int:
    return sum(map(asked_for_summary, served.requests))


async def test_a_refused_prompt_is_tried_again_shorter_and_the_window_is_learnt(
    flow: StartFlow,
) -> None:
    served = await flow(strict(12_000))
    status, body = await complete(served, LONG)
    assert (status, body["choices"][0]["message"]["content"]) == (200, "An answer.")
    asked = [request.input_tokens for request in served.requests]
    assert asked[0] > 12_000 and max(asked[1:]) <= 12_000

    status, _ = await complete(served, [{"role": "user", "content": "Other."}, *LONG[1:]])
    assert status == 200
    later = [request.input_tokens for request in served.requests[len(asked) :]]
    assert max(later) <= 12_000


async def test_a_provider_that_does_not_say_how_long_is_too_long_is_believed_too(
    flow: StartFlow,
) -> None:
    served = await flow(strict(12_000, "Your input exceeds the context window of this model."))
    status, body = await complete(served, LONG)
    assert (status, body["choices"][0]["message"]["content"]) == (200, "An answer.")


async def test_what_is_refused_again_fails_with_words_that_help(flow: StartFlow) -> None:
    served = await flow(strict(500))
    status, body = await complete(served, LONG)
    assert (status, body["error"]["code"]) == (400, "context_length_exceeded")
    assert "cannot be made any shorter" in body["error"]["message"]
    assert "model with a larger window" in body["error"]["message"]
    answered = [request for request in served.requests if not asked_for_summary(request)]
    assert len(answered) <= 2, "once, and once more"


async def test_a_message_that_is_larger_than_a_known_window_is_not_even_sent(
    flow: StartFlow,
) -> None:
    served = await flow(strict(10**9), agent={"context_window": 8_000})
    status, body = await complete(served, [], "the sea was calm " * 5_000)
    assert (status, body["error"]["code"]) == (400, "context_length_exceeded")
    assert "the longest message has" in body["error"]["message"]
    assert served.requests == []


async def test_our_own_guess_of_a_window_refuses_nothing(flow: StartFlow) -> None:
    served = await flow(strict(10**9), model="gpt-4")
    status, _ = await complete(served, [], "the sea was calm " * 5_000)
    assert status == 200
    assert len(served.requests) == 1


async def test_where_no_summary_can_be_made_the_turn_goes_on_without_one(flow: StartFlow) -> None:
    def reply(request: ModelRequest) -> Reply:
        if asked_for_summary(request):
            return HttpError(400, "no")
        return Text("An answer.")

    served = await flow(reply, agent={"context_window": 16_000})
    status, body = await complete(served, LONG)
    assert (status, body["choices"][0]["message"]["content"]) == (200, "An answer.")
    told = str(served.requests[-1].messages)
    assert "had to be left out" in told
    assert "0: the sea was calm" in told, "the words it began with stay"
    assert "79: the sea was calm" in told


async def test_another_model_may_write_the_summaries(flow: StartFlow) -> None:
    served = await flow(
        strict(16_000),
        agent={"context_window": 16_000},
        models={"small": {"model": "small-model"}},
        context=ContextSettings(summary_model="small"),
    )
    status, _ = await complete(served, LONG)
    assert status == 200
    assert {request.model for request in served.requests if asked_for_summary(request)} == {
        "small-model"
    }
    assert served.requests[-1].model == "fake"


async def test_the_summary_is_counted_and_never_heard(flow: StartFlow) -> None:
    served = await flow(strict(16_000), agent={"context_window": 16_000})
    asked = {
        "messages": [*LONG, {"role": "user", "content": "And?"}],
        "stream": True,
        "stream_options": {"include_usage": True},
    }
    stream = await served.text("/v1/chat/completions", asked)
    assert summaries(served) >= 1
    assert "An" in stream and "summary" not in stream
    *_, usage, _ = parse_events(stream)
    used = sum(request.input_tokens for request in served.requests)
    assert f'"prompt_tokens": {used}' in usage.data or f'"prompt_tokens":{used}' in usage.data


async def test_a_summary_takes_nothing_from_what_the_answer_may_have(flow: StartFlow) -> None:
    def reply(request: ModelRequest) -> Reply:
        if asked_for_summary(request):
            return Text("A summary of many words. " * 20)
        if request.tool_results:
            return Text("An answer.")
        return ToolUse("terminal", {"command": "echo seen"})

    served = await flow(reply, agent={"context_window": 16_000})
    status, body = await complete(served, LONG, max_tokens=50)
    assert (status, body["choices"][0]["message"]["content"]) == (200, "An answer.")
    assert body["choices"][0]["finish_reason"] == "stop"
    assert body["usage"]["completion_tokens"] > 50


async def test_the_client_of_a_session_is_told_and_its_transcript_stays_whole(
    flow: StartFlow,
) -> None:
    served = await flow(strict(16_000), agent={"context_window": 16_000})
    session_id = await _imported(served)
    stream = await served.text(f"{SESSIONS}/{session_id}/chat/stream", {"message": "And?"})
    assert "context_compressed" in stream
    kept = await messages_of(served, session_id)
    assert [content for _, content in kept] == [
        *(message["content"] for message in LONG),
        "And?",
        "An answer.",
    ]
    assert (await chat(served, session_id, "More?"))[0] == 200


async def _imported(served: Flow) -> str:
    """The id of a session in which much was said already."""
    empty = await new_session(served)
    _, exported = await served.answer("GET", f"{SESSIONS}/{empty}/export")
    said = [{**message, "timestamp": 1767225601.0} for message in LONG]
    document = {**exported, "messages": said}
    status, made = await served.answer("POST", f"{SESSIONS}/import", json=document)
    assert status == 201, made
    return str(made["session"]["id"])


async def test_a_response_says_itself_when_it_wants_to_be_made_shorter(flow: StartFlow) -> None:
    served = await flow(strict(10**9))
    wish = [{"type": "compaction", "compact_threshold": 6_000}]
    items = [*LONG, {"role": "user", "content": "And?"}]
    status, body = await served.answer(
        "POST", "/v1/responses", json={"input": items, "context_management": wish}
    )
    assert status == 200, body
    assert summaries(served) >= 1
    assert served.requests[-1].input_tokens < 12_000


@pytest.mark.parametrize("api_mode", ["codex_responses", "anthropic_messages"])
async def test_every_dialect_takes_what_was_made_shorter(flow: StartFlow, api_mode: str) -> None:
    served = await flow(
        strict(16_000),
        agent={"context_window": 16_000, "api_mode": api_mode},
    )
    status, body = await complete(served, LONG)
    assert (status, body["choices"][0]["message"]["content"]) == (200, "An answer.")
    assert summaries(served) >= 1


async def test_a_fallback_with_a_larger_window_takes_what_the_first_model_cannot(
    flow: StartFlow,
) -> None:
    def reply(request: ModelRequest) -> Reply:
        return strict(10**9 if request.model == "wide" else 500)(request)

    other = await flow(reply)
    wide = {"provider": "custom", "base_url": other.provider.base_url, "model": "wide"}
    served = await flow(reply, agent={"fallback_model": wide})
    status, body = await complete(served, LONG)
    assert (status, body["choices"][0]["message"]["content"]) == (200, "An answer.")
    assert {request.model for request in other.requests} == {"wide"}
