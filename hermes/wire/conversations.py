"""The Conversations API: requests read, objects written."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from hermes.core.errors import InvalidRequest
from hermes.core.ports import ConversationHead
from hermes.wire.kept_items import kept_items
from hermes.wire.lenient import wrong_type
from hermes.wire.response_input import Outside, messages_of, read_items

Item = dict[str, Any]

MOST_AT_ONCE = 20


def read_new_items(body: Mapping[str, Any], outside: Outside, *, required: bool) -> list[Item]:
    """The items to be added, checked as the input of a response is, each with an id."""
    value = body.get("items")
    if value is None and not required:
        return []
    if not isinstance(value, list):
        raise wrong_type("items", "a list of items", value)
    if len(value) > MOST_AT_ONCE:
        raise InvalidRequest(
            f"'items' may hold up to {MOST_AT_ONCE} items; send the others with another request.",
            param="items",
            code="invalid_value",
        )
    if not value and not required:
        return []
    items = read_items(value, outside, param="items")
    messages_of(items, outside, param="items")
    return kept_items(items)


def conversation_object(head: ConversationHead) -> dict[str, Any]:
    return {
        "id": head.id,
        "object": "conversation",
        "created_at": head.created_at,
        "metadata": head.metadata,
    }


def conversation_deleted(conversation_id: str) -> dict[str, Any]:
    return {"id": conversation_id, "object": "conversation.deleted", "deleted": True}
