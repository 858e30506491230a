"""Everything that is described: schemas by their names, descriptions by the names of the routes."""

from __future__ import annotations

from collections.abc import Mapping

from hermes.wire.schemas import (
    about,
    chat,
    chat_request,
    conversations,
    errors,
    files,
    kept_items,
    mcp,
    memories,
    messages,
    models,
    receipts,
    relay,
    response_items,
    response_request,
    responses,
    runs,
    session_archive,
    sessions,
    stored_chats,
    stored_responses,
    usage,
)
from hermes.wire.schemas.builders import Schema
from hermes.wire.schemas.description import Description

SCHEMAS: Mapping[str, Schema] = {
    **errors.SCHEMAS,
    **about.SCHEMAS,
    **models.SCHEMAS,
    **messages.SCHEMAS,
    **chat_request.SCHEMAS,
    **chat.SCHEMAS,
    **response_request.SCHEMAS,
    **response_items.SCHEMAS,
    **responses.SCHEMAS,
    **stored_responses.SCHEMAS,
    **kept_items.SCHEMAS,
    **conversations.SCHEMAS,
    **sessions.SCHEMAS,
    **session_archive.SCHEMAS,
    **runs.SCHEMAS,
    **receipts.SCHEMAS,
    **files.SCHEMAS,
    **memories.SCHEMAS,
    **mcp.SCHEMAS,
    **stored_chats.SCHEMAS,
    **usage.SCHEMAS,
}

DESCRIPTIONS: Mapping[str, Description] = {
    **about.DESCRIPTIONS,
    **models.DESCRIPTIONS,
    **chat.DESCRIPTIONS,
    **responses.DESCRIPTIONS,
    **stored_responses.DESCRIPTIONS,
    **conversations.DESCRIPTIONS,
    **sessions.DESCRIPTIONS,
    **session_archive.DESCRIPTIONS,
    **runs.DESCRIPTIONS,
    **receipts.DESCRIPTIONS,
    **files.DESCRIPTIONS,
    **memories.DESCRIPTIONS,
    **mcp.DESCRIPTIONS,
    **stored_chats.DESCRIPTIONS,
    **relay.DESCRIPTIONS,
    **usage.DESCRIPTIONS,
}
