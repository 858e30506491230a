"""The body of a request to a provider as JSON."""

from __future__ import annotations

from typing import Any

import orjson

from hermes.core.tool_definitions import ToolDefinitions
from hermes.providers.fields import encode_json


def encode_body(body: dict[str, Any]) -> bytes:
    """`body` as UTF-8. Shared tool definitions, most of a short request, are encoded once."""
    tools = body.get("tools")
    if not isinstance(tools, ToolDefinitions):
        return encode_json(body)
    if tools.encoded is None:
        tools.encoded = encode_json(tools)
    try:
        return orjson.dumps({**body, "tools": orjson.Fragment(tools.encoded)})
    except TypeError:
        return encode_json(
            body
        )  # something no provider could read, and only that knows how to mend
