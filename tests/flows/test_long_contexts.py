"""Conversations that are longer than their model's window, on every route, over real sockets.

The provider counts strictly and refuses what is too long; its model knows nothing but what it is
told in the request.
"""

from __future__ import annotations

import re
from typing import Any

from hermes.testing.replies import Reply, Text, refusal
from hermes.testing.scripted import ModelRequest
from tests.flows.conftest import Flow, StartFlow

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
            return Text(f"A log of a journey. {self._knows(request)}")
        if "What is the name" in request.last_user_text:
            return Text(self._knows(request))
        return Text(f"Noted: {_PADDING}")

    def _knows(self, request: ModelRequest) -> str:
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


async def _complete(served: Flow, messages: list[dict[str, Any]], words: str) -> str:
    messages.append({"role": "user", "content": words})
    status, body = await served.answer("POST", "/v1/chat/completions", json={"messages": messages})
    assert status == 200, body
    answer: str = body["choices"][0]["message"]["content"]
    messages.append({"role": "assistant", "content": answer})
    return answer
