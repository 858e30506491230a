"""Which of a turn's messages are new: agents hand back a whole transcript, one turn, or nothing."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from hermes.core.messages import Message, assistant, tool_calls_of
from hermes.core.turn import TurnResult


def prior_count(history: Sequence[Message], opening: Sequence[Message], result: TurnResult) -> int:
    """How many leading messages of `result.messages` belong to earlier turns.

    `opening` is what the turn began with: the user's message, the results of the client's tools.
    """
    messages = result.messages
    if _starts_with(messages, [*history, *opening]):
        return len(history)
    if messages and _starts_with(messages, opening):
        return 0
    return len(history) if _starts_with(messages, history) else 0


def turn_messages(
    history: Sequence[Message], opening: Sequence[Message], result: TurnResult
) -> list[Message]:
    """This turn only, beginning with its opening."""
    turn = list(result.messages[prior_count(history, opening, result) :])
    if not turn and result.text:
        turn = [assistant(result.text)]
    if turn and _starts_with(turn, opening):
        return turn
    return [*opening, *turn]


def stored_history(
    history: Sequence[Message], opening: Sequence[Message], result: TurnResult
) -> list[Message]:
    """What the next turn continues from. A transcript that is already whole is kept as it is."""
    prior = prior_count(history, opening, result)
    earlier = result.messages[:prior] if prior else history
    return [*earlier, *turn_messages(history, opening, result)]


def _starts_with(messages: Sequence[Message], beginning: Sequence[Message]) -> bool:
    return len(messages) >= len(beginning) and all(
        _same(message, expected) for message, expected in zip(messages, beginning, strict=False)
    )


def _same(message: Message, other: Message) -> bool:
    """Equal in what was said; agents add keys of their own to the messages they were given."""
    return _said(message) == _said(other)


def _said(message: Message) -> tuple[Any, ...]:
    calls = [call.get("id") for call in tool_calls_of(message)]
    return message.get("role"), message.get("content"), message.get("tool_call_id"), calls
