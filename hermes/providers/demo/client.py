"""The demo model: a script behind the shape of a model client, used until a provider is configured.

It asks for real tools and speaks about their real results, and holds no state of its own.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from typing import Any

from hermes.core.errors import ProviderError
from hermes.providers.demo import answers
from hermes.providers.demo.actions import arguments_for
from hermes.providers.demo.chunks import chunks, completion
from hermes.providers.demo.conversation import Conversation, read_conversation
from hermes.providers.demo.moves import Move, Say, Use
from hermes.providers.demo.plan import plan
from hermes.providers.demo.reports import quote, report
from hermes.providers.demo.shaping import read_form, shaped


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
        """A completion, or an iterator of chunks. Raises ProviderError for an image."""
        messages = api_kwargs.get("messages") or []
        conversation = read_conversation(
            messages, api_kwargs.get("tools") or [], api_kwargs.get("tool_choice") or "auto"
        )
        if conversation.has_image:
            raise ProviderError(answers.NO_IMAGES, code="images_unsupported")
        move = shaped(decide(conversation), read_form(api_kwargs))
        if not stream:
            return completion(move, messages)
        return _paced(chunks(move, messages), self._pace)


def decide(conversation: Conversation) -> Move:
    """The next move: another tool of the plan, or words about what the tools have reported."""
    done = len(conversation.results)
    moves = plan(conversation)
    uses = [move for move in moves if isinstance(move, Use)]
    if conversation.insists_on and not done:
        return _insisted_use(conversation, uses)
    if not uses:
        return _about_the_unplanned(conversation) if done else moves[0]
    spoken = report(uses, [result.text for result in conversation.results])
    if done >= len(uses):
        return Say(spoken)
    if uses[done].tool not in conversation.tools:
        missing = answers.missing_tool(uses[done].tool, conversation.tools)
        return Say(f"{spoken}\n\n{missing}".strip())
    return uses[done]


def _insisted_use(conversation: Conversation, planned: Sequence[Use]) -> Use:
    """A tool has to be used: the one that was asked for in words, if that is allowed."""
    allowed = conversation.insists_on
    fitting = [use for use in planned if use.tool in allowed]
    return fitting[0] if fitting else Use(allowed[0], arguments_for(conversation.tools[allowed[0]]))


def _about_the_unplanned(conversation: Conversation) -> Say:
    """Tools were used because the caller insisted, not because the request was understood."""
    return Say("\n\n".join(quote(result.tool, result.text) for result in conversation.results))


def _paced(stream: Iterator[dict[str, Any]], pace: float) -> Iterator[dict[str, Any]]:
    for chunk in stream:
        yield chunk
        if pace > 0:
            time.sleep(pace)
