"""Output is cut in the middle and says by how much."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hermes.tools.output import BoundedBuffer, cap, one_line, printable, size_text


def test_short_text_is_left_alone() -> None:
    assert cap("x" * 100, 100) == "x" * 100


@given(st.text(min_size=101, max_size=5000), st.integers(100, 400))
def test_a_cap_keeps_head_and_tail_and_counts_the_rest(text: str, limit: int) -> None:
    capped = cap(text, limit)
    assert len(capped) <= limit
    if capped != text:
        (mark,) = re.findall(r"\n… ([\d,]+) characters cut …\n", capped)
        head, tail = capped.split(f"\n… {mark} characters cut …\n")
        assert text.startswith(head)
        assert text.endswith(tail)
        assert len(head) + int(mark.replace(",", "")) + len(tail) == len(text)


def test_a_large_count_is_grouped() -> None:
    assert "… 12,445 characters cut …" in cap("x" * 12_585, 200)


@given(st.lists(st.binary(max_size=50)), st.integers(2, 60))
def test_a_buffer_keeps_everything_that_fits(chunks: list[bytes], keep: int) -> None:
    buffer = BoundedBuffer(keep)
    for chunk in chunks:
        buffer.add(chunk)
    everything = b"".join(chunks)
    assert buffer.total == len(everything)
    if len(everything) <= keep // 2 * 2:
        assert buffer.text() == everything.decode(errors="replace")


@given(st.text(alphabet="aé€😀", min_size=40), st.integers(2, 40))
def test_a_buffer_never_splits_a_character_and_counts_exactly(text: str, keep: int) -> None:
    buffer = BoundedBuffer(keep)
    buffer.add(text.encode())
    head, mark, tail = re.fullmatch(
        r"(.*)\n… ([\d,]+) bytes cut …\n(.*)", buffer.text(), re.DOTALL
    ).groups()  # type: ignore[union-attr]
    assert text.startswith(head)
    assert text.endswith(tail)
    assert len(head.encode()) + int(mark.replace(",", "")) + len(tail.encode()) == len(
        text.encode()
    )


def test_nothing_printable_is_lost_and_the_rest_is_spelled_out() -> None:
    assert printable("ä\n\x00\udc80\ud800") == "ä\n\\x00\\udc80\\ud800"


def test_one_line_folds_and_shortens() -> None:
    assert one_line("a\n  b\tc") == "a b c"
    assert one_line("x" * 500, 10) == "x" * 9 + "…"


@pytest.mark.parametrize(
    ("count", "text"),
    [
        (0, "0 bytes"),
        (999, "999 bytes"),
        (1234, "1.2 kB"),
        (5_600_000, "5.6 MB"),
        (10**16, "10000.0 TB"),
    ],
)
def test_sizes_are_readable(count: int, text: str) -> None:
    assert size_text(count) == text
