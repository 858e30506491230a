"""/api/memories: what the agent remembers for whoever asks; no key sees another's."""

from __future__ import annotations

import logging
from collections.abc import Callable
from typing import TypeVar

from aiohttp import web

from hermes.core.errors import ApiError, Conflict, Forbidden, HermesError, Unavailable
from hermes.core.memories import Memories, Memory, MemoryFull, MemoryPage, MemoryScope
from hermes.server.answers import json_answer
from hermes.server.kept_answers import created_once
from hermes.server.seams import Seams
from hermes.server.turns import read_body
from hermes.wire.memories import (
    memories_deleted,
    memory_deleted,
    memory_list,
    memory_object,
    parse_text,
    unknown_memory,
)
from hermes.wire.pages import parse_item_query

log = logging.getLogger(__name__)

T = TypeVar("T")


async def list_memories(request: web.Request, seams: Seams) -> web.StreamResponse:
    wanted = parse_item_query(request.query)

    def read(memories: Memories, scope: MemoryScope) -> MemoryPage:
        page = memories.page(
            scope, limit=wanted.limit, after=wanted.after, newest_first=wanted.newest_first
        )
        if page is None:
            raise unknown_memory(str(wanted.after), param="after")
        return page

    return json_answer(memory_list(await _in_store(request, seams, read)))


@created_once
async def create(request: web.Request, seams: Seams) -> web.StreamResponse:
    """What is remembered already is answered with the memory that there is."""
    text = parse_text(await read_body(request))
    added = await _in_store(request, seams, lambda memories, scope: memories.add(scope, text))
    return json_answer(memory_object(added), status=201)


async def get(request: web.Request, seams: Seams) -> web.StreamResponse:
    memory_id = request.match_info["memory_id"]
    found = await _in_store(
        request,
        seams,
        lambda memories, scope: _existing(memories.get(scope, memory_id), memory_id),
    )
    return json_answer(memory_object(found))


async def change(request: web.Request, seams: Seams) -> web.StreamResponse:
    memory_id = request.match_info["memory_id"]
    text = parse_text(await read_body(request))
    changed = await _in_store(
        request,
        seams,
        lambda memories, scope: _existing(memories.change(scope, memory_id, text), memory_id),
    )
    return json_answer(memory_object(changed))


async def delete(request: web.Request, seams: Seams) -> web.StreamResponse:
    memory_id = request.match_info["memory_id"]

    def remove(memories: Memories, scope: MemoryScope) -> None:
        if not memories.remove(scope, memory_id):
            raise unknown_memory(memory_id, param="memory_id")

    await _in_store(request, seams, remove)
    return json_answer(memory_deleted(memory_id))


async def delete_all(request: web.Request, seams: Seams) -> web.StreamResponse:
    """Those of this scope."""
    count = await _in_store(request, seams, lambda memories, scope: memories.clear(scope))
    return json_answer(memories_deleted(count))


def _existing(found: Memory | None, memory_id: str) -> Memory:
    if found is None:
        raise unknown_memory(memory_id, param="memory_id")
    return found


async def _in_store(
    request: web.Request, seams: Seams, work: Callable[[Memories, MemoryScope], T]
) -> T:
    """In a storage thread, with the scope that the request's key and headers name."""
    caller = seams.read_caller(request)
    scope = MemoryScope(owner=caller.owner, session_key=caller.session_key or "")
    memories = seams.memories()
    if memories is None or not memories.is_enabled():
        raise Forbidden(
            "Nothing is remembered here: memory.enabled is false in the gateway's config.yaml.",
            code="memory_disabled",
        )
    try:
        return await seams.storage.run(lambda: work(memories, scope))
    except MemoryFull as error:
        raise Conflict(str(error), code="memory_full") from error
    except ApiError:
        raise
    except HermesError as error:
        log.exception("memories not available")
        raise Unavailable(
            "What is remembered cannot be read or written; `hermes doctor` says why.",
            code="memory_store_unavailable",
            headers={"Retry-After": "5"},
        ) from error
