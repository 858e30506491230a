"""The output of a response while it is streamed: its items, and the numbered events about them."""

from __future__ import annotations

import json
from typing import Any

from hermes.wire.response_items import Item, ItemIds, reasoning_item, summary_part
from hermes.wire.sse import frame


class ResponseOutput:
    """One per stream. Each item is added once and done once; numbers have no gap."""

    def __init__(self, response_id: str) -> None:
        self.items: list[Item] = []
        self.new_id = ItemIds(response_id).new
        self._sequence = 0

    def add(self, item: Item) -> bytes:
        self.items.append(item)
        return self.event("response.output_item.added", output_index=len(self.items) - 1, item=item)

    def done(self, index: int, item: Item) -> bytes:
        self.items[index] = item
        return self.event("response.output_item.done", output_index=index, item=item)

    def event(self, kind: str, /, **fields: Any) -> bytes:
        payload = {"type": kind, "sequence_number": self.next_number(), **fields}
        return frame(json.dumps(payload), kind)

    def next_number(self) -> int:
        number = self._sequence
        self._sequence += 1
        return number


class Thought:
    """A reasoning item with one summary, from its first word to its last."""

    def __init__(self, output: ResponseOutput) -> None:
        self._output = output
        self._id = output.new_id("rs_")
        self._index = len(output.items)
        self._place = {"item_id": self._id, "output_index": self._index, "summary_index": 0}
        self._texts: list[str] = []

    def open(self) -> bytes:
        return self._output.add(reasoning_item(self._id)) + self._output.event(
            "response.reasoning_summary_part.added", **self._place, part=summary_part("")
        )

    def delta(self, text: str) -> bytes:
        self._texts.append(text)
        return self._output.event(
            "response.reasoning_summary_text.delta", **self._place, delta=text
        )

    def close(self) -> bytes:
        text = "".join(self._texts)
        event, place = self._output.event, self._place
        return (
            event("response.reasoning_summary_text.done", **place, text=text)
            + event("response.reasoning_summary_part.done", **place, part=summary_part(text))
            + self._output.done(self._index, reasoning_item(self._id, text))
        )

    def settle(self) -> None:
        """Let the list of items know the text so far; what is open there has none."""
        self._output.items[self._index] = reasoning_item(self._id, "".join(self._texts))
