"""The demo model: a script behind the shape of a model client, used until a provider is configured.

It asks for real tools and speaks about their real results, and holds no state of its own.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from typing import Any

from hermes.providers.demo import answers
from hermes.providers.demo.chunks import chunks, completion
from hermes.providers.demo.conversation import Conversation, read_conversation
from hermes.providers.demo.moves import Move, Say, Use
from hermes.providers.demo.plan import plan
from hermes.providers.demo.reports import report


class DemoClient:
    """Has `chat.completions.create(...)` as the SDK's client has. May be shared between threads."""

    def __init__(self, pace: float = 0.012) -> None:
        """`pace` is the pause between two streamed pieces, in seconds, in the reader's thread."""
        self.chat = _Chat(_Completions(pace))

    def close(self) -> None:
        """There is nothing to close."""


class _Chat:
    def __init__(self, completions: _Completions) -> None:
        self.completions = completions


class _Completions:
    def __init__(self, pace: float) -> None:
        self._pace = pace

    def create(self, *, stream: bool = False, **api_kwargs: Any) -> Any:
        """A completion, or an iterator of chunks; of the arguments, messages and tools count."""
        messages = api_kwargs.get("messages") or []
        move = decide(read_conversation(messages, api_kwargs.get("tools") or []))
        if not stream:
            return completion(move, messages)
        return _paced(chunks(move, messages), self._pace)


def decide(conversation: Conversation) -> Move:
    """The next move: another tool of the plan, or words about what the tools have reported."""
    moves = plan(conversation)
    uses = [move for move in moves if isinstance(move, Use)]
    if not uses:
        return _with_image_note(moves[0], conversation)
    done = len(conversation.results)
    spoken = report(uses, conversation.results)
    if done >= len(uses):
        return _with_image_note(Say(spoken), conversation)
    if uses[done].tool not in conversation.tools:
        missing = answers.missing_tool(uses[done].tool, conversation.tools)
        return Say(f"{spoken}\n\n{missing}".strip())
    return uses[done]


def _with_image_note(move: Move, conversation: Conversation) -> Move:
    if not conversation.has_image or not isinstance(move, Say):
        return move
    if not conversation.request:
        return Say(answers.NO_IMAGES)
    return Say(f"{answers.NO_IMAGES}\n\n{move.text}")


def _paced(stream: Iterator[dict[str, Any]], pace: float) -> Iterator[dict[str, Any]]:
    for chunk in stream:
        yield chunk
        if pace > 0:
            time.sleep(pace)
