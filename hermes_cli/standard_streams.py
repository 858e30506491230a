"""Standard input and output on the event loop, for a protocol that has them to itself."""

from __future__ import annotations

import asyncio
import os
import sys

LONGEST_LINE = 64 * 1024 * 1024


async def claimed_streams() -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
    """What is printed from now on goes to stderr: on stdout it would be taken for the protocol."""
    sys.stdout.flush()
    wire = os.dup(sys.stdout.fileno())
    os.dup2(sys.stderr.fileno(), sys.stdout.fileno())
    loop = asyncio.get_running_loop()
    reader = asyncio.StreamReader(limit=LONGEST_LINE)
    await loop.connect_read_pipe(lambda: asyncio.StreamReaderProtocol(reader), sys.stdin)
    transport, protocol = await loop.connect_write_pipe(
        asyncio.streams.FlowControlMixin, os.fdopen(wire, "wb")
    )
    return reader, asyncio.StreamWriter(transport, protocol, None, loop)
