"""What a model reads of a file, and what a client reads when that is nothing."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

import pytest

from hermes.core.errors import InvalidRequest
from hermes.documents.apart import read_pdf_apart
from hermes.documents.extraction import Documents
from hermes.documents.pdf import PdfText, read_pdf
from hermes.settings.model import FileSettings
from tests.unit.documents.pdfs import locked, pdf

LIMITS = FileSettings()


async def refusal(data: bytes) -> InvalidRequest:
    with pytest.raises(InvalidRequest) as caught:
        await Documents().text_of(data, "report.pdf", LIMITS)
    assert "report.pdf" in caught.value.message
    return caught.value


async def test_a_text_file_is_its_text() -> None:
    assert await Documents().text_of(b"a,b\n1,2\n", "table.csv", LIMITS) == "a,b\n1,2\n"


async def test_a_pdf_is_read_page_by_page() -> None:
    text = await Documents().text_of(pdf("Hello", "World"), "any.bin", LIMITS)

    assert text == "[Page 1]\nHello\n\n[Page 2]\nWorld"


async def test_a_text_that_was_cut_says_so() -> None:
    text = await Documents().text_of(b"x" * 1500, "long.txt", FileSettings(max_characters=1000))

    assert text == "x" * 1000 + "\n[Cut here: 500 more characters were left out.]"


async def test_a_pdf_with_too_many_pages_says_so() -> None:
    text = await Documents().text_of(pdf("One", "Two", "Three"), "a.pdf", FileSettings(max_pages=2))

    assert text.endswith("Two\n[Pages 3 to 3 of 3 were left out.]")


async def test_a_pdf_with_too_much_text_says_so() -> None:
    limits = FileSettings(max_characters=1000)
    text = await Documents().text_of(pdf("x" * 800, "y" * 800, "z" * 800), "a.pdf", limits)

    assert "[Cut here: " in text
    assert text.endswith("[Pages 3 to 3 of 3 were left out.]")
    assert "z" not in text.partition("[Cut here")[0]


@pytest.mark.parametrize(
    ("data", "advice"),
    [
        (locked(pdf("Secret"), "open sesame"), "send a copy without one"),
        (pdf(""), "OCR"),
        (b"%PDF-1.4 and then nonsense", "save it again"),
        (pdf("Hello")[:200], "save it again"),
    ],
)
async def test_a_pdf_that_cannot_be_read_says_what_to_do(data: bytes, advice: str) -> None:
    error = await refusal(data)

    assert error.code == "unreadable_file"
    assert advice in error.message


async def test_a_pdf_that_opens_without_a_password_is_read() -> None:
    text = await Documents().text_of(locked(pdf("Hello"), ""), "a.pdf", LIMITS)

    assert text == "[Page 1]\nHello"


async def test_another_kind_of_file_is_refused() -> None:
    assert (await refusal(b"PK\x03\x04\x14\x00\x06\x00")).code == "unsupported_file_type"


async def test_a_pdf_that_takes_too_long_is_given_up() -> None:
    found = await read_pdf_apart(pdf("Hello"), most_pages=1, most_characters=9, seconds=0)

    assert found.pages == ()
    assert found.problem is not None
    assert "too long" in found.problem


async def test_a_caller_who_leaves_takes_the_process_along() -> None:
    others = children()
    reading = read_pdf_apart(pdf("Hello"), most_pages=1, most_characters=9)
    task = asyncio.create_task(reading)
    await eventually(lambda: children() > others)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task

    assert children() <= others


def children() -> set[str]:
    """The processes of this one, those that wait to be reaped included."""
    found = set()
    for folder in Path("/proc").glob("[0-9]*"):
        with suppress(OSError):
            _, _, after_name = (folder / "stat").read_text().rpartition(")")
            if after_name.split()[1] == str(os.getpid()):
                found.add(folder.name)
    return found


async def eventually(is_so: Callable[[], bool]) -> None:
    """A process has no event of its own to wait for."""
    async with asyncio.timeout(5):
        while not is_so():
            await asyncio.sleep(0.001)


def test_the_reader_itself_gives_the_same_as_its_process() -> None:
    found = read_pdf(pdf("One", "Two"), most_pages=1, most_characters=100)

    assert found == PdfText(pages=("One",), page_count=2)
