"""Stored chat completions: lists of them, their messages, what can be changed."""

from __future__ import annotations

from hermes.wire.schemas.builders import (
    ANYTHING,
    Schema,
    boolean,
    constant,
    integer,
    list_of,
    map_of,
    one_of,
    or_null,
    record,
    ref,
    string,
    written_integer,
)
from hermes.wire.schemas.description import Body, Description, answers_json, path, query
from hermes.wire.schemas.errors import WITH_BODY
from hermes.wire.stored_chats import LARGEST_LIMIT

AREA = "Chat completions"

_ID = path("completion_id", "The id of a completion that was stored.")
_PAGE = (
    query("limit", "How many at most.", written_integer(1, LARGEST_LIMIT)),
    query("after", "The last id of the page before.", string()),
    query("order", "By age.", one_of("asc", "desc")),
)


def _list(item: Schema) -> Schema:
    return record(
        {
            "object": constant("list"),
            "data": list_of(item),
            "first_id": or_null(string()),
            "last_id": or_null(string()),
            "has_more": boolean(),
        }
    )


SCHEMAS = {
    "StoredChat": record(
        {
            "id": string(shortest=1),
            "created": integer(0),
            "model": string(),
            "object": constant("chat.completion"),
            "choices": list_of(ANYTHING, fewest=1, most=1),
            "usage": ref("ChatUsage"),
            "metadata": map_of(string(), most=16),
        },
        {"hermes": ref("Incomplete")},
    ),
    "StoredChatMessage": record(
        {
            "id": string(shortest=1),
            "role": string(),
            "content": or_null(string()),
            "content_parts": or_null(list_of(ANYTHING)),
        },
        {
            "name": string(),
            "tool_calls": list_of(ANYTHING),
            "tool_call_id": string(),
            "refusal": string(),
        },
    ),
}

DESCRIPTIONS = {
    "stored_chats": Description(
        summary="The completions that were stored",
        area=AREA,
        parameters=(*_PAGE, query("model", "Only those of this model.", string())),
        answers=answers_json(_list(ref("StoredChat")), "A page; `metadata[key]=value` filters."),
        errors=(400,),
    ),
    "stored_chat": Description(
        summary="One stored completion",
        area=AREA,
        parameters=(_ID,),
        answers=answers_json(ref("StoredChat"), "The completion."),
        errors=(404,),
    ),
    "stored_chat_update": Description(
        summary="Give a stored completion other metadata",
        area=AREA,
        parameters=(_ID,),
        body=Body(schema=record({"metadata": or_null(map_of(string(), most=16))})),
        answers=answers_json(ref("StoredChat"), "The completion as it is now."),
        errors=(*WITH_BODY, 404),
    ),
    "stored_chat_delete": Description(
        summary="Delete a stored completion",
        area=AREA,
        parameters=(_ID,),
        answers=answers_json(
            record(
                {
                    "object": constant("chat.completion.deleted"),
                    "id": string(),
                    "deleted": constant(True),
                }
            ),
            "It is gone.",
        ),
        errors=(404,),
    ),
    "stored_chat_messages": Description(
        summary="What a stored completion was asked",
        area=AREA,
        parameters=(_ID, *_PAGE),
        answers=answers_json(_list(ref("StoredChatMessage")), "A page of its messages."),
        errors=(400, 404),
    ),
}
