"""Lines as Claude Code prints them, to build a run of."""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import Any

from hermes.backends.drivers.claude_lines import ClaudeLines
from hermes.backends.saying import Event, Said

Line = dict[str, Any]

SESSION = "4bcf3d61-8bca-427b-ad5f-181cd36414b4"
INIT: Line = {
    "type": "system",
    "subtype": "init",
    "session_id": SESSION,
    "model": "claude-haiku-5-5",
    "claude_code_version": "2.1.325",
}


def streamed(event: Line, *, parent: str | None = None) -> Line:
    return {"type": "stream_event", "event": event, "parent_tool_use_id": parent}


def start(message_id: str = "msg_1", *, read: int = 100, parent: str | None = None) -> Line:
    usage = {"input_tokens": read, "cache_read_input_tokens": 30, "output_tokens": 1}
    message = {"id": message_id, "role": "assistant", "usage": usage}
    return streamed({"type": "message_start", "message": message}, parent=parent)


def delta(text: str, kind: str = "text", *, parent: str | None = None) -> Line:
    piece = {"type": f"{kind}_delta", kind: text}
    return streamed({"type": "content_block_delta", "index": 0, "delta": piece}, parent=parent)


def stop(reason: str | None = "end_turn", *, written: int = 17) -> list[Line]:
    """How a stream ends; without a reason the CLI ends it because it broke off."""
    told = {"type": "message_delta", "delta": {"stop_reason": reason}}
    counted = streamed(told | {"usage": {"output_tokens": written}})
    return [*([counted] if reason else []), streamed({"type": "message_stop"})]


def whole(*blocks: Line, message_id: str = "msg_1", **fields: Any) -> Line:
    message = {"id": message_id, "model": "claude-haiku-5-5", "content": list(blocks)}
    return {"type": "assistant", "message": message, "parent_tool_use_id": None} | fields


def text(words: str) -> Line:
    return {"type": "text", "text": words}


def tool_use(name: str, call_id: str = "toolu_1", /, **arguments: Any) -> Line:
    return {"type": "tool_use", "id": call_id, "name": name, "input": arguments}


def tool_result(output: Any, call_id: str = "toolu_1", **fields: Any) -> Line:
    block = {"type": "tool_result", "tool_use_id": call_id, "content": output} | fields
    return {"type": "user", "message": {"role": "user", "content": [block]}}


def synthetic(words: str, error: str) -> Line:
    """What the CLI itself says in the model's place."""
    line = whole(text(words), message_id="made-up", error=error)
    line["message"]["model"] = "<synthetic>"
    return line


def result(words: str | None = "Hello.", **changes: Any) -> Line:
    """Its type stands last, as the CLI prints it."""
    usual: Line = {"subtype": "success", "is_error": False, "session_id": SESSION}
    said = {} if words is None else {"result": words}
    return usual | said | changes | {"type": "result"}


def failure(words: str, **changes: Any) -> Line:
    return result(words, is_error=True, terminal_reason="api_error", **changes)


def model_usage(read: int, written: int, **fields: Any) -> Line:
    usual = {"inputTokens": read, "outputTokens": written, "costUSD": 0.25}
    return {"claude-haiku-5-5": usual | fields}


def printed(line: Line) -> bytes:
    return json.dumps(line).encode()


def read(lines: ClaudeLines, *told: Line | Iterable[Line]) -> list[Event]:
    flat = [line for item in told for line in ([item] if isinstance(item, dict) else item)]
    return [event for line in flat for event in lines.read(printed(line))]


def said(events: Iterable[Event]) -> str:
    return "".join(event.text for event in events if isinstance(event, Said))
