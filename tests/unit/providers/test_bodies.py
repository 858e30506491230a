"""What a provider is sent is the same JSON, whether its tools were encoded before or not."""

from __future__ import annotations

import json
from typing import Any

import pytest

from hermes.core.tool_definitions import ToolDefinitions
from hermes.providers.bodies import encode_body

TOOLS: list[dict[str, Any]] = [{"type": "function", "function": {"name": "é", "parameters": {}}}]


@pytest.mark.parametrize("said", ["Hi", "é", "half a pair \ud800"])
def test_shared_tools_are_encoded_once_and_say_the_same(said: str) -> None:
    shared = ToolDefinitions(TOOLS)
    body = {"model": "m", "messages": [{"role": "user", "content": said}]}
    plain = encode_body({**body, "tools": list(TOOLS)})
    first = encode_body({**body, "tools": shared})
    kept = shared.encoded
    assert json.loads(first) == json.loads(plain)
    assert encode_body({**body, "tools": shared}) == first
    assert shared.encoded is kept is not None


def test_a_body_without_tools_is_just_encoded() -> None:
    assert encode_body({"model": "m"}) == b'{"model":"m"}'
