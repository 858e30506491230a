"""The text of a PDF. Runs in a process of its own: see `hermes.documents.apart`."""

from __future__ import annotations

import importlib
import io
import json
import resource
import sys
from contextlib import suppress
from dataclasses import asdict, dataclass
from typing import Any

_MEMORY = 1024 * 1024 * 1024


@dataclass(frozen=True, slots=True, kw_only=True)
class PdfText:
    """What could be read, or why nothing could."""

    pages: tuple[str, ...] = ()
    page_count: int = 0
    """Of the whole file; more than `pages` where reading stopped at a limit."""
    problem: str | None = None


def read_pdf(data: bytes, *, most_pages: int, most_characters: int) -> PdfText:
    """Never raises for what is in the file: a broken one has a `problem`."""
    # pypdf takes a fifth of a second to load, which only those pay who send a PDF.
    pypdf = importlib.import_module("pypdf")
    try:
        return _read(pypdf.PdfReader(io.BytesIO(data)), most_pages, most_characters)
    except MemoryError:
        return PdfText(problem="it needs too much memory; send a smaller part of it")
    except Exception:  # noqa: BLE001 - pypdf raises whatever a malformed file leads it to
        return PdfText(problem="it is damaged; save it again as a PDF, or send its text")


def _read(reader: Any, most_pages: int, most_characters: int) -> PdfText:
    if reader.is_encrypted and not reader.decrypt(""):
        return PdfText(problem="it is protected by a password; send a copy without one")
    pages: list[str] = []
    length = 0
    for page in reader.pages[:most_pages]:
        pages.append(page.extract_text())
        length += len(pages[-1])
        if length > most_characters:
            break
    if not any(page.strip() for page in pages):
        return PdfText(
            problem="it holds no text, only pictures of it; run text recognition (OCR) over it, "
            "or send its pages as images"
        )
    return PdfText(pages=tuple(pages), page_count=len(reader.pages))


def main() -> None:
    """A PDF on standard input, its text as JSON on standard output."""
    with suppress(ValueError, OSError):  # some systems do not know this limit
        resource.setrlimit(resource.RLIMIT_AS, (_MEMORY, _MEMORY))
    most_pages, most_characters = map(int, sys.argv[1:])
    found = read_pdf(
        sys.stdin.buffer.read(), most_pages=most_pages, most_characters=most_characters
    )
    json.dump(asdict(found), sys.stdout)


if __name__ == "__main__":
    main()
