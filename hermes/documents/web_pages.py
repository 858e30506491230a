"""What a model is given of a page: the text of HTML, PDF or whatever is text already."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from typing import assert_never

from hermes.core.errors import NotFetched
from hermes.core.web import PageKind
from hermes.documents.apart import read_html_apart, read_pdf_apart
from hermes.documents.charsets import decoded
from hermes.documents.extraction import is_pdf, pdf_pages
from hermes.documents.plain_text import decode_text, shortened
from hermes.settings.model import FileSettings

_HTML_STARTS = (b"<!doctype html", b"<html")


@dataclass(frozen=True, slots=True, kw_only=True)
class PageBytes:
    """A page as it arrived."""

    url: str
    kind: PageKind
    charset: str | None
    data: bytes


@dataclass(frozen=True, slots=True, kw_only=True)
class PageText:
    title: str = ""
    text: str


async def text_of_page(page: PageBytes, limits: FileSettings) -> PageText:
    """Raises `NotFetched` with what is wrong with the page."""
    match _kind_of(page):
        case PageKind.HTML:
            return await _html(page, limits)
        case PageKind.PDF:
            return await _pdf(page, limits)
        case PageKind.TEXT | PageKind.UNSAID:
            return await asyncio.to_thread(_text, page, limits.max_characters)
        case kind:
            assert_never(kind)


def _kind_of(page: PageBytes) -> PageKind:
    """PDFs are known by their bytes, which many servers call something else."""
    if is_pdf(page.data):
        return PageKind.PDF
    start = page.data[:1024].lstrip().lower()
    if page.kind is PageKind.UNSAID and start.startswith(_HTML_STARTS):
        return PageKind.HTML
    return page.kind


async def _html(page: PageBytes, limits: FileSettings) -> PageText:
    found = await read_html_apart(
        page.data, url=page.url, charset=page.charset, most_characters=limits.max_characters
    )
    if found.problem is not None:
        named = f" '{found.title}'" if found.title else ""
        raise NotFetched(f"The page{named} cannot be read: {found.problem}. Use another source.")
    return PageText(title=found.title, text=found.text)


async def _pdf(page: PageBytes, limits: FileSettings) -> PageText:
    found = await read_pdf_apart(
        page.data, most_pages=limits.max_pages, most_characters=limits.max_characters
    )
    if found.problem is not None:
        # Behind the semicolon is what somebody can do who has the file.
        reason = found.problem.partition(";")[0]
        raise NotFetched(f"The PDF cannot be read: {reason}. Use another source.")
    return PageText(text=pdf_pages(found, limits.max_characters))


def _text(page: PageBytes, most: int) -> PageText:
    text = decoded(page.data, page.charset) if page.charset else None
    # What a server calls text may be anything.
    if text is None or "\x00" in text:
        text = decode_text(page.data)
    if text is None:
        raise NotFetched(
            f"The URL leads to {len(page.data):,} bytes that are no text. "
            "Download it with a command if you need the file itself."
        )
    return PageText(text=shortened(text, most))
