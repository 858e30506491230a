"""The memories API: requests read, objects written."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from hermes.core.errors import InvalidRequest, NotFound
from hermes.core.memories import Memory, MemoryPage, UnfitMemory, fit_text
from hermes.wire.lenient import shown, wrong_type


def parse_text(body: Mapping[str, Any]) -> str:
    """The fact to remember."""
    text = body.get("text")
    if text is None:
        raise InvalidRequest(
            "'text' is required: the fact to remember.",
            param="text",
            code="missing_required_parameter",
        )
    if not isinstance(text, str):
        raise wrong_type("text", "a string", text)
    try:
        return fit_text(text)
    except UnfitMemory as error:
        raise InvalidRequest(str(error), param="text", code="invalid_value") from error


def memory_object(memory: Memory) -> dict[str, Any]:
    return {
        "id": memory.id,
        "object": "hermes.memory",
        "text": memory.text,
        "created_at": memory.created_at,
        "updated_at": memory.updated_at,
    }


def memory_list(page: MemoryPage) -> dict[str, Any]:
    memories = page.memories
    return {
        "object": "list",
        "data": [memory_object(memory) for memory in memories],
        "first_id": memories[0].id if memories else "",
        "last_id": memories[-1].id if memories else "",
        "has_more": page.has_more,
    }


def memory_deleted(memory_id: str) -> dict[str, Any]:
    return {"id": memory_id, "object": "hermes.memory.deleted", "deleted": True}


def memories_deleted(count: int) -> dict[str, Any]:
    return {"object": "hermes.memory.list.deleted", "deleted": count}


def unknown_memory(memory_id: str, *, param: str) -> NotFound:
    return NotFound(
        f"There is no memory {shown(memory_id)} in this scope; GET /api/memories lists them.",
        param=param,
        code="memory_not_found",
    )
