"""The gateway's tools over MCP, with the official SDK; loaded when the first client comes."""

from __future__ import annotations

import logging
from importlib.metadata import version
from typing import Any

import mcp_types as types
from mcp import MCPError
from mcp.server.auth.middleware.bearer_auth import AuthenticatedUser
from mcp.server.auth.provider import AccessToken
from mcp.server.context import ServerRequestContext
from mcp.server.lowlevel import Server
from mcp.server.streamable_http_manager import StreamableHTTPSessionManager

from hermes.core.errors import ApiError
from hermes.server.auth import Caller
from hermes.server.mcp_runs import Report, Told, Wish
from hermes.server.mcp_tools import INSTRUCTIONS, TOOLS, OfferedTool
from hermes.server.seams import Seams

log = logging.getLogger(__name__)

MOST_SESSIONS = 1_000
CALLER = "hermes.caller"
"""Where a request's scope says who asks."""


def session_manager(seams: Seams) -> StreamableHTTPSessionManager:
    """Host, origin and key were checked before anything comes here."""
    return StreamableHTTPSessionManager(
        _server(seams),
        max_sessions=MOST_SESSIONS,
        max_request_body_size=seams.listener.max_body_bytes,
    )


def scope_of(caller: Caller) -> dict[str, Any]:
    """What a request says about who sent it: a session belongs to the key that began it."""
    token = AccessToken(token="", client_id=caller.owner, scopes=[])
    return {CALLER: caller, "user": AuthenticatedUser(token)}


def _server(seams: Seams) -> Server[Any]:
    async def list_tools(_context: Any, _params: Any) -> types.ListToolsResult:
        return types.ListToolsResult(tools=[_described(tool) for tool in TOOLS.values()])

    async def call_tool(
        context: ServerRequestContext[Any, Any], params: types.CallToolRequestParams
    ) -> types.CallToolResult:
        tool = TOOLS.get(params.name)
        if tool is None:
            names = ", ".join(TOOLS)
            raise MCPError(types.INVALID_PARAMS, f"There is no such tool; there are: {names}.")
        assert context.request is not None
        return await _answered(
            tool,
            Wish(
                seams=seams,
                caller=context.request.scope[CALLER],
                arguments=params.arguments or {},
                report=_reporting(context),
            ),
        )

    return Server(
        "hermes-gateway",
        version=version("hermes-gateway"),
        instructions=INSTRUCTIONS,
        on_list_tools=list_tools,
        on_call_tool=call_tool,
    )


async def _answered(tool: OfferedTool, wish: Wish) -> types.CallToolResult:
    try:
        told = await tool.answer(wish)
    except ApiError as error:
        return _result(Told(text=error.message, data={"code": error.code}, is_error=True))
    except Exception:  # the outermost edge: whatever went wrong, the client gets an answer
        log.exception("an MCP call failed", extra={"tool": tool.name})
        said = "The gateway failed to answer this call; its log says why."
        return _result(Told(text=said, data={"code": "internal_error"}, is_error=True))
    return _result(told)


def _result(told: Told) -> types.CallToolResult:
    return types.CallToolResult(
        content=[types.TextContent(type="text", text=told.text)],
        structured_content=dict(told.data),
        is_error=told.is_error,
    )


def _reporting(context: ServerRequestContext[Any, Any]) -> Report:
    """Counts the lines: progress must grow, and nobody knows how much there will be."""
    lines = 0

    async def report(line: str) -> None:
        nonlocal lines
        lines += 1
        await context.session.report_progress(lines, None, line)

    return report


def _described(tool: OfferedTool) -> types.Tool:
    return types.Tool(
        name=tool.name,
        title=tool.title,
        description=tool.description,
        input_schema=dict(tool.parameters),
        annotations=types.ToolAnnotations.model_validate(dict(tool.hints)),
    )
