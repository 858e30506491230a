"""Output that goes on for ever is kept from its end backwards, and found by its place."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from hermes.tools.tail_buffer import Page, TailBuffer


def filled(text: str, keep: int = 1000, chunk: int = 7) -> TailBuffer:
    buffer, data = TailBuffer(keep), text.encode()
    for at in range(0, len(data), chunk):
        buffer.add(data[at : at + chunk])
    return buffer


@given(text=st.text(max_size=200), limit=st.integers(4, 50))
def test_pages_one_after_another_are_the_whole_output(text: str, limit: int) -> None:
    buffer, at, read = filled(text), 0, ""
    while at < buffer.total:
        page = buffer.page(at, limit)
        assert page.end > at
        at, read = page.end, read + page.text
    assert read == text


@given(data=st.binary(max_size=400), keep=st.integers(1, 50), start=st.integers(0, 500))
def test_no_bytes_and_no_place_break_it(data: bytes, keep: int, start: int) -> None:
    buffer = TailBuffer(keep)
    buffer.add(data)
    page = buffer.page(start, 10)
    assert 0 <= page.start <= page.end <= page.total == len(data)


@given(text=st.text(alphabet="aä€😀", max_size=300), keep=st.integers(8, 64))
def test_what_is_kept_is_the_end_of_the_output(text: str, keep: int) -> None:
    page = filled(text, keep).page(0, keep)
    assert text.endswith(page.text)
    assert len(page.text.encode()) > min(keep, len(text.encode())) - 4


def test_a_place_that_is_gone_is_answered_with_the_oldest_that_is_left() -> None:
    buffer = filled("0123456789" * 10, keep=20)
    assert buffer.page(0, 5) == Page(text="01234", start=80, end=85, total=100)


def test_the_last_part_is_found_without_knowing_its_place() -> None:
    assert filled("first middle last").last(4).text == "last"


def test_a_firehose_uses_a_bounded_amount_of_memory() -> None:
    buffer = TailBuffer(1000)
    for _ in range(100):
        buffer.add(b"x" * 990)
        assert len(buffer._kept) <= 2000
    assert buffer.total == 99_000
