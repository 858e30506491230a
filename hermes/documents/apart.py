"""Reads PDFs in processes of their own: a hostile file can be stopped, and slows nobody else."""

from __future__ import annotations

import asyncio
import json
import os
import sys

from hermes.documents.pdf import PdfText

SECONDS = 60.0


async def read_pdf_apart(
    data: bytes, *, most_pages: int, most_characters: int, seconds: float = SECONDS
) -> PdfText:
    """Ends its process whatever happens, also when the caller is cancelled."""
    process = await asyncio.create_subprocess_exec(
        sys.executable,
        # Without the working folder on the path, which may hold anything.
        "-P",
        "-m",
        "hermes.documents.pdf",
        str(most_pages),
        str(most_characters),
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
        return PdfText(problem="reading it takes too long; send a smaller part of it")
    finally:
        if process.returncode is None:
            process.kill()
            await process.wait()
    if process.returncode != 0:
        return PdfText(problem="it is damaged or too large to be read; send a smaller part of it")
    found = json.loads(output)
    return PdfText(**{**found, "pages": tuple(found["pages"])})
