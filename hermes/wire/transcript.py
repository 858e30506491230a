"""Which of a turn's messages are new: agents hand back a whole transcript, one turn, or nothing."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from hermes.core.messages import Content, Message, assistant, tool_calls_of, user
from hermes.core.turn import TurnResult


def prior_count(history: Sequence[Message], user_message: Content, result: TurnResult) -> int:
    """How many leading messages of `result.messages` belong to earlier turns."""
    messages = result.messages
    if _starts_with(messages, [*history, user(user_message)]):
        return len(history)
    if messages and _same(messages[0], user(user_message)):
        return 0
    return len(history) if _starts_with(messages, history) else 0


def turn_messages(
    history: Sequence[Message], user_message: Content, result: TurnResult
) -> list[Message]:
    """This turn only, beginning with the user's message."""
    question = user(user_message)
    turn = list(result.messages[prior_count(history, user_message, result) :])
    if not turn and result.text:
        turn = [assistant(result.text)]
    if turn and _same(turn[0], question):
        return turn
    return [question, *turn]


def stored_history(
    history: Sequence[Message], user_message: Content, result: TurnResult
) -> list[Message]:
    """What the next turn continues from. A transcript that is already whole is kept as it is."""
    prior = prior_count(history, user_message, result)
    earlier = result.messages[:prior] if prior else history
    return [*earlier, *turn_messages(history, user_message, result)]


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
