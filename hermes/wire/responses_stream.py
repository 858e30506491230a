"""A turn's events as a Responses stream: typed events, numbered without a gap, items closed once.

The order is what strict readers check: created, in_progress, then per item added, its parts and
deltas, done; and at last one terminal event whose output is exactly the items that were done.
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable
from json.encoder import encode_basestring_ascii
from typing import Any, assert_never

from hermes.core.events import (
    Event,
    Idle,
    Notice,
    ReasoningDelta,
    SegmentEnd,
    TextDelta,
    ToolFinished,
    ToolProgress,
    ToolStarted,
    TurnEnded,
    is_internal,
)
from hermes.core.ids import new_id
from hermes.core.turn import TurnResult
from hermes.wire.answer import StreamedAnswer
from hermes.wire.response_items import (
    Item,
    arguments_text,
    call_item,
    call_output_item,
    message_item,
    text_part,
)
from hermes.wire.responses import ResponseHead, ended_response, response_object
from hermes.wire.sse import DONE, KEEPALIVE, frame

_TEXT_DELTA = "response.output_text.delta"


class ResponsesEncoder:
    """Encodes one stream: `opening` first, then each event in order."""

    def __init__(self, head: ResponseHead, *, clock: Callable[[], float] = time.time) -> None:
        self._head = head
        self._clock = clock
        self._sequence = 0
        self._output: list[Item] = []
        self._open_calls: dict[str, int] = {}
        self._message: _OpenMessage | None = None
        self._answer = StreamedAnswer()
        self.final: dict[str, Any] | None = None
        """The terminal response object, once the turn has ended."""

    def opening(self) -> list[bytes]:
        """The first two events, to be written one by one before anything has happened."""
        response = self.snapshot("in_progress")
        return [
            self._event("response.created", response=response),
            self._event("response.in_progress", response=response),
        ]

    def encode(self, event: Event) -> bytes:
        """Any number of whole events; empty when this one leaves no trace in this dialect."""
        if isinstance(event, TextDelta):
            return self._text(event.text)
        match event:
            case SegmentEnd():
                self._answer.end_segment()
                return self._close_message("completed")
            case ToolStarted():
                return self._tool_started(event)
            case ToolFinished():
                return self._tool_finished(event)
            case TurnEnded(result):
                return self._end(result)
            case Idle():
                return KEEPALIVE
            case ReasoningDelta() | ToolProgress() | Notice():
                return b""
            case _:
                assert_never(event)

    def snapshot(self, status: str) -> dict[str, Any]:
        """The response as it stands. Unless it goes on, what is open counts as incomplete."""
        open_status = "in_progress" if status == "in_progress" else "incomplete"
        output = [
            {**item, "status": open_status} if item["status"] == "in_progress" else item
            for item in self._output
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
        return opened + self._message.delta(text, self._next())

    def _open_message(self) -> bytes:
        item_id, index = new_id("msg_"), len(self._output)
        self._message = _OpenMessage(item_id, index)
        opened: Item = {**message_item(item_id, "", "in_progress"), "content": []}
        added = self._add(opened)
        return added + self._event(
            "response.content_part.added",
            item_id=item_id,
            output_index=index,
            content_index=0,
            part=text_part(""),
        )

    def _close_message(self, status: str) -> bytes:
        message = self._message
        if message is None:
            return b""
        self._message = None
        place = {"item_id": message.id, "output_index": message.index, "content_index": 0}
        text = message.text
        return (
            self._event("response.output_text.done", **place, text=text, logprobs=[])
            + self._event("response.content_part.done", **place, part=text_part(text))
            + self._done(message.index, message.item(status))
        )

    def _tool_started(self, event: ToolStarted) -> bytes:
        if is_internal(event.name):
            self._answer.end_segment()
            return b""
        self._answer.tool_ran()
        closed = self._close_message("completed")
        item_id, index = new_id("fc_"), len(self._output)
        self._open_calls[event.call_id] = index
        arguments = arguments_text(event.arguments)
        added = self._add(call_item(item_id, event.call_id, event.name, "", "in_progress"))
        self._output[index] = {**self._output[index], "arguments": arguments}
        place = {"item_id": item_id, "output_index": index}
        return (
            closed
            + added
            + self._event("response.function_call_arguments.delta", **place, delta=arguments)
            + self._event(
                "response.function_call_arguments.done",
                **place,
                name=event.name,
                arguments=arguments,
            )
        )

    def _tool_finished(self, event: ToolFinished) -> bytes:
        index = self._open_calls.pop(event.call_id, None)
        if index is None:
            # An internal tool, whose start was not shown either.
            self._answer.end_segment()
            return b""
        self._answer.tool_ran()
        closed = self._close_message("completed")
        done = self._done(index, {**self._output[index], "status": "completed"})
        parts = [{"type": "input_text", "text": event.output}]
        output = call_output_item(new_id("fco_"), event.call_id, parts)
        added = self._add({**output, "status": "in_progress"})
        return closed + done + added + self._done(len(self._output) - 1, output)

    def _end(self, result: TurnResult) -> bytes:
        status = "completed" if result.is_complete else "incomplete"
        written = [self._missing_text(result.text)]
        if result.is_complete and self._lacks_answer():
            written.append(self._open_message())
        written.append(self._close_message(status))
        written.append(self._close_calls())
        self.final = ended_response(
            self._head, result, output=self._output, ended_at=int(self._clock())
        )
        written.append(self._event(f"response.{self.final['status']}", response=self.final))
        return b"".join([*written, DONE])

    def _close_calls(self) -> bytes:
        """Calls that never reported back."""
        indexes = list(self._open_calls.values())
        self._open_calls.clear()
        return b"".join(
            self._done(index, {**self._output[index], "status": "incomplete"}) for index in indexes
        )

    def _missing_text(self, final: str) -> bytes:
        missing = self._answer.missing_from(final)
        if not missing:
            return b""
        # A text that continues nothing is a message of its own.
        closed = b"" if self._answer.is_mid_segment else self._close_message("completed")
        return closed + self._text(missing)

    def _lacks_answer(self) -> bool:
        return not self._output or self._output[-1]["type"] != "message"

    def _add(self, item: Item) -> bytes:
        self._output.append(item)
        return self._event(
            "response.output_item.added", output_index=len(self._output) - 1, item=item
        )

    def _done(self, index: int, item: Item) -> bytes:
        self._output[index] = item
        return self._event("response.output_item.done", output_index=index, item=item)

    def _event(self, kind: str, /, **fields: Any) -> bytes:
        payload = {"type": kind, "sequence_number": self._next(), **fields}
        return frame(json.dumps(payload), kind)

    def _next(self) -> int:
        number = self._sequence
        self._sequence += 1
        return number


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
