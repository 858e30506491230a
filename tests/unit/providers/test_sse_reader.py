"""Events come out the same however the bytes come in."""

from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hermes.core.errors import ProviderError
from hermes.providers.sse_reader import MOST_UNREAD, NamedData, SseReader


def read(*reads: bytes) -> list[NamedData]:
    reader = SseReader()
    return [event for data in reads for event in reader.feed(data)]


def test_plain_events() -> None:
    assert read(b"data: a\n\ndata: b\n\n") == [(None, b"a"), (None, b"b")]


def test_names_comments_ids_and_a_missing_space() -> None:
    stream = b": hello\n\nevent: delta\nid: 7\nretry: 5\ndata:a\n: in between\ndata: b\n\n"
    assert read(stream) == [("delta", b"a\nb")]


def test_an_event_without_data_is_no_event() -> None:
    assert read(b"event: ping\n\n\n\nid: 3\n\n") == []


def test_a_byte_order_mark_is_not_part_of_the_first_line() -> None:
    assert read(b"\xef\xbb\xbfdata: a\n\n") == [(None, b"a")]


@pytest.mark.parametrize("end", [b"\n", b"\r\n", b"\r"])
def test_all_three_line_ends_mean_the_same(end: bytes) -> None:
    stream = end.join([b"event: e", b"data: a", b"data: b", b"", b"data: c", b"", b""])
    reader = SseReader()
    assert [*reader.feed(stream), *reader.rest()] == [("e", b"a\nb"), (None, b"c")]


@given(
    lines=st.lists(
        st.sampled_from([b"data: x", b"data: {}", b"", b"", b": c", b"event: n", b"data:\xc3\xa9"]),
        max_size=15,
    ),
    end=st.sampled_from([b"\n", b"\r\n", b"\r"]),
    cuts=st.lists(st.integers(0, 120), max_size=10),
)
def test_any_split_gives_the_same_events(lines: list[bytes], end: bytes, cuts: list[int]) -> None:
    stream = end.join(lines) + end
    whole = SseReader()
    expected = [*whole.feed(stream), *whole.rest()]
    edges = sorted({0, len(stream), *(cut for cut in cuts if cut < len(stream))})
    pieces = SseReader()
    found = [event for start, stop in pairwise(edges) for event in pieces.feed(stream[start:stop])]
    assert found + pieces.rest() == expected


def test_an_event_in_a_thousand_reads_arrives_whole() -> None:
    reads = [b"data: ", *[b"x" * 1000] * 1000, b"\n", b"\n"]
    assert read(*reads) == [(None, b"x" * 1_000_000)]


@pytest.mark.parametrize("piece", [b"x" * 100, b"data: x\n" * 12])
def test_an_endless_event_is_refused(piece: bytes) -> None:
    reader = SseReader(largest_event=1000)
    with pytest.raises(ProviderError, match="more than 1000 bytes"):
        for _ in range(20):
            reader.feed(piece)


def test_the_rest_is_what_the_last_blank_line_would_have_completed() -> None:
    reader = SseReader()
    assert reader.feed(b"data: a\n\ndata: [DONE]") == [(None, b"a")]
    assert reader.rest() == [(None, b"[DONE]")]


def test_what_waits_can_be_taken_back_and_fed_again() -> None:
    reader = SseReader()
    assert reader.feed(b"data: a\n\ndata: b") == [(None, b"a")]
    waiting = reader.unread()
    assert waiting == b"data: b"
    assert reader.unread() == b""
    assert reader.feed(waiting + b"c\n\n") == [(None, b"bc")]


def test_a_long_event_is_not_taken_back_at_every_read() -> None:
    reader = SseReader()
    reader.feed(b"data: " + b"x" * MOST_UNREAD)
    assert reader.unread() is None
    assert reader.feed(b"y\n\n") == [(None, b"x" * MOST_UNREAD + b"y")]
