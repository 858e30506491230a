"""A turn's events as a Responses stream: typed events, numbered without a gap, items closed once.

The order is what strict readers check: created, in_progress, then per item added, its parts and
deltas, done; and at last one terminal event whose output is exactly the items that were done.
"""

from __future__ import annotations

import time
from json.encoder import encode_basestring_ascii
from typing import Any, assert_never

from hermes.core.events import (
    ApprovalDecided,
    ApprovalRequested,
    CommandRan,
    Delegated,
    Event,
    FilesChanged,
    Idle,
    MessageKept,
    Notice,
    ReasoningDelta,
    RunQueued,
    RunStarted,
    SegmentEnd,
    SteerAccepted,
    Steered,
    TextDelta,
    ToolFinished,
    ToolProgress,
    ToolStarted,
    TurnEnded,
    TurnPaused,
    is_internal,
)
from hermes.core.turn import Outcome, TurnResult
from hermes.wire.answer import StreamedAnswer
from hermes.wire.approval_text import question_after
from hermes.wire.response_calls import client_calls, server_calls
from hermes.wire.response_items import Item, message_item, text_part
from hermes.wire.response_output import ResponseOutput, Thought
from hermes.wire.responses import ResponseHead, ended_response, response_object
from hermes.wire.sse import DONE, KEEPALIVE, queued
from hermes.wire.tool_forms import CONTRACT_DIALECT, Dialect, Preview

_TEXT_DELTA = "response.output_text.delta"


class ResponsesEncoder:
    """Encodes one stream: `opening` first, then each event in order.

    The same head and the same events give the same bytes, in every process.
    """

    def __init__(
        self,
        head: ResponseHead,
        *,
        preview: Preview,
        dialect: Dialect = CONTRACT_DIALECT,
    ) -> None:
        self._head = head
        self._shows_reasoning = dialect.shows_reasoning(asked=head.echo.asks_for_reasoning)
        self._output = ResponseOutput(head.id)
        self._calls = server_calls(dialect.forms.responses, self._output, preview)
        self._message: _OpenMessage | None = None
        self._thought: Thought | None = None
        """Open only while no message is: the model thinks or speaks."""
        self._answer = StreamedAnswer()
        self.final: dict[str, Any] | None = None
        """The terminal response object, once the turn has ended."""

    @property
    def response_id(self) -> str:
        return self._head.id

    def opening(self) -> list[bytes]:
        """The first two events, to be written one by one before anything has happened."""
        response = self.snapshot("in_progress")
        return [
            self._output.event("response.created", response=response),
            self._output.event("response.in_progress", response=response),
        ]

    def encode(self, event: Event, at: float | None = None) -> bytes:
        """Any number of whole events; empty when this one leaves no trace in this dialect.

        `at` is when it happened, by its log; without a log that is now.
        """
        if isinstance(event, TextDelta):
            return self._text(event.text)
        match event:
            case SegmentEnd():
                self._answer.end_segment()
                return self._close_open("completed")
            case ToolStarted():
                return self._tool_started(event)
            case ToolFinished():
                return self._tool_finished(event)
            case ReasoningDelta(text):
                return self._reasoning(text)
            case TurnEnded() | TurnPaused():
                return self._end(event, time.time() if at is None else at)
            case Idle():
                return KEEPALIVE
            case RunQueued(place):
                return queued(place)
            case (
                ToolProgress()
                | Notice()
                | FilesChanged()
                | CommandRan()
                | Delegated()
                | MessageKept()
                | ApprovalRequested()
                | ApprovalDecided()
                | SteerAccepted()
                | Steered()
                | RunStarted()
            ):
                return b""
            case _:
                assert_never(event)

    def snapshot(self, status: str) -> dict[str, Any]:
        """The response as it stands. Unless it goes on, what is open counts as incomplete."""
        open_status = "in_progress" if status == "in_progress" else "incomplete"
        if self._thought is not None:
            self._thought.settle()
        output = [
            {**item, "status": open_status} if item.get("status") == "in_progress" else item
            for item in self._output.items
        ]
        if self._message is not None:
            output[self._message.index] = self._message.item(open_status)
        return response_object(self._head, status=status, output=output)

    def _text(self, text: str) -> bytes:
        opened = b""
        if self._message is None:
            opened = self._open_message()
        assert self._message is not None
        self._answer.add(text)
        return opened + self._message.delta(text, self._output.next_number())

    def _open_message(self) -> bytes:
        thought = self._close_thought()
        item_id, index = self._output.new_id("msg_"), len(self._output.items)
        self._message = _OpenMessage(item_id, index)
        opened: Item = {**message_item(item_id, "", "in_progress"), "content": []}
        added = self._output.add(opened)
        return (
            thought
            + added
            + self._output.event(
                "response.content_part.added",
                item_id=item_id,
                output_index=index,
                content_index=0,
                part=text_part(""),
            )
        )

    def _close_message(self, status: str) -> bytes:
        message = self._message
        if message is None:
            return b""
        self._message = None
        place = {"item_id": message.id, "output_index": message.index, "content_index": 0}
        text, event = message.text, self._output.event
        return (
            event("response.output_text.done", **place, text=text, logprobs=[])
            + event("response.content_part.done", **place, part=text_part(text))
            + self._output.done(message.index, message.item(status))
        )

    def _reasoning(self, text: str) -> bytes:
        if not self._shows_reasoning or not text:
            return b""
        opened = b""
        if self._thought is None:
            closed = self._close_message("completed")
            self._thought = Thought(self._output)
            opened = closed + self._thought.open()
        return opened + self._thought.delta(text)

    def _close_thought(self) -> bytes:
        thought, self._thought = self._thought, None
        return b"" if thought is None else thought.close()

    def _close_open(self, status: str) -> bytes:
        return self._close_thought() + self._close_message(status)

    def _tool_started(self, event: ToolStarted) -> bytes:
        if is_internal(event.name):
            self._answer.end_segment()
            return b""
        self._answer.tool_ran()
        return self._close_open("completed") + self._calls.started(event)

    def _tool_finished(self, event: ToolFinished) -> bytes:
        if event.call_id not in self._calls:
            # An internal tool, whose start was not shown either.
            self._answer.end_segment()
            return b""
        self._answer.tool_ran()
        return self._close_open("completed") + self._calls.finished(event)

    def _end(self, event: TurnEnded | TurnPaused, ended_at: float) -> bytes:
        result = event.result
        if self.final is not None:
            return b""
        status = "completed" if result.is_complete else "incomplete"
        written = [self._missing_text(result)]
        if result.outcome is Outcome.COMPLETED and self._lacks_answer():
            written.append(self._open_message())
        written.append(self._close_open(status))
        written.append(self._calls.close())
        written.append(self._question(result))
        written.append(client_calls(self._output, result.pending))
        self.final = ended_response(
            self._head, result, output=self._output.items, ended_at=int(ended_at)
        )
        kind = f"response.{self.final['status']}"
        if self._head.echo.background and event == TurnEnded(result, "cancelled"):
            self.final["status"] = "cancelled"  # there is no event of that name
        written.append(self._output.event(kind, response=self.final))
        return b"".join([*written, DONE])

    def _missing_text(self, result: TurnResult) -> bytes:
        missing = self._answer.missing_from_end(result)
        if not missing:
            return b""
        # A text that continues nothing is a message of its own.
        closed = b"" if self._answer.is_mid_segment else self._close_message("completed")
        return closed + self._text(missing)

    def _question(self, result: TurnResult) -> bytes:
        """What has to be decided, as a message of its own."""
        asked = question_after(result, has_text=self._answer.has_text)
        return self._text(asked) + self._close_message("completed") if asked else b""

    def _lacks_answer(self) -> bool:
        items = self._output.items
        return not items or items[-1]["type"] != "message"


class _OpenMessage:
    """The message being streamed; its delta event is built once, only number and text change."""

    def __init__(self, item_id: str, index: int) -> None:
        self.id = item_id
        self.index = index
        self._texts: list[str] = []
        self._place = f', "item_id": "{item_id}", "output_index": {index}, "content_index": 0'

    @property
    def text(self) -> str:
        return "".join(self._texts)

    def item(self, status: str) -> Item:
        return message_item(self.id, self.text, status)

    def delta(self, text: str, number: int) -> bytes:
        self._texts.append(text)
        return (
            f"event: {_TEXT_DELTA}\n"
            f'data: {{"type": "{_TEXT_DELTA}", "sequence_number": {number}{self._place}, '
            f'"delta": {encode_basestring_ascii(text)}, "logprobs": []}}\n\n'
        ).encode()
