"""A stream taken apart is what it was made of."""

from __future__ import annotations

import json

from hypothesis import given
from hypothesis import strategies as st

from hermes.core.events import TextDelta, TurnEnded
from hermes.core.turn import TurnResult
from hermes.wire.replay import after, sent_events
from hermes.wire.responses import ResponseHead
from hermes.wire.responses_stream import ResponsesEncoder
from hermes.wire.sse import DONE, KEEPALIVE

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
    assert all(json.loads(event.data)["type"] == event.kind for event in events)


@given(st.lists(st.text(min_size=1), max_size=5), st.integers(-1, 20))
def test_a_reader_who_comes_back_gets_what_it_has_not_seen(texts: list[str], seen: int) -> None:
    encoder = ResponsesEncoder(HEAD, preview=lambda name, _arguments: name)
    frames = b"".join(encoder.opening())
    frames += b"".join(encoder.encode(TextDelta(text)) for text in texts)
    frames += KEEPALIVE + encoder.encode(TurnEnded(TurnResult(text="".join(texts))))
    rest = after(frames, seen)

    assert frames.endswith(rest.replace(KEEPALIVE, b"")) or KEEPALIVE in rest
    numbers = [event.number for event in sent_events(rest)]
    assert numbers == [each.number for each in sent_events(frames) if each.number > seen]
    assert rest.endswith(DONE)
