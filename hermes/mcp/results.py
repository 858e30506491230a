"""What a server answered to a call, as text for the model.

Knows the shapes of the protocol as plain JSON, not the SDK.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from hermes.core.remote_tools import RemoteAnswer

LONGEST = 2_000_000
"""Characters; what the model gets of it is capped where all tools are."""


def answer_of(result: Mapping[str, Any]) -> RemoteAnswer:
    """`result` is a `CallToolResult` as it came over the wire."""
    parts = [_text_of(block) for block in result.get("content") or ()]
    has_text = any(block.get("type") == "text" for block in result.get("content") or ())
    structured = result.get("structuredContent")
    # Whoever sends both sends the same thing twice, as the protocol recommends.
    if structured is not None and not has_text:
        parts.append(json.dumps(structured, ensure_ascii=False, default=str))
    text = "\n\n".join(part for part in parts if part)
    is_problem = result.get("isError") is True
    return RemoteAnswer(text=(text or _nothing(is_problem))[:LONGEST], is_problem=is_problem)


def _nothing(is_problem: bool) -> str:
    return "The tool failed without saying why." if is_problem else "(done; no output)"


def _text_of(block: Mapping[str, Any]) -> str:
    match block.get("type"):
        case "text":
            return str(block.get("text", ""))
        case "image" | "audio" as kind:
            return f"[{kind}, {block.get('mimeType')}, {_size(block.get('data'))}; not shown]"
        case "resource_link":
            return f"[resource {block.get('name')}: {block.get('uri')}]"
        case "resource":
            return _resource(block.get("resource") or {})
        case other:
            return f"[{other}; not shown]"


def _resource(resource: Mapping[str, Any]) -> str:
    if "text" in resource:
        return f"[resource {resource.get('uri')}]\n{resource['text']}"
    size = _size(resource.get("blob"))
    return f"[resource {resource.get('uri')}, {resource.get('mimeType')}, {size}; not shown]"


def _size(encoded: object) -> str:
    """Of what base64 stands for."""
    return f"{len(str(encoded or '')) * 3 // 4:,} bytes"
