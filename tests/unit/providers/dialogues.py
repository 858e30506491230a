"""The same reply as each wire tells it: events and whole answers that must mean the same."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

from hermes.core.turn import Usage
from hermes.providers.reply import Reply, ToolCall

USAGE = Usage(
    input_tokens=10, output_tokens=5, total_tokens=15, cached_tokens=4, reasoning_tokens=2
)


def as_object(value: Any) -> Any:
    """Dicts as the objects an SDK would give."""
    if isinstance(value, dict):
        return SimpleNamespace(**{key: as_object(item) for key, item in value.items()})
    return [as_object(item) for item in value] if isinstance(value, list) else value


def expected(raw_usage: Any, *, replay: Any = None, usage: Usage = USAGE) -> Reply:
    return Reply(
        text="Let me look.",
        reasoning="Hmm, files.",
        tool_calls=(ToolCall(id="call_1", name="list_files", arguments='{"path":"."}'),),
        finish_reason="tool_calls",
        usage=usage,
        raw_usage=raw_usage,
        model="m-1",
        replay=replay,
    )


THOUGHTS = {
    "api_mode": "chat_completions",
    "items": [{"type": "reasoning_content", "text": "Hmm, files."}],
}


def chat_chunk(delta: dict[str, Any], finish_reason: str | None = None) -> dict[str, Any]:
    choice = {"index": 0, "delta": delta, "finish_reason": finish_reason}
    return {"object": "chat.completion.chunk", "model": "m-1", "choices": [choice]}


CHAT_USAGE = {
    "prompt_tokens": 10,
    "completion_tokens": 5,
    "total_tokens": 15,
    "prompt_tokens_details": {"cached_tokens": 4},
    "completion_tokens_details": {"reasoning_tokens": 2},
}

CHAT_EVENTS: list[dict[str, Any]] = [
    chat_chunk({"role": "assistant", "content": ""}),
    chat_chunk({"reasoning_content": "Hmm,"}),
    chat_chunk({"reasoning_content": " files."}),
    chat_chunk({"content": "Let me"}),
    chat_chunk({"content": " look."}),
    chat_chunk(
        {"tool_calls": [{"index": 0, "id": "call_1", "function": {"name": "list_files"}}]},
    ),
    chat_chunk({"tool_calls": [{"index": 0, "function": {"arguments": '{"path":'}}]}),
    chat_chunk({"tool_calls": [{"index": 0, "function": {"arguments": '"."}'}}]}),
    chat_chunk({}, "tool_calls"),
    {"object": "chat.completion.chunk", "model": "m-1", "choices": [], "usage": CHAT_USAGE},
]

CHAT_WHOLE: dict[str, Any] = {
    "model": "m-1",
    "choices": [
        {
            "index": 0,
            "finish_reason": "tool_calls",
            "message": {
                "role": "assistant",
                "content": "Let me look.",
                "reasoning_content": "Hmm, files.",
                "tool_calls": [
                    {
                        "id": "call_1",
                        "type": "function",
                        "function": {"name": "list_files", "arguments": '{"path":"."}'},
                    }
                ],
            },
        }
    ],
    "usage": CHAT_USAGE,
}

RESPONSES_USAGE = {
    "input_tokens": 10,
    "output_tokens": 5,
    "total_tokens": 15,
    "input_tokens_details": {"cached_tokens": 4},
    "output_tokens_details": {"reasoning_tokens": 2},
}

REASONING_ITEM = {
    "id": "rs_1",
    "type": "reasoning",
    "summary": [{"type": "summary_text", "text": "Hmm, files."}],
    "encrypted_content": "opaque",
}
MESSAGE_ITEM = {
    "id": "msg_1",
    "type": "message",
    "role": "assistant",
    "content": [{"type": "output_text", "text": "Let me look.", "annotations": []}],
}
CALL_ITEM = {
    "id": "fc_1",
    "type": "function_call",
    "call_id": "call_1",
    "name": "list_files",
    "arguments": '{"path":"."}',
}
RESPONSES_WHOLE: dict[str, Any] = {
    "id": "resp_1",
    "model": "m-1",
    "status": "completed",
    "error": None,
    "output": [REASONING_ITEM, MESSAGE_ITEM, CALL_ITEM],
    "usage": RESPONSES_USAGE,
}
RESPONSES_REPLAY = {"api_mode": "codex_responses", "items": [REASONING_ITEM]}

RESPONSES_EVENTS: list[dict[str, Any]] = [
    {"type": "response.created", "response": {"id": "resp_1", "error": None}},
    {"type": "response.reasoning_summary_part.added", "output_index": 0, "summary_index": 0},
    {"type": "response.reasoning_summary_text.delta", "output_index": 0, "delta": "Hmm,"},
    {"type": "response.reasoning_summary_text.delta", "output_index": 0, "delta": " files."},
    {"type": "response.output_item.done", "output_index": 0, "item": REASONING_ITEM},
    {"type": "response.output_text.delta", "output_index": 1, "delta": "Let me"},
    {"type": "response.output_text.delta", "output_index": 1, "delta": " look."},
    {
        "type": "response.output_item.added",
        "output_index": 2,
        "item": {**CALL_ITEM, "arguments": ""},
    },
    {"type": "response.function_call_arguments.delta", "output_index": 2, "delta": '{"path":'},
    {"type": "response.function_call_arguments.delta", "output_index": 2, "delta": '"."}'},
    {"type": "response.output_item.done", "output_index": 2, "item": CALL_ITEM},
    {"type": "response.completed", "response": RESPONSES_WHOLE},
]

# Anthropic counts cached input apart and does not tell thinking from answering.
ANTHROPIC_USAGE = {
    "input_tokens": 5,
    "cache_read_input_tokens": 4,
    "cache_creation_input_tokens": 1,
    "output_tokens": 5,
}
ANTHROPIC_COUNTED = Usage(
    input_tokens=10, output_tokens=5, total_tokens=15, cached_tokens=4, cache_write_tokens=1
)
THINKING_BLOCK = {"type": "thinking", "thinking": "Hmm, files.", "signature": "sig"}
ANTHROPIC_REPLAY = {"api_mode": "anthropic_messages", "items": [THINKING_BLOCK]}

ANTHROPIC_WHOLE: dict[str, Any] = {
    "type": "message",
    "model": "m-1",
    "content": [
        THINKING_BLOCK,
        {"type": "text", "text": "Let me look."},
        {"type": "tool_use", "id": "call_1", "name": "list_files", "input": {"path": "."}},
    ],
    "stop_reason": "tool_use",
    "usage": ANTHROPIC_USAGE,
}


def block_delta(index: int, **delta: str) -> dict[str, Any]:
    return {"type": "content_block_delta", "index": index, "delta": delta}


def block_start(index: int, **block: Any) -> dict[str, Any]:
    return {"type": "content_block_start", "index": index, "content_block": block}


ANTHROPIC_EVENTS: list[dict[str, Any]] = [
    {
        "type": "message_start",
        "message": {"model": "m-1", "usage": {**ANTHROPIC_USAGE, "output_tokens": 1}},
    },
    {"type": "ping"},
    block_start(0, type="thinking", thinking="", signature=""),
    block_delta(0, type="thinking_delta", thinking="Hmm,"),
    block_delta(0, type="thinking_delta", thinking=" files."),
    block_delta(0, type="signature_delta", signature="sig"),
    {"type": "content_block_stop", "index": 0},
    block_start(1, type="text", text=""),
    block_delta(1, type="text_delta", text="Let me"),
    block_delta(1, type="text_delta", text=" look."),
    {"type": "content_block_stop", "index": 1},
    block_start(2, type="tool_use", id="call_1", name="list_files", input={}),
    block_delta(2, type="input_json_delta", partial_json='{"path":'),
    block_delta(2, type="input_json_delta", partial_json='"."}'),
    {"type": "content_block_stop", "index": 2},
    {"type": "message_delta", "delta": {"stop_reason": "tool_use"}, "usage": {"output_tokens": 5}},
    {"type": "message_stop"},
]
