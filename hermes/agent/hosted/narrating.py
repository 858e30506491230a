"""What a CLI does, told as a turn of ours: events for the reader, messages for the session."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any, assert_never

from hermes.backends.hosting.job import Begun, Kept, News, Waiting
from hermes.backends.saying import (
    Concluded,
    MessageEnded,
    PermissionAsked,
    Said,
    Started,
    Thought,
    Told,
    ToolAnswered,
    ToolCalled,
)
from hermes.core import messages
from hermes.core.events import (
    Emit,
    Notice,
    ReasoningDelta,
    SegmentEnd,
    TextDelta,
    ToolFinished,
    ToolStarted,
)
from hermes.core.messages import Message
from hermes.core.usage import NO_USAGE, Usage

Record = Callable[[Message, Usage], None]
"""Keeps a message, and what the turn had used by then."""

QUEUED = "Waiting for a free place to run '{name}': number {place} in line."


class Narrator:
    """One turn. The CLI's own calls are tools that the server ran, never calls for the client."""

    def __init__(
        self,
        name: str,
        emit: Emit,
        record: Record,
        used: Usage = NO_USAGE,
        *,
        can_be_asked: bool = False,
    ) -> None:
        """`used` is what the turn had used before.

        `can_be_asked`: a call that is told may still have to be approved, so that nobody is told
        yet that it is made: see `release`.
        """
        self._name = name
        self._can_be_asked = can_be_asked
        self._held: dict[str, ToolCalled] = {}
        self._emit = emit
        self._record = record
        self._used = used
        self._text = ""
        self._is_message_over = False
        self._is_segment_open = False
        self._open: dict[str, ToolCalled] = {}
        self.messages: list[Message] = []
        self.has_spoken = False
        """Whether the reader has seen any of it."""

    def tell(self, news: News) -> None:
        """Pass on one thing that happened. Questions are somebody else's."""
        match news:
            case Said(text):
                self._say(text)
            case MessageEnded(text):
                self._text, self._is_message_over = text, True
            case Thought(text):
                self._emit(ReasoningDelta(text))
            case ToolCalled():
                self._call(news)
            case ToolAnswered(call_id, name, output, _):
                self._answer(call_id, name, output)
            case Told() | Waiting() | Kept():
                self._notice(news)
            case Started() | Concluded() | Begun() | PermissionAsked():
                pass
            case _:
                assert_never(news)

    def _notice(self, news: Told | Waiting | Kept) -> None:
        match news:
            case Told("unknown_line", _):
                pass  # of no use to a reader
            case Told(code, message):
                self._emit(Notice(code, message))
            case Waiting(place):
                words = QUEUED.format(name=self._name, place=place)
                self._emit(Notice("cli_queued", words))
            case Kept(message):
                self._emit(Notice("cli_workspace", message))

    def keep(self, message: Message) -> None:
        self.messages.append(message)
        self._record(message, self._used)

    @property
    def is_holding(self) -> bool:
        return bool(self._held)

    def release(self, *call_ids: str) -> None:
        """These calls are made now; without any, all that nobody seems to ask about."""
        for call_id in call_ids or tuple(self._held):
            call = self._held.pop(call_id, None)
            if call is not None:
                self._emit(ToolStarted(call.call_id, call.name, call.arguments))

    def hold(self, call: ToolCalled) -> None:
        """A call that is not made before somebody approves it."""
        self._open[call.call_id] = self._held[call.call_id] = call

    def finish(self, text: str, unsaid: str) -> str:
        """The answer as it is kept; what of it nobody has heard is said."""
        if unsaid:
            self._say(unsaid)
        said = text or self._text
        self._text = ""
        if said:
            self.keep(messages.assistant(said))
        return said

    def _say(self, text: str) -> None:
        if self._is_message_over:
            self._end_message()
        self._text += text
        self._is_segment_open = self.has_spoken = True
        self._emit(TextDelta(text))

    def _end_message(self) -> None:
        """Another message follows the one that was said."""
        said, self._text, self._is_message_over = self._text, "", False
        if said:
            self.keep(messages.assistant(said))
        self._end_segment()

    def _end_segment(self) -> None:
        if self._is_segment_open:
            self._is_segment_open = False
            self._emit(SegmentEnd())

    def _call(self, call: ToolCalled) -> None:
        self._end_segment()
        said, self._text, self._is_message_over = self._text, "", False
        self._open[call.call_id] = call
        self.keep(messages.assistant(said or None, [as_message_part(call)]))
        self._held[call.call_id] = call
        if not self._can_be_asked:
            self.release(call.call_id)
        self.has_spoken = True

    def _answer(self, call_id: str, name: str, output: str) -> None:
        call = self._open.pop(call_id, None)
        if call is None:
            return  # of a sub-agent, or told twice
        self.release(call_id)
        self._emit(ToolFinished(call_id, call.name or name, call.arguments, output))
        self.keep(messages.tool(call_id, call.name or name, output))


def as_message_part(call: ToolCalled) -> dict[str, Any]:
    arguments = json.dumps(dict(call.arguments), ensure_ascii=False, default=str)
    return {
        "id": call.call_id,
        "type": "function",
        "function": {"name": call.name, "arguments": arguments},
    }


def called_in(parts: list[dict[str, Any]]) -> list[ToolCalled]:
    """The way back."""
    return [
        ToolCalled(str(part["id"]), part["function"]["name"], _arguments(part["function"]))
        for part in parts
    ]


def _arguments(function: dict[str, Any]) -> dict[str, Any]:
    try:
        found = json.loads(function.get("arguments") or "{}")
    except ValueError:
        return {}
    return found if isinstance(found, dict) else {}
