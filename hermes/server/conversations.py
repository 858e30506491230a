"""/v1/conversations: conversations that clients make, read, edit and continue."""

from __future__ import annotations

from typing import Any

from aiohttp import web

from hermes.core.errors import InvalidRequest
from hermes.core.ids import new_id
from hermes.core.ports import ItemPage, ResponseRecords
from hermes.server.answers import json_answer
from hermes.server.kept_answers import created_once
from hermes.server.response_records import CONVERSATION_PREFIX
from hermes.server.response_request import existing_conversation, outside
from hermes.server.seams import Seams
from hermes.server.turns import included, read_body, read_optional_body
from hermes.wire.conversations import conversation_deleted, conversation_object, read_new_items
from hermes.wire.pages import item_list, parse_item_query, unknown_item
from hermes.wire.response_echo import parse_metadata
from hermes.wire.response_parameters import check_include


@created_once
async def create(request: web.Request, seams: Seams) -> web.StreamResponse:
    body = await read_optional_body(request)
    metadata = parse_metadata(body)
    items = read_new_items(body, await outside(seams, body.get("items")), required=False)
    made = await seams.storage.run(
        lambda: seams.responses().conversations.create(new_id(CONVERSATION_PREFIX), metadata, items)
    )
    return json_answer(conversation_object(made))


async def get(request: web.Request, seams: Seams) -> web.StreamResponse:
    conversation_id = request.match_info["conversation_id"]
    head = await seams.storage.run(
        lambda: existing_conversation(seams.responses(), conversation_id)
    )
    return json_answer(conversation_object(head))


async def update(request: web.Request, seams: Seams) -> web.StreamResponse:
    conversation_id = request.match_info["conversation_id"]
    body = await read_body(request)
    if "metadata" not in body:
        raise InvalidRequest(
            "Nothing to change: send 'metadata'.",
            param="metadata",
            code="missing_required_parameter",
        )
    metadata = parse_metadata(body)

    def change() -> dict[str, Any]:
        records = seams.responses()
        existing_conversation(records, conversation_id)
        records.conversations.set_metadata(conversation_id, metadata)
        return conversation_object(existing_conversation(records, conversation_id))

    return json_answer(await seams.storage.run(change))


async def delete(request: web.Request, seams: Seams) -> web.StreamResponse:
    """Responses that were made in it stay."""
    conversation_id = request.match_info["conversation_id"]

    def remove() -> None:
        records = seams.responses()
        existing_conversation(records, conversation_id)
        records.conversations.delete(conversation_id)

    await seams.storage.run(remove)
    return json_answer(conversation_deleted(conversation_id))


async def list_items(request: web.Request, seams: Seams) -> web.StreamResponse:
    conversation_id = request.match_info["conversation_id"]
    check_include(included(request))
    wanted = parse_item_query(request.query)

    def read() -> ItemPage | None:
        records = seams.responses()
        existing_conversation(records, conversation_id)
        return records.conversations.page(
            conversation_id,
            limit=wanted.limit,
            after=wanted.after,
            newest_first=wanted.newest_first,
        )

    page = await seams.storage.run(read)
    if page is None:
        raise unknown_item(str(wanted.after), param="after")
    return json_answer(item_list(page))


@created_once
async def add_items(request: web.Request, seams: Seams) -> web.StreamResponse:
    conversation_id = request.match_info["conversation_id"]
    body = await read_body(request)
    items = read_new_items(body, await outside(seams, body.get("items")), required=True)

    def add() -> None:
        records = seams.responses()
        existing_conversation(records, conversation_id)
        records.conversations.add_items(conversation_id, items)

    await seams.storage.run(add)
    return json_answer(item_list(ItemPage(items=items, has_more=False)))


async def get_item(request: web.Request, seams: Seams) -> web.StreamResponse:
    check_include(included(request))
    conversation_id, item_id = _names(request)

    def read() -> dict[str, Any] | None:
        records = seams.responses()
        existing_conversation(records, conversation_id)
        return records.conversations.get_item(conversation_id, item_id)

    item = await seams.storage.run(read)
    if item is None:
        raise unknown_item(item_id, param="item_id")
    return json_answer(item)


async def delete_item(request: web.Request, seams: Seams) -> web.StreamResponse:
    conversation_id, item_id = _names(request)

    def remove(records: ResponseRecords) -> dict[str, Any]:
        head = existing_conversation(records, conversation_id)
        if not records.conversations.delete_item(conversation_id, item_id):
            raise unknown_item(item_id, param="item_id")
        return conversation_object(head)

    return json_answer(await seams.storage.run(lambda: remove(seams.responses())))


def _names(request: web.Request) -> tuple[str, str]:
    return request.match_info["conversation_id"], request.match_info["item_id"]
