"""An MCP server made with the official SDK, run as a process of its own by the tests.

`python real_server.py stdio`, or `python real_server.py http PORT`.
"""

from __future__ import annotations

import asyncio
import os
import sys
from pathlib import Path

from mcp.server import MCPServer
from mcp.server.mcpserver import Context, Image
from mcp.types import ToolAnnotations

server = MCPServer("real", log_level="ERROR")


@server.tool(annotations=ToolAnnotations(read_only_hint=True))
def echo(text: str) -> str:
    """Say it again."""
    return text


@server.tool(annotations=ToolAnnotations(destructive_hint=True))
def wipe(name: str) -> str:
    """Wipe it."""
    return f"wiped {name}"


@server.tool()
def environment(name: str) -> str:
    """A variable as the server sees it."""
    return os.environ.get(name, "(unset)")


@server.tool()
def die() -> str:
    """End the process in the middle of the call."""
    os._exit(3)


@server.tool()
def fail() -> str:
    """Fail."""
    raise ValueError("the disk is full")


@server.tool()
def picture() -> Image:
    """A picture."""
    return Image(data=b"\x89PNG" * 100, format="png")


@server.tool()
async def work(context: Context, notes: str) -> str:
    """Work until somebody says stop, and note how it went."""
    await context.report_progress(1, 10, "begun")
    try:
        await asyncio.sleep(60)
    except BaseException:
        Path(notes).write_text("stopped")
        raise
    return "done"


@server.tool()
async def grow(context: Context) -> str:
    """Add another tool."""

    def grown() -> str:
        """Was not there before."""
        return "grown"

    server.add_tool(grown)
    await context.notify_tools_changed()
    return "ok"


if __name__ == "__main__":
    if sys.argv[1] == "http":
        server.run("streamable-http", port=int(sys.argv[2]))
    else:
        server.run("stdio")
