"""Conversations that are longer than their model's window, on every route, over real sockets.

The provider counts strictly and refuses what is too long; its model knows nothing but what it is
told in the request.
"""

from __future__ import annotations

import re
from typing import Any

import pytest

from hermes.testing.replies import HttpError, Reasoning, Reply, Text, ToolUse, refusal
from hermes.testing.scripted import ModelRequest
from tests.flows.conftest import Flow, StartFlow
from tests.flows.test_sessions import SESSIONS, new_session

WINDOW = 32_000
TURNS = 400
FACT = "The name of the ship is Amethyst Heron."
AGENT = {"context_window": WINDOW}
_PADDING = "and the sea was calm on that day " * 6


class StrictModel:
    """Refuses what does not fit. Summaries keep the fact if it is told; answers repeat it."""

    def __init__(self, window: int = WINDOW) -> None:
        self.window = window
        self.requests: list[ModelRequest] = []
        self.refused = 0
        self.summaries = 0

    def reply(self, request: ModelRequest) -> Reply:
        if request.input_tokens > self.window:
            self.refused += 1
            return refusal(
                400,
                f"This model's maximum context length is {self.window} tokens.",
                code="context_length_exceeded",
            )
        self.requests.append(request)
        if request.last_user_text.endswith("Write the summary only."):
            self.summaries += 1
            return Text(f"A log of a journey. {self.knows(request)}")
        if "What is the name" in request.last_user_text:
            return Text(self.knows(request))
        return Text(f"Noted: {_PADDING}")

    def knows(self, request: ModelRequest) -> str:
        said = re.search(r"The name of the ship is \w+ \w+\.", str(request.body))
        return said[0] if said else "I do not know."


def said(turn: int) -> str:
    return FACT if turn == 0 else f"Entry {turn}: {_PADDING}"


QUESTION = "What is the name of the ship?"


async def test_400_turns_of_a_chat_that_the_client_sends_whole_stay_within_the_window(
    flow: StartFlow,
) -> None:
    model = StrictModel()
    served = await flow(model, agent=AGENT)
    messages: list[dict[str, Any]] = []
    for turn in range(TURNS):
        answer = await _complete(served, messages, said(turn))
    answer = await _complete(served, messages, QUESTION)

    assert answer == FACT
    assert model.refused == 0
    assert 2 <= model.summaries <= 20
    assert len(model.requests) == TURNS + 1 + model.summaries


async def test_400_turns_of_a_session_stay_within_the_window(flow: StartFlow) -> None:
    model = StrictModel()
    served = await flow(model, agent=AGENT)
    session_id = await new_session(served)
    for turn in range(TURNS):
        await _chat(served, session_id, said(turn))
    answer = await _chat(served, session_id, QUESTION)

    assert answer == FACT
    assert model.refused == 0
    assert 2 <= model.summaries <= 20
    _, session = await served.answer("GET", f"{SESSIONS}/{session_id}")
    assert session["session"]["message_count"] == 2 * (TURNS + 1)


async def test_400_turns_of_a_chain_of_responses_stay_within_the_window(flow: StartFlow) -> None:
    model = StrictModel()
    served = await flow(model, agent=AGENT)
    previous: str | None = None
    for turn in range(TURNS):
        previous, _ = await _respond(served, said(turn), previous)
    _, answer = await _respond(served, QUESTION, previous)

    assert answer == FACT
    assert model.refused == 0
    assert 2 <= model.summaries <= 20


@pytest.mark.parametrize(
    ("api_mode", "results"),
    [("chat_completions", 100), ("codex_responses", 30), ("anthropic_messages", 30)],
)
async def test_a_turn_with_many_large_tool_results_stays_within_the_window(
    flow: StartFlow, api_mode: str, results: int
) -> None:
    model = StrictModel()

    def work(request: ModelRequest) -> Reply:
        answer = model.reply(request)
        if isinstance(answer, HttpError) or "summary only" in request.last_user_text:
            return answer
        assert_calls_have_their_results(request)
        done = len(model.requests) - model.summaries
        if done > results:
            return Text(f"{task in str(request.body)} {model.knows(request)}")
        use = ToolUse("terminal", {"command": f"echo {done}; seq 1 2000"}, id=f"call_{done}")
        return [Reasoning(f"Step {done}."), use]

    served = await flow(work, agent={**AGENT, "max_iterations": 200, "api_mode": api_mode})
    task = f"{FACT} Look at all of it."
    status, body = await served.answer(
        "POST",
        "/v1/chat/completions",
        json={
            "messages": [{"role": "user", "content": task}],
            "reasoning_effort": "low",
            "max_tokens": 20_000,
        },
    )

    assert status == 200, body
    assert body["choices"][0]["message"]["content"] == f"True {FACT}"
    assert model.refused == 0
    assert len(model.requests) - model.summaries == results + 1
    assert model.summaries <= results // 5


def assert_calls_have_their_results(request: ModelRequest) -> None:
    """Every result has its call in the same prompt, and every call its result."""
    said = str(request.body)
    made = set(re.findall(r"'(?:id|call_id)': '(call_\d+)'", said))
    answered = set(request.tool_results)
    assert answered == made, made ^ answered


async def _chat(served: Flow, session_id: str, words: str) -> str:
    status, body = await served.answer(
        "POST", f"{SESSIONS}/{session_id}/chat", json={"message": words}
    )
    assert status == 200, body
    return str(body["message"]["content"])


async def _respond(served: Flow, words: str, previous: str | None) -> tuple[str, str]:
    asked = {"input": words, "previous_response_id": previous}
    status, body = await served.answer("POST", "/v1/responses", json=asked)
    assert status == 200, body
    return body["id"], body["output"][-1]["content"][0]["text"]


async def _complete(served: Flow, messages: list[dict[str, Any]], words: str) -> str:
    messages.append({"role": "user", "content": words})
    status, body = await served.answer("POST", "/v1/chat/completions", json={"messages": messages})
    assert status == 200, body
    answer: str = body["choices"][0]["message"]["content"]
    messages.append({"role": "assistant", "content": answer})
    return answer
