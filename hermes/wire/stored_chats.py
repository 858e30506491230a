"""Stored chat completions on the wire: pages of them, their messages, their metadata."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from hermes.core.errors import InvalidRequest
from hermes.wire.chat_parameters import read_metadata
from hermes.wire.lenient import choice
from hermes.wire.queries import whole_number

DEFAULT_LIMIT = 20
LARGEST_LIMIT = 100

_MESSAGE_KEYS = ("name", "tool_calls", "tool_call_id", "refusal")


@dataclass(frozen=True, slots=True, kw_only=True)
class ChatPage:
    """Which part of a list is wanted."""

    limit: int = DEFAULT_LIMIT
    after: str | None = None
    newest_first: bool = False
    model: str | None = None
    metadata: dict[str, str] = field(default_factory=dict)


def parse_page(query: Mapping[str, str]) -> ChatPage:
    return ChatPage(
        limit=whole_number(query, "limit", DEFAULT_LIMIT, low=1, high=LARGEST_LIMIT),
        after=query.get("after") or None,
        newest_first=choice(query, "order", ("asc", "desc"), "asc") == "desc",
        model=query.get("model") or None,
        metadata={
            name[len("metadata[") : -1]: value
            for name, value in query.items()
            if name.startswith("metadata[") and name.endswith("]")
        },
    )


def parse_update(body: Mapping[str, Any]) -> dict[str, str]:
    """The new metadata; nothing else of a stored completion can change."""
    if "metadata" not in body:
        raise InvalidRequest(
            "'metadata' is required: an object of texts, or null to remove it.",
            param="metadata",
            code="missing_required_parameter",
        )
    return read_metadata(body)


def page_object(found: Sequence[Mapping[str, Any]], limit: int) -> dict[str, Any]:
    """A list of at most `limit`; `found` has one more when there are more."""
    data = list(found[:limit])
    return {
        "object": "list",
        "data": data,
        "first_id": data[0]["id"] if data else None,
        "last_id": data[-1]["id"] if data else None,
        "has_more": len(found) > limit,
    }


def stored_messages(chat_id: str, messages: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """What was asked, each message with an id; parts stand beside the text and not in its place."""
    return [_message(f"{chat_id}-{at}", message) for at, message in enumerate(messages)]


def message_page(messages: list[dict[str, Any]], page: ChatPage) -> dict[str, Any] | None:
    """A part of the messages; None if `after` is none of them."""
    ordered = messages[::-1] if page.newest_first else messages
    start = 0
    if page.after is not None:
        ids = [message["id"] for message in ordered]
        if page.after not in ids:
            return None
        start = ids.index(page.after) + 1
    return page_object(ordered[start : start + page.limit + 1], page.limit)


def deleted(chat_id: str) -> dict[str, Any]:
    return {"object": "chat.completion.deleted", "id": chat_id, "deleted": True}


def _message(message_id: str, message: Mapping[str, Any]) -> dict[str, Any]:
    content = message.get("content")
    parts = content if isinstance(content, list) else None
    kept = {key: message[key] for key in _MESSAGE_KEYS if message.get(key) is not None}
    return {
        "id": message_id,
        "role": message["role"],
        "content": None if parts is not None else content,
        "content_parts": parts,
        **kept,
    }
