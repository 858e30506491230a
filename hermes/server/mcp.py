"""/mcp: the agent as an MCP server over streamable HTTP, for callers with the gateway's keys."""

from __future__ import annotations

from aiohttp import web

from hermes.core.errors import ApiError, InvalidRequest, MethodNotAllowed, Unavailable
from hermes.mcp import sdk
from hermes.server.asgi_bridge import PlainRefusal, answer_with
from hermes.server.mcp_endpoint import Protocol
from hermes.server.seams import Seams
from hermes.server.turns import read_bytes, stream_headers


async def answer(request: web.Request, seams: Seams) -> web.StreamResponse:
    """Refusals of the gateway are in its envelope; those of the protocol are in JSON-RPC's."""
    caller = seams.read_caller(request)
    if not sdk.is_installed():
        raise Unavailable(f"/mcp is not served. {sdk.MISSING}", code="mcp_unavailable")
    body = await read_bytes(request)
    protocol = await seams.mcp.opened(lambda: _load(seams))
    try:
        return await answer_with(
            protocol.app,
            request,
            body,
            scope=protocol.scope_of(caller),
            headers=stream_headers(request, seams, {}),
        )
    except PlainRefusal as refusal:
        raise _in_our_words(refusal) from refusal


def _in_our_words(refusal: PlainRefusal) -> ApiError:
    if refusal.status == MethodNotAllowed.status:
        return MethodNotAllowed("Begin a session with POST first; this method needs one.")
    return InvalidRequest(str(refusal) or "The request is no message of the protocol.")


async def _load(seams: Seams) -> Protocol:
    # It takes a second to import; others are answered meanwhile.
    module = await seams.storage.run(lambda: sdk.load("hermes.server.mcp_protocol"))
    manager = module.session_manager(seams)
    return Protocol(manager=manager, app=manager.handle_request, scope_of=module.scope_of)
