"""The tools that the gateway offers to MCP clients: one table for stdio and HTTP.

Knows neither the protocol nor the SDK; `hermes.server.mcp_protocol` does.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from typing import Any

import orjson

from hermes.core.errors import Unavailable
from hermes.core.ports import SessionStore
from hermes.server import mcp_runs
from hermes.server.mcp_runs import Told, Wish
from hermes.server.session_store import existing, in_store
from hermes.wire import sessions as wire
from hermes.wire.lenient import text
from hermes.wire.session_search import parse_search, search_answer

INSTRUCTIONS = (
    "An agent that works with its own tools on its machine: files, commands, the web. Give it a "
    "task with `run`; a session_id continues a conversation. `sessions` finds what was said before."
)
MESSAGES_AT_ONCE = 50

_TEXT = {"type": "string"}
_READS = {"readOnlyHint": True, "openWorldHint": False}
_ACTS = {"readOnlyHint": False, "destructiveHint": True, "openWorldHint": True}


@dataclass(frozen=True, slots=True, kw_only=True)
class OfferedTool:
    name: str
    title: str
    description: str
    parameters: Mapping[str, Any]
    hints: Mapping[str, bool]
    answer: Callable[[Wish], Awaitable[Told]]
    """Raises `ApiError`."""


async def sessions(wish: Wish) -> Told:
    """List them, search them, or read one of them."""
    if wish.arguments.get("session_id") is not None:
        return await _read(wish)
    if wish.arguments.get("query") is not None:
        return await _search(wish)
    page = wire.parse_page(_words(wish.arguments))

    def listed(store: SessionStore) -> dict[str, Any]:
        rows = store.list_sessions(limit=page.limit, offset=page.offset)
        return wire.session_list(rows, page, total=store.count_sessions())

    return _as_json(await in_store(wish.seams, listed))


async def _search(wish: Wish) -> Told:
    words = _words(wish.arguments)
    asked = parse_search({**words, "q": text(wish.arguments, "query") or ""})
    page = await in_store(
        wish.seams, lambda store: store.search(asked.words, limit=asked.limit, offset=asked.offset)
    )
    if page is None:
        raise Unavailable(
            "Sessions cannot be searched: this Python's SQLite has no FTS5.",
            code="search_unavailable",
        )
    return _as_json(search_answer(asked, page))


async def _read(wish: Wish) -> Told:
    session_id = text(wish.arguments, "session_id") or ""
    said = {"limit": str(MESSAGES_AT_ONCE), "order": "desc", **_words(wish.arguments)}
    wanted = wire.parse_message_query(said)
    assert wanted is not None

    def read(store: SessionStore) -> dict[str, Any]:
        existing(store, session_id)
        return wire.message_page(session_id, store.page_messages(session_id, wanted))

    return _as_json(await in_store(wish.seams, read))


def _words(arguments: Mapping[str, Any]) -> dict[str, str]:
    """Numbers as they would stand in a URL, where they are checked."""
    numbers = ("limit", "offset", "before")
    return {name: str(arguments[name]) for name in numbers if arguments.get(name) is not None}


def _as_json(data: dict[str, Any]) -> Told:
    return Told(text=orjson.dumps(data).decode(), data=data)


def _object(properties: Mapping[str, Any], *required: str) -> dict[str, Any]:
    return {
        "type": "object",
        "properties": dict(properties),
        "required": list(required),
        "additionalProperties": False,
    }


def _about(schema: Mapping[str, Any], words: str) -> dict[str, Any]:
    return {**schema, "description": words}


TOOLS: Mapping[str, OfferedTool] = {
    tool.name: tool
    for tool in (
        OfferedTool(
            name="run",
            title="Give the agent a task",
            description="Have the agent work on something and answer. It may take minutes; "
            "progress is reported, and cancelling stops it.",
            parameters=_object(
                {
                    "message": _about(_TEXT, "What the agent is to do, in plain words."),
                    "session_id": _about(
                        _TEXT, "Continue this conversation; every answer names its session_id."
                    ),
                    "model": _about(_TEXT, "Another of the models that the gateway serves."),
                    "instructions": _about(_TEXT, "What else the agent should know or heed."),
                    "timeout": _about(
                        {"type": "number", "minimum": 1}, "Seconds after which it is stopped."
                    ),
                },
                "message",
            ),
            hints=_ACTS,
            answer=mcp_runs.run,
        ),
        OfferedTool(
            name="status",
            title="Look at a run",
            description="How it stands with a run, and what came of it; also after a restart.",
            parameters=_object({"run_id": _about(_TEXT, "As `run` told it.")}, "run_id"),
            hints=_READS,
            answer=mcp_runs.status,
        ),
        OfferedTool(
            name="approve",
            title="Answer a run that waits for approval",
            description="Pass on what the user decided about a run that waits for approval, and "
            "follow it to its end. Never decide this yourself: ask the user.",
            parameters=_object(
                {
                    "run_id": _about(_TEXT, "The run that waits."),
                    "decision": _about(
                        {"type": "string", "enum": ["once", "session", "always", "deny"]},
                        "What the user said.",
                    ),
                    "approval_id": _about(_TEXT, "One of several; without it all are meant."),
                },
                "run_id",
                "decision",
            ),
            hints=_ACTS,
            answer=mcp_runs.approve,
        ),
        OfferedTool(
            name="sessions",
            title="Earlier conversations",
            description="Without arguments: the latest sessions. With `query`: what was said in "
            "any of them. With `session_id`: the messages of one, the newest first.",
            parameters=_object(
                {
                    "query": _about(_TEXT, "Words to look for."),
                    "session_id": _about(_TEXT, "The session to read."),
                    "limit": {"type": "integer", "minimum": 1, "maximum": 100},
                    "offset": {"type": "integer", "minimum": 0},
                    "before": _about(
                        {"type": "integer", "minimum": 1}, "Only messages before this id."
                    ),
                }
            ),
            hints=_READS,
            answer=sessions,
        ),
    )
}
