"""A reference reader for server-sent events, written from the standard and nothing else."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, slots=True)
class Received:
    event: str
    data: str
    id: str = ""

    @property
    def json(self) -> Any:
        return json.loads(self.data)


def read(stream: bytes) -> list[Received]:
    """Every event that a standard reader dispatches; comments leave nothing."""
    received: list[Received] = []
    event, event_id, data = "", "", None
    for line in re.split(r"\r\n|\r|\n", stream.decode())[:-1]:
        if not line:
            if data is not None:
                received.append(Received(event or "message", "\n".join(data), event_id))
            event, data = "", None  # the id stays, as the standard has it
            continue
        field, _, value = line.partition(":")
        value = value.removeprefix(" ")
        if field == "event":
            event = value
        elif field == "data":
            data = [*(data or []), value]
        elif field == "id" and "\0" not in value:
            event_id = value
    assert data is None, "the stream ends inside an event"
    return received
