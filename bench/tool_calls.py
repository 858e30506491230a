"""What the upstream says to an agent that works: `calls-20x1` calls one tool 20 times in a row."""

from __future__ import annotations

import json
import re
from typing import Any

PATH = "note.txt"
ANSWER = "All of it is read."

_MODEL = re.compile(r"calls-(\d+)x(\d+)")


def model_name(replies: int, calls: int) -> str:
    """A model that answers with `calls` tool calls each of the first `replies` times."""
    return f"calls-{replies}x{calls}"


def is_calling(model: str) -> bool:
    return _MODEL.fullmatch(model) is not None


def completion(request: dict[str, Any]) -> dict[str, Any]:
    """The reply to a request, by how often tools have answered already."""
    found = _MODEL.fullmatch(request["model"])
    assert found is not None, "only asked for models of this kind"
    replies, calls = int(found[1]), int(found[2])
    answered = sum(message["role"] == "tool" for message in request["messages"])
    if answered < replies * calls:
        made = [_call(answered + number) for number in range(calls)]
        message, reason = {"role": "assistant", "content": None, "tool_calls": made}, "tool_calls"
    else:
        message, reason = {"role": "assistant", "content": ANSWER}, "stop"
    return {
        "id": "chatcmpl-bench",
        "object": "chat.completion",
        "created": 1_700_000_000,
        "model": request["model"],
        "choices": [{"index": 0, "message": message, "finish_reason": reason}],
        "usage": {"prompt_tokens": 10, "completion_tokens": 5, "total_tokens": 15},
    }


def _call(number: int) -> dict[str, Any]:
    function = {"name": "read_file", "arguments": json.dumps({"path": PATH})}
    return {"id": f"call_{number}", "type": "function", "function": function}
