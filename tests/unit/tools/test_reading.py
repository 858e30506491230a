"""Files are read line by line in bounded memory."""

from __future__ import annotations

import io
import tracemalloc
from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st

from hermes.tools.reading import Line, lines_of


@given(st.lists(st.text(alphabet="abé")), st.sampled_from(["\n", "\r\n"]))
def test_lines_come_without_their_ends(texts: list[str], end: str) -> None:
    file = io.BytesIO("".join(text + end for text in texts).encode())
    assert list(lines_of(file, 1000)) == [Line(text.encode(), 0) for text in texts]


def test_a_last_line_without_an_end_counts() -> None:
    assert list(lines_of(io.BytesIO(b"a\nb"), 10)) == [Line(b"a", 0), Line(b"b", 0)]


def test_long_lines_are_cut_and_counted() -> None:
    content = b"x" * 200_000 + b"\r\n" + b"y" * 12 + b"\n"
    assert list(lines_of(io.BytesIO(content), 10)) == [Line(b"x" * 10, 199_990), Line(b"y" * 10, 2)]


def test_an_end_split_between_two_reads_is_no_part_of_the_line() -> None:
    content = b"x" * 65_535 + b"\r\nnext\n"
    assert list(lines_of(io.BytesIO(content), 70_000)) == [
        Line(b"x" * 65_535, 0),
        Line(b"next", 0),
    ]


def test_one_enormous_line_needs_little_memory(tmp_path: Path) -> None:
    (tmp_path / "f").write_bytes(b"x" * 20_000_000)
    tracemalloc.start()
    with (tmp_path / "f").open("rb") as file:
        assert list(lines_of(file, 10)) == [Line(b"x" * 10, 19_999_990)]
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 1_000_000
