"""Conversations that clients make, read and edit item by item."""

from __future__ import annotations

from hermes.wire.conversations import MOST_AT_ONCE
from hermes.wire.schemas.builders import (
    constant,
    integer,
    list_of,
    map_of,
    or_null,
    record,
    ref,
    request,
    string,
)
from hermes.wire.schemas.description import Body, Description, answers_json, path
from hermes.wire.schemas.errors import KEYED, WITH_BODY
from hermes.wire.schemas.headers import IDEMPOTENCY_KEY, REPLAYED
from hermes.wire.schemas.kept_items import INCLUDE, PAGE
from hermes.wire.schemas.messages import METADATA

AREA = "Conversations"

_ID = path("conversation_id", "The id of a conversation.")
_ITEM_ID = path("item_id", "The id of one of its items.")

SCHEMAS = {
    "Conversation": record(
        {
            "id": string(shortest=1),
            "object": constant("conversation"),
            "created_at": integer(0),
            "metadata": map_of(string()),
        }
    ),
}

DESCRIPTIONS = {
    "conversation_create": Description(
        summary="Begin a conversation",
        area=AREA,
        parameters=(IDEMPOTENCY_KEY,),
        body=Body(
            schema=request(
                optional={
                    "items": list_of(ref("ResponseInputItem"), most=MOST_AT_ONCE),
                    "metadata": METADATA,
                }
            ),
            is_required=False,
        ),
        answers=answers_json(ref("Conversation"), "The new conversation.", headers=REPLAYED),
        errors=(*WITH_BODY, 404, *KEYED),
    ),
    "conversation": Description(
        summary="One conversation",
        area=AREA,
        parameters=(_ID,),
        answers=answers_json(ref("Conversation"), "The conversation."),
        errors=(404,),
    ),
    "conversation_update": Description(
        summary="Give a conversation other metadata",
        area=AREA,
        parameters=(_ID,),
        body=Body(schema=record({"metadata": or_null(METADATA)})),
        answers=answers_json(ref("Conversation"), "The conversation as it is now."),
        errors=(*WITH_BODY, 404),
    ),
    "conversation_delete": Description(
        summary="Delete a conversation; responses made in it stay",
        area=AREA,
        parameters=(_ID,),
        answers=answers_json(
            record(
                {
                    "id": string(),
                    "object": constant("conversation.deleted"),
                    "deleted": constant(True),
                }
            ),
            "It is gone.",
        ),
        errors=(404,),
    ),
    "conversation_items": Description(
        summary="One page of a conversation's items",
        area=AREA,
        parameters=(_ID, *PAGE, INCLUDE),
        answers=answers_json(ref("ItemList"), "The page."),
        errors=(400, 404),
    ),
    "conversation_items_add": Description(
        summary="Add items to a conversation",
        area=AREA,
        parameters=(_ID, IDEMPOTENCY_KEY),
        body=Body(
            schema=record({"items": list_of(ref("ResponseInputItem"), fewest=1, most=MOST_AT_ONCE)})
        ),
        answers=answers_json(ref("ItemList"), "The items that were added.", headers=REPLAYED),
        errors=(*WITH_BODY, 404, *KEYED),
    ),
    "conversation_item": Description(
        summary="One item of a conversation",
        area=AREA,
        parameters=(_ID, _ITEM_ID, INCLUDE),
        answers=answers_json(ref("KeptItem"), "The item."),
        errors=(400, 404),
    ),
    "conversation_item_delete": Description(
        summary="Take an item out of a conversation",
        area=AREA,
        parameters=(_ID, _ITEM_ID),
        answers=answers_json(ref("Conversation"), "The conversation without it."),
        errors=(404,),
    ),
}
