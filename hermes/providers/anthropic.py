"""The Anthropic dialect (`anthropic_messages`): what we ask, and the events that answer it.

How a conversation is worded as content blocks stands in `anthropic_blocks`.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from hermes.core.errors import ProviderError
from hermes.core.messages import tool_calls_of
from hermes.core.turn import Usage
from hermes.providers.anthropic_blocks import (
    API_MODE,
    THINKING,
    conversation,
    may_think,
    system_blocks,
    with_cache_marks,
    without_thinking,
)
from hermes.providers.caching import MARK
from hermes.providers.fields import (
    arguments_text,
    count_field,
    field,
    index_field,
    list_field,
    plain,
    text_field,
)
from hermes.providers.heeded import heeded
from hermes.providers.prompt import Prompt, asked_for, chosen_function, function_of
from hermes.providers.refusals import error_from_event, raise_if_error
from hermes.providers.reply import ReplyBuilder, ToolCall

DEFAULT_MAX_TOKENS = 8192
SMALLEST_BUDGET = 1024

_BUDGETS = {"minimal": 1024, "low": 4096, "medium": 8192, "high": 16384, "xhigh": 32768}

_FINISH_REASONS = {
    "max_tokens": "length",
    "model_context_window_exceeded": "length",
    "tool_use": "tool_calls",
    "refusal": "content_filter",
}
_USAGE_KEYS = (
    "input_tokens",
    "output_tokens",
    "cache_read_input_tokens",
    "cache_creation_input_tokens",
)


class Anthropic:
    """Stateless; see `Dialect` for what each method promises."""

    api_mode = API_MODE

    def request(self, prompt: Prompt) -> dict[str, Any]:
        messages = conversation(prompt.messages)
        sampling = heeded(API_MODE, prompt.model, prompt.sampling, prompt.reasoning_effort)
        limit, budget = _limits(prompt)
        thinks = budget >= SMALLEST_BUDGET and may_think(messages) and not _forces_a_tool(prompt)
        optional = {
            "system": system_blocks(prompt) or None,
            "tools": _tools(prompt) or None,
            "tool_choice": _tool_choice(prompt),
            "temperature": sampling.temperature,
            "top_p": sampling.top_p,
            "stop_sequences": list(sampling.stop) or None,
            "thinking": {"type": "enabled", "budget_tokens": budget} if thinks else None,
        }
        return {
            "model": prompt.model,
            "max_tokens": limit,
            "messages": with_cache_marks(messages if thinks else without_thinking(messages)),
            **asked_for(optional),
        }

    def open(self, client: Any, api_kwargs: Mapping[str, Any]) -> Any:
        return client.messages.stream(**api_kwargs)

    def create(self, client: Any, api_kwargs: Mapping[str, Any]) -> Any:
        return client.messages.create(**api_kwargs)

    def feed(self, event: Any, into: ReplyBuilder) -> None:
        kind = field(event, "type")
        if kind == "content_block_delta":
            _read_delta(index_field(event, "index"), field(event, "delta"), into)
        elif kind == "content_block_start":
            _open_block(index_field(event, "index"), field(event, "content_block"), into)
        elif kind == "message_start":
            message = field(event, "message")
            into.name_model(text_field(message, "model"))
            _count(field(message, "usage"), into)
        elif kind == "message_delta":
            _finish(field(field(event, "delta"), "stop_reason"), into)
            _count(field(event, "usage"), into)
        elif kind == "message_stop" and not into.is_finished:
            into.finish("stop")
        elif kind == "error":
            raise error_from_event(event if isinstance(event, dict) else plain(event))

    def finish(self, final: Any, into: ReplyBuilder) -> None:
        if final is None:
            return
        _read_blocks(list_field(final, "content"), into)
        into.name_model(text_field(final, "model"))
        _finish(field(final, "stop_reason"), into)
        _count(field(final, "usage"), into)

    def read_whole(self, response: Any, into: ReplyBuilder) -> None:
        raise_if_error(response)
        if not isinstance(field(response, "content"), list):
            raise ProviderError("The provider answered without any content.", code="garbled")
        self.finish(response, into)


def text_of(event: dict[str, Any]) -> str | None:
    """The text of an event that brings a piece of the answer and nothing else."""
    delta = event.get("delta")
    if event.get("type") != "content_block_delta" or field(delta, "type") != "text_delta":
        return None
    text = field(delta, "text")
    return text if isinstance(text, str) else None


def ends_answer(event: dict[str, Any]) -> bool:
    return event.get("type") == "message_stop"


def _limits(prompt: Prompt) -> tuple[int, int]:
    """The length of the answer and, within it, of the thinking."""
    wanted = _BUDGETS.get(prompt.reasoning_effort or "", 0)
    if prompt.sampling.max_tokens is None:
        return DEFAULT_MAX_TOKENS + wanted, wanted
    return prompt.sampling.max_tokens, min(wanted, prompt.sampling.max_tokens - SMALLEST_BUDGET)


def _called_before(prompt: Prompt) -> list[dict[str, Any]]:
    """The tools of earlier calls: refused without a definition, even if none may be called now."""
    calls = (call for message in prompt.messages for call in tool_calls_of(message))
    names = dict.fromkeys(str(function_of(call).get("name")) for call in calls)
    return [{"name": name} for name in names]


def _forces_a_tool(prompt: Prompt) -> bool:
    """A model that has to call a tool may not think before it does."""
    return bool(prompt.tools) and prompt.tool_choice not in ("auto", "none")


def _tool_choice(prompt: Prompt) -> dict[str, Any] | None:
    if not prompt.tools:
        return {"type": "none"} if _called_before(prompt) else None
    name = chosen_function(prompt.tool_choice)
    choice: dict[str, Any] = {"type": "tool", "name": name} if name else _choice(prompt)
    if prompt.parallel_tool_calls is False and choice["type"] != "none":
        return {**choice, "disable_parallel_tool_use": True}
    return None if choice == {"type": "auto"} else choice


def _choice(prompt: Prompt) -> dict[str, Any]:
    return {"type": "any" if prompt.tool_choice == "required" else prompt.tool_choice}


def _tools(prompt: Prompt) -> list[dict[str, Any]]:
    """The mark of the system prompt covers them; without one they have their own."""
    tools = [_tool(tool) for tool in prompt.tools or _called_before(prompt)]
    if tools and not prompt.system:
        tools[-1]["cache_control"] = MARK
    return tools


def _tool(tool: dict[str, Any]) -> dict[str, Any]:
    function = function_of(tool)
    return {
        "name": function.get("name"),
        "description": function.get("description") or "",
        "input_schema": {"type": "object", **(function.get("parameters") or {"properties": {}})},
    }


def _read_delta(index: int | None, delta: Any, into: ReplyBuilder) -> None:
    kind = field(delta, "type")
    if kind == "text_delta":
        into.add_text(text_field(delta, "text"))
    elif kind == "thinking_delta":
        piece = text_field(delta, "thinking")
        into.add_reasoning(piece)
        into.keep_more(index or 0, "thinking", piece)
    elif kind == "input_json_delta":
        into.add_tool_call(index, arguments=text_field(delta, "partial_json"))
    elif kind == "signature_delta":
        into.keep_more(index or 0, "signature", text_field(delta, "signature"))


def _open_block(index: int | None, block: Any, into: ReplyBuilder) -> None:
    kind = text_field(block, "type")
    if kind == "text":
        into.add_text(text_field(block, "text"))
    elif kind == "tool_use":
        into.add_tool_call(index, id=text_field(block, "id"), name=text_field(block, "name"))
    elif kind in THINKING:
        into.add_reasoning(text_field(block, "thinking"))
        into.keep(API_MODE, index or 0, plain(block))


def _read_blocks(blocks: list[Any], into: ReplyBuilder) -> None:
    """What the events did not bring. The final list of calls is the provider's last word."""
    if not into.has_text:
        texts = (text_field(block, "text") for block in blocks if field(block, "type") == "text")
        into.add_text("".join(texts))
    if not into.has_reasoning:
        into.add_reasoning("".join(text_field(block, "thinking") for block in blocks))
    calls = [_tool_call(block) for block in blocks if field(block, "type") == "tool_use"]
    if calls:
        into.replace_tool_calls(calls)
    for index, block in enumerate(blocks):
        if text_field(block, "type") in THINKING and not into.is_kept(index):
            into.keep(API_MODE, index, plain(block))


def _tool_call(block: Any) -> ToolCall:
    return ToolCall(
        id=text_field(block, "id"),
        name=text_field(block, "name"),
        arguments=arguments_text(field(block, "input")),
    )


def _finish(reason: Any, into: ReplyBuilder) -> None:
    if isinstance(reason, str):
        into.finish(_FINISH_REASONS.get(reason, "stop"))


def _count(usage: Any, into: ReplyBuilder) -> None:
    """Usage comes in parts (start, end), each a running total of what it names."""
    seen = {key: field(usage, key) for key in _USAGE_KEYS if field(usage, key) is not None}
    if not seen:
        return
    before = into.raw_usage if isinstance(into.raw_usage, dict) else {}
    raw = {**before, **seen}
    into.count(usage_of(raw), raw)


def usage_of(raw: dict[str, Any]) -> Usage:
    """What one call used, as the provider counts it."""
    cached = count_field(raw, "cache_read_input_tokens")
    written = count_field(raw, "cache_creation_input_tokens")
    input_tokens = count_field(raw, "input_tokens") + cached + written
    output_tokens = count_field(raw, "output_tokens")
    return Usage(
        input_tokens=input_tokens,
        output_tokens=output_tokens,
        total_tokens=input_tokens + output_tokens,
        cached_tokens=cached,
        cache_write_tokens=written,
    )
