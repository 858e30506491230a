"""What relayed answers used, however the network cut them, and also when they are broken."""

from __future__ import annotations

import json
from itertools import pairwise
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hermes.core.usage import Usage
from hermes.server.relay_usage import BodyMeter, StreamMeter, meter_for


def _event(name: str, **fields: Any) -> bytes:
    data = json.dumps({"type": name, **fields})
    return f"event: {name}\ndata: {data}\n\n".encode()


ANTHROPIC = b"".join(
    [
        _event(
            "message_start",
            message={
                "usage": {
                    "input_tokens": 10,
                    "cache_read_input_tokens": 100,
                    "cache_creation_input_tokens": 20,
                    "output_tokens": 1,
                }
            },
        ),
        _event("content_block_delta", delta={"type": "text_delta", "text": 'a "usage": 7'}),
        _event("ping"),
        _event("message_delta", delta={"stop_reason": "end_turn"}, usage={"output_tokens": 42}),
        _event("message_stop"),
    ]
)
COUNTED = Usage(
    input_tokens=130,
    output_tokens=42,
    total_tokens=172,
    cached_tokens=100,
    cache_write_tokens=20,
)


@given(cuts=st.lists(st.integers(0, len(ANTHROPIC)), max_size=20))
def test_a_stream_is_counted_however_it_is_cut(cuts: list[int]) -> None:
    meter = StreamMeter("anthropic", asked_bytes=4000)
    bounds = [0, *sorted(cuts), len(ANTHROPIC)]
    for start, end in pairwise(bounds):
        meter.feed(ANTHROPIC[start:end])

    assert meter.total() == COUNTED


def test_a_responses_stream_is_counted_by_its_last_event() -> None:
    meter = StreamMeter("responses", asked_bytes=4000)
    meter.feed(_event("response.created", response={"usage": None}))
    meter.feed(_event("response.output_text.delta", delta="hello"))
    used = {
        "input_tokens": 50,
        "input_tokens_details": {"cached_tokens": 30},
        "output_tokens": 9,
        "output_tokens_details": {"reasoning_tokens": 4},
        "total_tokens": 59,
    }
    meter.feed(_event("response.completed", response={"usage": used}))

    assert meter.total() == Usage(
        input_tokens=50,
        output_tokens=9,
        total_tokens=59,
        cached_tokens=30,
        reasoning_tokens=4,
    )


def test_a_stream_without_an_end_is_estimated_from_what_was_seen() -> None:
    meter = StreamMeter("anthropic", asked_bytes=4000)
    meter.feed(_event("message_start", message={"usage": {"input_tokens": 10, "output_tokens": 1}}))
    for _ in range(5):
        meter.feed(_event("content_block_delta", delta={"text": "word"}))

    assert meter.total() == Usage(
        input_tokens=10, output_tokens=5, total_tokens=15, is_estimated=True
    )


def test_an_answer_without_any_count_is_estimated_from_its_size() -> None:
    stream = StreamMeter("responses", asked_bytes=4000)
    assert stream.total().input_tokens == 1000

    body = BodyMeter("responses", asked_bytes=4000)
    body.feed(b"x" * 400)
    assert body.total() == Usage(
        input_tokens=1000, output_tokens=100, total_tokens=1100, is_estimated=True
    )


@pytest.mark.parametrize(
    "said",
    [
        b'data: {"usage": \n\n',
        b'data: {"usage": 7}\n\n',
        b'data: {"usage": {"output_tokens": "many"}}\n\n',
        b'data: {"message": [], "usage": null}\n\n',
        b'data: "usage"\n\n',
        b"\xff\xfe\x00\n\n",
    ],
)
def test_nonsense_does_not_raise(said: bytes) -> None:
    meter = StreamMeter("anthropic", asked_bytes=40)
    meter.feed(said)

    assert meter.total().output_tokens == 0


def test_an_event_without_an_end_is_given_up_and_not_kept() -> None:
    meter = StreamMeter("anthropic", asked_bytes=40)
    for _ in range(40):
        meter.feed(b"data: " + b"x" * 1024 * 1024)
    meter.feed(b"\n\n" + ANTHROPIC)

    assert meter.total().is_estimated


def test_a_whole_answer_is_counted_by_its_usage() -> None:
    meter = meter_for("anthropic", "application/json", 40)
    body = json.dumps({"usage": {"input_tokens": 3, "output_tokens": 4}}).encode()
    meter.feed(body[:10])
    meter.feed(body[10:])

    assert meter.total() == Usage(input_tokens=3, output_tokens=4, total_tokens=7)


def test_the_type_of_the_content_says_how_it_is_read() -> None:
    assert isinstance(meter_for("anthropic", "text/event-stream", 1), StreamMeter)
    assert isinstance(meter_for("anthropic", "application/json", 1), BodyMeter)
