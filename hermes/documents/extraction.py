"""What a model is given of a file: its text, with a note where something was left out."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence

from hermes.core.errors import InvalidRequest
from hermes.documents.apart import read_pdf_apart
from hermes.documents.pdf import PdfText
from hermes.documents.plain_text import decode_text, shortened
from hermes.settings.model import FileSettings

_PDF_MARK = b"%PDF-"
_PDF_MARK_WITHIN = 1024


class Documents:
    """Reads files for one server; PDFs only a few at a time, because each has its own process."""

    def __init__(self, pdfs_at_once: int = 4) -> None:
        self._free = asyncio.Semaphore(pdfs_at_once)

    async def text_of(self, data: bytes, name: str, limits: FileSettings) -> str:
        """The text of a text file or a PDF; raises `InvalidRequest` with what to do otherwise."""
        if is_pdf(data):
            async with self._free:
                found = await read_pdf_apart(
                    data, most_pages=limits.max_pages, most_characters=limits.max_characters
                )
            return _pdf_text(found, name, limits.max_characters)
        return await asyncio.to_thread(_plain_text, data, name, limits.max_characters)


def is_pdf(data: bytes) -> bool:
    return _PDF_MARK in data[:_PDF_MARK_WITHIN]


def _plain_text(data: bytes, name: str, most: int) -> str:
    text = decode_text(data)
    if text is None:
        raise InvalidRequest(
            f"The file '{name}' is neither text nor PDF; export it as one of these, "
            "or send an image as an image part.",
            code="unsupported_file_type",
            param="file",
        )
    return shortened(text, most)


def _pdf_text(found: PdfText, name: str, most: int) -> str:
    if found.problem is not None:
        raise InvalidRequest(
            f"The file '{name}' cannot be read: {found.problem}.",
            code="unreadable_file",
            param="file",
        )
    return pdf_pages(found, most)


def pdf_pages(found: PdfText, most: int) -> str:
    """The pages with their numbers, and what was left out."""
    text = shortened(_with_page_numbers(found.pages), most)
    read = len(found.pages)
    if read < found.page_count:
        text += f"\n[Pages {read + 1} to {found.page_count} of {found.page_count} were left out.]"
    return text


def _with_page_numbers(pages: Sequence[str]) -> str:
    return "\n\n".join(f"[Page {at}]\n{page.strip()}" for at, page in enumerate(pages, 1))
