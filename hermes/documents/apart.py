"""Reads documents in processes of their own: a hostile one can be stopped, and slows nobody."""

from __future__ import annotations

import asyncio
import json
import os
import sys
from typing import Any

from hermes.documents.html import HtmlText, with_head
from hermes.documents.pdf import PdfText

SECONDS = 60.0
HTML_SECONDS = 30.0


class _TooSlow(Exception):
    """The process was ended because it took too long."""


class _Broken(Exception):
    """The process did not come to its end in order."""


async def read_pdf_apart(
    data: bytes, *, most_pages: int, most_characters: int, seconds: float = SECONDS
) -> PdfText:
    """Ends its process whatever happens, also when the caller is cancelled."""
    arguments = (str(most_pages), str(most_characters))
    try:
        found = await _run_apart("hermes.documents.pdf", arguments, data, seconds)
    except _TooSlow:
        return PdfText(problem="reading it takes too long; send a smaller part of it")
    except _Broken:
        return PdfText(problem="it is damaged or too large to be read; send a smaller part of it")
    return PdfText(**{**found, "pages": tuple(found["pages"])})


async def read_html_apart(
    data: bytes,
    *,
    url: str,
    charset: str | None,
    most_characters: int,
    seconds: float = HTML_SECONDS,
) -> HtmlText:
    """Ends its process whatever happens, also when the caller is cancelled."""
    # The URL may hold something private, which must not be in a list of processes.
    given = with_head(data, url=url, charset=charset)
    try:
        found = await _run_apart("hermes.documents.html", (str(most_characters),), given, seconds)
    except _TooSlow:
        return HtmlText(problem="reading it takes too long")
    except _Broken:
        return HtmlText(problem="it is damaged or too large to be read")
    return HtmlText(**found)


async def _run_apart(module: str, arguments: tuple[str, ...], data: bytes, seconds: float) -> Any:
    """What the module prints as JSON when it is run with this on its standard input."""
    process = await asyncio.create_subprocess_exec(
        sys.executable,
        # Without the working folder on the path, which may hold anything.
        "-P",
        "-m",
        module,
        *arguments,
        stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.DEVNULL,
        # Nothing of the environment: it holds keys.
        env={"PYTHONPATH": os.pathsep.join(filter(None, sys.path)), "PYTHONIOENCODING": "utf-8"},
    )
    try:
        async with asyncio.timeout(seconds):
            output, _ = await process.communicate(data)
    except TimeoutError:
        raise _TooSlow from None
    finally:
        if process.returncode is None:
            process.kill()
            await process.wait()
    if process.returncode != 0:
        raise _Broken
    return json.loads(output)
