"""One connection to an MCP server through the official SDK.

The only file of the client side that imports the SDK; `hermes.mcp.sdk` loads it when there is a
server to talk to. Everything here runs on one event loop, and `connected` is left by the task that
entered it.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path
from typing import Any, Literal

import httpx2
import mcp_types as types
from mcp import Client, MCPError
from mcp.client.stdio import StdioServerParameters, stdio_client
from mcp.client.streamable_http import streamable_http_client
from mcp_types.version import MODERN_PROTOCOL_VERSIONS
from pydantic import ValidationError

from hermes.mcp.last_words import LastWords, overheard
from hermes.mcp.outcomes import Lost, NotSent, Refused, TookTooLong
from hermes.settings.mcp_settings import McpServerSettings

MOST_PAGES = 50
_SESSION_UNKNOWN = ("Session terminated", "Session not found")
_READ_SECONDS = 300.0

Mode = Literal["auto", "legacy"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Occasion:
    """How to connect this time, and who wants to know what happens."""

    settings: McpServerSettings
    environment: Mapping[str, str]
    """All that a server's process sees."""
    folder: Path
    mode: Mode
    """`auto` asks for the newest protocol first, which some older servers cannot bear."""
    on_change: Callable[[], None]
    """The list of tools is not what it was."""
    on_end: Callable[[], None]
    """The server has hung up."""
    words: LastWords
    statuses: list[int]
    """Takes the HTTP statuses that were no success."""


class Connection:
    def __init__(self, client: Client) -> None:
        self._client = client

    async def tools(self) -> list[dict[str, Any]]:
        """As they came over the wire, from all pages."""
        if self._client.server_capabilities.tools is None:
            return []
        found: list[dict[str, Any]] = []
        cursor: str | None = None
        for _ in range(MOST_PAGES):
            page = await self._client.list_tools(cursor=cursor)
            found += (
                tool.model_dump(by_alias=True, mode="json", exclude_none=True)
                for tool in page.tools
            )
            cursor = page.next_cursor
            if cursor is None:
                break
        return found

    async def call(
        self,
        name: str,
        arguments: Mapping[str, Any],
        *,
        timeout: float,  # noqa: ASYNC109  the SDK tells the server when it is over
        report: Callable[[str], None],
    ) -> dict[str, Any]:
        """The result as it came over the wire. Raises `CallFailed`; cancelling stops the server."""

        async def progressed(progress: float, total: float | None, message: str | None) -> None:
            report(message or (f"{progress:g}" if total is None else f"{progress:g} of {total:g}"))

        try:
            result = await self._client.call_tool(
                name, dict(arguments), read_timeout_seconds=timeout, progress_callback=progressed
            )
        except MCPError as error:
            raise _failure(error) from error
        except (RuntimeError, ValidationError) as error:
            # The SDK's word for answers that are not what the server said they would be.
            raise Refused(f"The server's answer is not valid: {_first_line(error)}") from error
        return result.model_dump(by_alias=True, mode="json", exclude_none=True)

    async def follow_changes(self, on_change: Callable[[], None]) -> None:
        """Of servers that speak the newer protocol; older ones tell without being asked."""
        if self._client.protocol_version not in MODERN_PROTOCOL_VERSIONS:
            return
        tools = self._client.server_capabilities.tools
        if tools is None or not tools.list_changed:
            return
        async with self._client.listen(tools_list_changed=True) as changes:
            async for _change in changes:
                on_change()


@asynccontextmanager
async def connected(occasion: Occasion) -> AsyncIterator[Connection]:
    """Raises whatever the SDK, the system or the server's process come up with."""

    async def heard(message: object) -> None:
        if isinstance(message, types.ToolListChangedNotification):
            occasion.on_change()
        elif isinstance(message, Exception):
            occasion.words.add("something on stdout that is not MCP")

    client = Client(
        _transport(occasion),
        mode=occasion.mode,
        message_handler=heard,
        client_info=types.Implementation(name="hermes-gateway", version=version("hermes-gateway")),
        cache=None,
    )
    async with client:
        yield Connection(client)


@asynccontextmanager
async def _transport(occasion: Occasion) -> AsyncIterator[Any]:
    opening = _over_http if occasion.settings.url else _over_pipes
    async with opening(occasion) as (read, write):
        yield _Watched(read, occasion.on_end), write


@asynccontextmanager
async def _over_pipes(occasion: Occasion) -> AsyncIterator[Any]:
    settings = occasion.settings
    parameters = StdioServerParameters(
        command=settings.command,
        args=list(settings.args),
        env=dict(occasion.environment),
        cwd=settings.cwd or occasion.folder,
        encoding_error_handler="replace",
    )
    async with AsyncExitStack() as stack:
        async with overheard(occasion.words) as stderr:
            streams = await stack.enter_async_context(stdio_client(parameters, stderr))
        yield streams


@asynccontextmanager
async def _over_http(occasion: Occasion) -> AsyncIterator[Any]:
    settings = occasion.settings

    async def note(response: httpx2.Response) -> None:
        if response.status_code >= 400:
            occasion.statuses.append(response.status_code)

    timeout = httpx2.Timeout(settings.connect_timeout_seconds, read=_READ_SECONDS)
    async with (
        httpx2.AsyncClient(
            headers=dict(settings.headers), timeout=timeout, event_hooks={"response": [note]}
        ) as http,
        streamable_http_client(settings.url, http_client=http) as streams,
    ):
        yield streams


class _Watched:
    """The SDK's stream of what a server says, telling when there will be no more of it."""

    def __init__(self, stream: Any, on_end: Callable[[], None]) -> None:
        self._stream = stream
        self._on_end = on_end

    def __getattr__(self, name: str) -> Any:
        return getattr(self._stream, name)

    def __aiter__(self) -> _Watched:
        return self

    async def __anext__(self) -> Any:
        try:
            return await self._stream.__anext__()
        except StopAsyncIteration:
            self._on_end()
            raise

    async def __aenter__(self) -> _Watched:
        await self._stream.__aenter__()
        return self

    async def __aexit__(self, *error: Any) -> Any:
        return await self._stream.__aexit__(*error)


def _failure(error: MCPError) -> Exception:
    if error.code == types.REQUEST_TIMEOUT:
        return TookTooLong()
    if error.message in _SESSION_UNKNOWN:
        return NotSent()
    if error.code == types.CONNECTION_CLOSED:
        return Lost()
    return Refused(error.message)


def _first_line(error: Exception) -> str:
    return str(error).partition("\n")[0][:300]
