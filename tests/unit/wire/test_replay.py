"""A stream taken apart is what it was made of."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hermes.core.events import TextDelta, TurnEnded
from hermes.core.turn import TurnResult
from hermes.wire.replay import missing_end, sent_events
from hermes.wire.responses import ResponseHead
from hermes.wire.responses_stream import ResponsesEncoder
from hermes.wire.sse import KEEPALIVE

HEAD = ResponseHead(id="resp_1", created_at=1700000000, model="m")


@given(st.lists(st.text(min_size=1), max_size=5))
def test_every_event_is_found_with_its_number_and_its_bytes(texts: list[str]) -> None:
    encoder = ResponsesEncoder(HEAD, preview=lambda name, _arguments: name)
    frames = b"".join(encoder.opening())
    for text in texts:
        frames += encoder.encode(TextDelta(text)) + KEEPALIVE
    frames += encoder.encode(TurnEnded(TurnResult(text="".join(texts))))
    events = list(sent_events(frames))

    assert [event.number for event in events] == list(range(len(events)))
    assert [event.is_end for event in events] == [False] * (len(events) - 1) + [True]
    assert all(json.loads(event.data)["type"] == event.kind for event in events)
    assert b"".join(event.frame for event in events) == frames.replace(KEEPALIVE, b"").replace(
        b"data: [DONE]\n\n", b""
    )


@pytest.mark.parametrize(
    ("status", "kind"),
    [
        ("completed", "response.completed"),
        ("failed", "response.failed"),
        ("incomplete", "response.incomplete"),
        ("cancelled", "response.incomplete"),
    ],
)
def test_a_missing_end_says_how_the_response_is_stored(status: str, kind: str) -> None:
    [event] = sent_events(missing_end({"status": status}, 7).frame)
    assert (event.number, event.kind, event.is_end) == (7, kind, True)
