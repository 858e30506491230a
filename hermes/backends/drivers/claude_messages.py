"""The messages of the model as Claude Code tells them: the provider's stream, then whole blocks.

Where the stream broke off, or the model came to its output limit, the CLI has it go on in another
message: for the reader that is one. Text of the CLI's own is none of it.
"""

from __future__ import annotations

from enum import Enum, auto

from hermes.backends.drivers.foreign_json import Json, inner, items, text
from hermes.backends.drivers.reconciling import Reconciliation
from hermes.backends.saying import Event, MessageEnded, Said, Thought

_ENDS = frozenset({"end_turn", "tool_use", "stop_sequence", "refusal"})
"""Reasons to stop after which nothing of the same message follows."""


class _State(Enum):
    CLOSED = auto()
    STREAMING = auto()
    """Its stream has begun and not come to an end."""
    CUT = auto()
    """Its stream is over, and the message is not complete."""
    TOLD = auto()
    """There was no stream: it is told in whole blocks, and nothing says when it ends."""


class Messages:
    """What is said and thought, each once."""

    def __init__(self) -> None:
        self.last_text = ""
        """What the reader has of the message that ended last."""
        self.stop_reason = ""
        """Why the provider stopped last."""
        self._state = _State.CLOSED
        self._is_answered = False
        """Whether tools have answered to it; then nothing that begins is another attempt at it."""
        self._id = ""
        self._streamed_id: str | None = None
        """Of the last message whose stream came to its end; some CLIs tell it whole only then."""
        self._text = Reconciliation()
        self._thoughts = Reconciliation()

    def hear(self, event: Json) -> list[Event]:
        """An event of the provider's stream."""
        match event.get("type"):
            case "message_start":
                return self._begin(text(event, "message", "id"), _State.STREAMING)
            case "content_block_delta":
                return self._grow(inner(event, "delta"))
            case "message_delta":
                self.stop_reason = text(event, "delta", "stop_reason")
            case "message_stop":
                return self._stop()
            case _:
                pass
        return []

    def hear_whole(self, message: Json) -> list[Event]:
        """A line with blocks that are complete; a message may have several such lines."""
        events: list[Event] = []
        message_id = text(message, "id")
        is_late = self._state is _State.CLOSED and message_id == self._streamed_id
        if not is_late and (self._state is _State.CLOSED or message_id != self._id):
            events += self._begin(message_id, _State.TOLD)
        for block in items(message, "content"):
            if block.get("type") == "text":
                events += _said(self._text.hear_whole(text(block, "text")))
            elif block.get("type") == "thinking":
                events += _thought(self._thoughts.hear_whole(text(block, "thinking")))
        self.last_text = self._text.text if is_late else self.last_text
        return events

    def hear_tool_result(self) -> list[Event]:
        """A tool has answered. Its call may be in a message that is still being told."""
        if self._state is not _State.STREAMING:
            return self.end()
        self._is_answered = True
        return []

    def end(self) -> list[Event]:
        """No more of the message will follow."""
        if self._state is _State.CLOSED:
            return []
        self._state = _State.CLOSED
        self.last_text = self._text.text
        return [MessageEnded(self.last_text)] if self.last_text else []

    def _begin(self, message_id: str, state: _State) -> list[Event]:
        events: list[Event] = []
        match self._state:
            case _State.STREAMING if not self._is_answered:
                self._text.begin_again()
                self._thoughts.begin_again()
            case _State.CUT:
                self._text.go_on()
                self._thoughts.go_on()
            case _State.CLOSED | _State.TOLD | _State.STREAMING:
                events += self.end()
                self._text, self._thoughts = Reconciliation(), Reconciliation()
        self._state, self._id = state, message_id
        self.stop_reason, self._is_answered = "", False
        return events

    def _grow(self, delta: Json) -> list[Event]:
        match delta.get("type"):
            case "text_delta":
                return _said(self._text.hear(text(delta, "text")))
            case "thinking_delta":
                return _thought(self._thoughts.hear(text(delta, "thinking")))
            case _:
                return []

    def _stop(self) -> list[Event]:
        if self._state is not _State.STREAMING:
            return []
        if self.stop_reason in _ENDS:
            self._streamed_id = self._id
            return self.end()
        self._state = _State.CUT
        return []


def _said(piece: str) -> list[Event]:
    return [Said(piece)] if piece else []


def _thought(piece: str) -> list[Event]:
    return [Thought(piece)] if piece else []
