"""The reference parser: what it delivers, and what it refuses that a browser would forgive."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hermes.testing.sse import ServerSentEvent, parse_events


def test_events_are_delivered_in_order_with_their_names_and_ids() -> None:
    stream = b"event: greet\nid: 7\ndata: hello\n\n: still here\n\ndata: [DONE]\n\n"
    assert parse_events(stream) == [
        ServerSentEvent("greet", "hello", "7"),
        ServerSentEvent(None, "[DONE]"),
    ]


def test_data_over_several_lines_is_joined_by_line_ends() -> None:
    assert parse_events("data: a\ndata:\ndata:  b\n\n") == [ServerSentEvent(None, "a\n\n b")]


@pytest.mark.parametrize("line_end", ["\n", "\r\n", "\r"])
def test_every_line_end_of_the_standard_is_understood(line_end: str) -> None:
    stream = "event: a\ndata: 1\n\ndata: 2\n\n".replace("\n", line_end)
    assert parse_events(stream) == [ServerSentEvent("a", "1"), ServerSentEvent(None, "2")]


def test_comments_and_retry_times_deliver_nothing() -> None:
    assert parse_events("retry: 100\n\n: ping\n\n") == []
    assert parse_events("") == []


@pytest.mark.parametrize(
    "stream",
    [
        "data: cut off",
        "data: cut off\n",
        "event: only-a-name\n\n",
        "dta: misspelled\n\n",
        "data\n\n",
        "retry: soon\n\ndata: x\n\n",
    ],
)
def test_what_a_browser_would_silently_drop_is_an_error(stream: str) -> None:
    with pytest.raises(ValueError, match=r"\w"):
        parse_events(stream)


def test_bytes_that_are_not_utf_8_are_an_error() -> None:
    with pytest.raises(UnicodeDecodeError):
        parse_events(b"data: \xff\n\n")


LINE = st.text(st.characters(exclude_characters="\r\n", exclude_categories=["Cs"]))
EVENT = st.builds(
    ServerSentEvent,
    event=st.none() | LINE,
    data=st.lists(LINE, min_size=1).map("\n".join),
    id=st.none() | LINE,
)


@given(st.lists(EVENT))
def test_written_events_are_read_back_as_they_were(events: list[ServerSentEvent]) -> None:
    assert parse_events("".join(map(written, events)).encode()) == events


def written(event: ServerSentEvent) -> str:
    lines = [f"data: {line}" for line in event.data.split("\n")]
    if event.event is not None:
        lines.insert(0, f"event: {event.event}")
    if event.id is not None:
        lines.append(f"id: {event.id}")
    return "\n".join(lines) + "\n\n"
