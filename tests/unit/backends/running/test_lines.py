"""Lines come out as they went in, however they were cut."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from hermes.backends.running.lines import LineSplitter, Tail

PIECES = st.lists(st.binary(max_size=20).map(lambda data: data.replace(b"a", b"\n")), max_size=20)


@given(PIECES)
def test_pieces_become_the_lines_of_the_whole(pieces: list[bytes]) -> None:
    splitter = LineSplitter(1000)
    lines = [line for piece in pieces for line in splitter.feed(piece)]
    *expected, rest = b"".join(pieces).split(b"\n")
    assert lines == expected
    assert splitter.has_rest == bool(rest)
    assert splitter.rest() == rest


@given(PIECES, st.integers(0, 10))
def test_a_line_over_the_limit_is_nothing_and_its_neighbours_are_whole(
    pieces: list[bytes], limit: int
) -> None:
    splitter = LineSplitter(limit)
    lines = [line for piece in pieces for line in splitter.feed(piece)]
    expected = b"".join(pieces).split(b"\n")[:-1]
    assert lines == [line if len(line) <= limit else None for line in expected]


def test_a_rest_over_the_limit_is_a_rest() -> None:
    splitter = LineSplitter(3)
    assert list(splitter.feed(b"long")) == []
    assert splitter.has_rest
    assert splitter.rest() is None


@given(st.lists(st.binary(max_size=30), max_size=20), st.integers(1, 20))
def test_the_tail_is_the_end_of_the_whole(pieces: list[bytes], keep: int) -> None:
    tail = Tail(keep)
    for piece in pieces:
        tail.add(piece)
    whole = b"".join(pieces)
    assert tail.text() == whole[-keep:].decode(errors="replace")
    assert tail.is_cut == (len(whole) > keep)
