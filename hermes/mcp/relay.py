"""Passes MCP messages between standard input and output and a gateway's /mcp.

Imports the SDK, so `hermes.mcp.sdk` loads it. Understands no message: what the client and the
gateway say to each other is theirs.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from typing import Any

import anyio
import httpx2
import mcp_types as types
from mcp.client.streamable_http import streamable_http_client
from mcp.shared.message import SessionMessage
from pydantic import ValidationError

LARGEST_EVENT = 64 * 1024 * 1024
_CONNECT_SECONDS = 30.0
_READ_SECONDS = 300.0
"""A stream that is open is heard from every few seconds."""


async def relay(
    url: str,
    headers: Mapping[str, str],
    stdin: asyncio.StreamReader,
    stdout: asyncio.StreamWriter,
) -> None:
    """Until the client closes its end. Raises when the gateway goes away."""
    timeout = httpx2.Timeout(_CONNECT_SECONDS, read=_READ_SECONDS)
    async with (
        httpx2.AsyncClient(headers=dict(headers), timeout=timeout) as http,
        streamable_http_client(url, http_client=http, max_sse_event_size=LARGEST_EVENT) as streams,
        anyio.create_task_group() as group,
    ):
        answers, questions = streams
        group.start_soon(_pass_answers, answers, stdout)
        await _pass_questions(stdin, questions, stdout)
        group.cancel_scope.cancel()


async def _pass_questions(
    stdin: asyncio.StreamReader, questions: Any, stdout: asyncio.StreamWriter
) -> None:
    while line := await stdin.readline():
        if not line.strip():
            continue
        try:
            message = types.jsonrpc_message_adapter.validate_json(line, by_name=False)
        except ValidationError:
            await _write(stdout, _NOT_A_MESSAGE)
            continue
        await questions.send(SessionMessage(message))


async def _pass_answers(answers: Any, stdout: asyncio.StreamWriter) -> None:
    async for each in answers:
        if isinstance(each, SessionMessage):
            await _write(stdout, each.message)


async def _write(stdout: asyncio.StreamWriter, message: types.JSONRPCMessage) -> None:
    line = message.model_dump_json(by_alias=True, exclude_unset=True)
    stdout.write(line.encode() + b"\n")
    await stdout.drain()


_NOT_A_MESSAGE = types.JSONRPCError(
    jsonrpc="2.0",
    id=None,
    error=types.ErrorData(code=types.PARSE_ERROR, message="This line is no JSON-RPC message."),
)
