"""/v1/chat/completions with `store: true`: keeping completions, and what can be done with them."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

from aiohttp import web

from hermes.core.errors import InvalidRequest, NotFound
from hermes.core.ports import ChatRecords
from hermes.core.turn import Outcome, TurnResult
from hermes.server.answers import json_answer
from hermes.server.seams import Seams
from hermes.server.turns import read_body
from hermes.wire import stored_chats as wire
from hermes.wire.chat import ChatHead, ChatRequest, completion

T = TypeVar("T")


async def keep(seams: Seams, head: ChatHead, asked: ChatRequest, result: TurnResult) -> None:
    """Store a completion that can be used; a failed turn is no completion."""
    if result.outcome is Outcome.FAILED or not (result.text or result.pending or result.approvals):
        return
    answer = completion(head, result)
    metadata = asked.parameters.metadata
    await _in_store(seams, lambda store: store.put(answer, asked.messages, metadata))


async def list_chats(request: web.Request, seams: Seams) -> web.StreamResponse:
    page = wire.parse_page(request.query)
    found = await _in_store(
        seams,
        lambda store: store.page(
            limit=page.limit + 1,
            after=page.after,
            newest_first=page.newest_first,
            model=page.model,
            metadata=page.metadata,
        ),
    )
    if found is None:
        raise _unknown_cursor(page.after)
    return json_answer(wire.page_object(found, page.limit))


async def get_chat(request: web.Request, seams: Seams) -> web.StreamResponse:
    chat_id = request.match_info["completion_id"]
    return json_answer(_found(await _in_store(seams, lambda store: store.get(chat_id)), chat_id))


async def update_chat(request: web.Request, seams: Seams) -> web.StreamResponse:
    chat_id = request.match_info["completion_id"]
    metadata = wire.parse_update(await read_body(request))
    changed = await _in_store(seams, lambda store: store.set_metadata(chat_id, metadata))
    return json_answer(_found(changed, chat_id))


async def delete_chat(request: web.Request, seams: Seams) -> web.StreamResponse:
    chat_id = request.match_info["completion_id"]
    if not await _in_store(seams, lambda store: store.delete(chat_id)):
        raise _unknown(chat_id)
    return json_answer(wire.deleted(chat_id))


async def list_messages(request: web.Request, seams: Seams) -> web.StreamResponse:
    chat_id = request.match_info["completion_id"]
    page = wire.parse_page(request.query)
    asked = _found(await _in_store(seams, lambda store: store.messages(chat_id)), chat_id)
    listed = wire.message_page(wire.stored_messages(chat_id, asked), page)
    if listed is None:
        raise _unknown_cursor(page.after)
    return json_answer(listed)


async def _in_store(seams: Seams, work: Callable[[ChatRecords], T]) -> T:
    return await seams.storage.run(lambda: work(seams.chats()))


def _found(value: T | None, chat_id: str) -> T:
    if value is None:
        raise _unknown(chat_id)
    return value


def _unknown(chat_id: str) -> NotFound:
    return NotFound(
        f"No chat completion with id '{chat_id[:100]}' is stored: send 'store': true to keep one; "
        "the oldest are dropped for newer ones.",
        code="completion_not_found",
        param="completion_id",
    )


def _unknown_cursor(after: str | None) -> InvalidRequest:
    return InvalidRequest(
        f"'after' must be an id of this list, not '{(after or '')[:100]}'.",
        param="after",
        code="invalid_value",
    )
