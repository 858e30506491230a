"""Input items in the form in which they are stored and listed: whole, and each with an id."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from hermes.core.ids import new_id

Item = dict[str, Any]

_PREFIXES = {
    "message": "msg_",
    "function_call": "fc_",
    "function_call_output": "fco_",
    "mcp_call": "mcp_",
    "reasoning": "rs_",
    "compaction": "cmp_",
}
_DEFAULTS: dict[str, dict[str, Any]] = {
    "message": {"status": "completed"},
    "function_call": {"status": "completed"},
    "function_call_output": {"status": "completed"},
    "reasoning": {"summary": []},
    "mcp_call": {"server_label": ""},
}


def kept_items(items: Iterable[Item]) -> list[Item]:
    """Items that were checked before, as strict readers want to see them again."""
    return [_kept(item) for item in items]


def _kept(raw: Item) -> Item:
    kind = raw.get("type") or "message"
    given = {key: value for key, value in raw.items() if value is not None}
    item: Item = {"id": new_id(_PREFIXES[kind]), **given, "type": kind}
    for key, default in _DEFAULTS.get(kind, {}).items():
        item.setdefault(key, default)
    if kind == "message":
        item["content"] = _parts(item.get("content"), str(item["role"]))
    return item


def _parts(content: Any, role: str) -> list[Any]:
    is_answer = role == "assistant"
    if isinstance(content, str):
        content = [{"type": "output_text" if is_answer else "input_text", "text": content}]
    return [_answer_part(part) if is_answer else _question_part(part) for part in content]


def _answer_part(part: dict[str, Any]) -> dict[str, Any]:
    if part.get("type") == "refusal":
        return part
    return {"annotations": [], **part, "type": "output_text"}


def _question_part(part: dict[str, Any]) -> dict[str, Any]:
    match part.get("type"):
        case "text" | "output_text":
            return {"type": "input_text", "text": part.get("text", "")}
        case "image_url":
            return _image_part(part)
        case "input_image":
            return {"detail": "auto", **part}
        case _:
            return part


def _image_part(part: dict[str, Any]) -> dict[str, Any]:
    """Clients of the chat dialect send images in its shape."""
    source = part.get("image_url")
    image = source if isinstance(source, dict) else {"url": source}
    return {
        "type": "input_image",
        "image_url": image.get("url"),
        "detail": image.get("detail") or "auto",
    }
