"""The streamed form of a chat completion."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping

from aiohttp import web

from hermes.core.turn import TurnResult
from hermes.server.streaming import Stream, TurnView, write_stream
from hermes.wire.chat import ChatHead
from hermes.wire.chat_stream import ChatEncoder
from hermes.wire.tool_forms import CONTRACT_DIALECT, Dialect, Preview


async def write_chat(
    request: web.Request,
    head: ChatHead,
    view: TurnView,
    *,
    include_usage: bool,
    headers: Mapping[str, str],
    keepalive: float,
    preview: Preview,
    dialect: Dialect = CONTRACT_DIALECT,
    on_asking: Callable[[TurnResult], Awaitable[None]] | None = None,
) -> web.StreamResponse:
    """Write the turn as chunks."""
    encoder = ChatEncoder(head, include_usage=include_usage, preview=preview, dialect=dialect)
    stream = Stream(
        encoder=encoder,
        opening=[encoder.opening()],
        keepalive=keepalive,
        headers=headers,
        on_asking=on_asking,
    )
    return await write_stream(request, view, stream)
