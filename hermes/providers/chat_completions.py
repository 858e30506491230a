"""The chat-completions dialect: OpenAI's first wire, spoken by nearly every provider.

How a conversation is worded for it stands in `chat_messages`.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from hermes.core.errors import ProviderError
from hermes.core.tool_definitions import ToolDefinitions
from hermes.core.turn import AnswerFormat, Usage
from hermes.providers.caching import NO_CACHING, with_marks
from hermes.providers.chat_messages import API_MODE, worded_messages
from hermes.providers.fields import (
    amount_field,
    arguments_text,
    count_field,
    field,
    index_field,
    list_field,
    plain,
    text_field,
)
from hermes.providers.heeded import NOTHING_ASKED, heeded
from hermes.providers.prompt import Prompt, asked_for, is_openai_reasoning_model
from hermes.providers.refusals import raise_if_error
from hermes.providers.reply import ReplyBuilder

_FINISH_REASONS = {
    "length": "length",
    "max_tokens": "length",
    "model_length": "length",
    "tool_calls": "tool_calls",
    "tool_use": "tool_calls",
    "function_call": "tool_calls",
    "content_filter": "content_filter",
    "safety": "content_filter",
    "refusal": "content_filter",
}


class ChatCompletions:
    """Stateless; see `Dialect` for what each method promises."""

    api_mode = API_MODE

    def request(self, prompt: Prompt) -> dict[str, Any]:
        request: dict[str, Any] = {"model": prompt.model, "messages": worded_messages(prompt)}
        if prompt.tools:
            request |= _tools(prompt)
        if prompt.reasoning_effort is not None:
            request["reasoning_effort"] = prompt.reasoning_effort
        if prompt.answer_format is not None:
            request["response_format"] = _format(prompt.answer_format)
        if prompt.caching is not NO_CACHING:
            request |= _caching(prompt, request)
        return request | _sampling(prompt)

    def open(self, client: Any, api_kwargs: Mapping[str, Any]) -> Any:
        streamed = {**api_kwargs, "stream": True, "stream_options": {"include_usage": True}}
        return client.chat.completions.create(**streamed)

    def create(self, client: Any, api_kwargs: Mapping[str, Any]) -> Any:
        return client.chat.completions.create(**api_kwargs)

    def feed(self, event: Any, into: ReplyBuilder) -> None:
        choices = field(event, "choices")
        if choices and isinstance(choices, list):
            choice = choices[0]
            _read_delta(field(choice, "delta"), into)
            reason = field(choice, "finish_reason")
            if reason:
                _finish(event, reason, into)
        usage = field(event, "usage")
        if usage:
            into.count(_usage(usage), usage)

    def finish(self, final: Any, into: ReplyBuilder) -> None:
        """Some servers end with `[DONE]` alone; our streams then have a final object, `{}`."""
        if final is not None and not into.is_finished:
            into.finish("stop")

    def read_whole(self, response: Any, into: ReplyBuilder) -> None:
        raise_if_error(response)
        choices = list_field(response, "choices")
        if not choices:
            raise ProviderError("The provider answered without any choice.", code="garbled")
        _read_delta(field(choices[0], "message"), into)
        _finish(response, field(choices[0], "finish_reason") or "stop", into)
        usage = field(response, "usage")
        if usage:
            into.count(_usage(usage), usage)


def text_of(event: dict[str, Any]) -> str | None:
    """The text of a chunk that brings a piece of the answer and nothing else."""
    choices = event.get("choices")
    if not isinstance(choices, list) or len(choices) != 1 or event.get("usage"):
        return None
    delta = field(choices[0], "delta")
    if not isinstance(delta, dict) or field(choices[0], "finish_reason"):
        return None
    # Some servers name the role or an empty refusal beside every piece; they say nothing new.
    others = {key for key, value in delta.items() if value and key not in ("content", "role")}
    text = delta.get("content")
    return text if isinstance(text, str) and not others else None


def ends_answer(event: dict[str, Any]) -> bool:
    """Whether the choice is finished; only usage may still follow."""
    choices = event.get("choices")
    return bool(choices) and isinstance(choices, list) and bool(field(choices[0], "finish_reason"))


def _tools(prompt: Prompt) -> dict[str, Any]:
    """The tools and how to choose among them; `auto` is what models do anyway."""
    choice = None if prompt.tool_choice == "auto" else prompt.tool_choice
    chosen = {"tool_choice": choice, "parallel_tool_calls": prompt.parallel_tool_calls}
    tools = prompt.tools if isinstance(prompt.tools, ToolDefinitions) else list(prompt.tools)
    return {"tools": tools, **asked_for(chosen)}


def _caching(prompt: Prompt, request: dict[str, Any]) -> dict[str, Any]:
    if prompt.caching.passes_marks:
        return {"messages": with_marks(request["messages"])}
    return asked_for({"prompt_cache_key": prompt.caching.key})


def _sampling(prompt: Prompt) -> dict[str, Any]:
    sampling = heeded(API_MODE, prompt.model, prompt.sampling, prompt.reasoning_effort)
    if sampling is NOTHING_ASKED:
        return {}
    limit = "max_completion_tokens" if is_openai_reasoning_model(prompt.model) else "max_tokens"
    optional = {
        limit: sampling.max_tokens,
        "temperature": sampling.temperature,
        "top_p": sampling.top_p,
        "stop": list(sampling.stop) or None,
        "seed": sampling.seed,
        "presence_penalty": sampling.presence_penalty,
        "frequency_penalty": sampling.frequency_penalty,
    }
    return asked_for(optional)


def _format(wanted: AnswerFormat) -> dict[str, Any]:
    if wanted.schema is None:
        return {"type": "json_object"}
    described = asked_for({"description": wanted.description})
    schema = {"name": wanted.name, "schema": wanted.schema, "strict": wanted.strict, **described}
    return {"type": "json_schema", "json_schema": schema}


def _read_delta(delta: Any, into: ReplyBuilder) -> None:
    content = field(delta, "content")
    if content:
        _read_content(content, into)
        # Nearly every piece of an answer is this and nothing else.
        if delta.__class__ is dict and len(delta) == 1:
            return
    reasoning = field(delta, "reasoning_content") or field(delta, "reasoning")
    if reasoning and isinstance(reasoning, str):
        into.add_reasoning(reasoning)
        if field(delta, "reasoning_content"):
            into.keep_thought(API_MODE, reasoning)
    calls = field(delta, "tool_calls")
    if calls and isinstance(calls, list):
        _read_tool_calls(calls, into)
    if field(delta, "refusal") or field(delta, "reasoning_details"):
        _read_rarities(delta, into)


def _read_content(content: Any, into: ReplyBuilder) -> None:
    if isinstance(content, str):
        into.add_text(content)
    elif isinstance(content, list):
        for part in content:
            into.add_reasoning(_thinking_of(part))
            into.add_text(text_field(part, "text"))


def _thinking_of(part: Any) -> str:
    return "".join(text_field(piece, "text") for piece in list_field(part, "thinking"))


def _read_tool_calls(calls: list[Any], into: ReplyBuilder) -> None:
    for position, call in enumerate(calls):
        function = field(call, "function")
        index = index_field(call, "index")
        # A whole message numbers its calls by their order alone.
        into.add_tool_call(
            position if index is None and len(calls) > 1 else index,
            id=text_field(call, "id"),
            name=text_field(function, "name"),
            arguments=arguments_text(field(function, "arguments")),
            extra_content=_extra_content(call),
        )


def _extra_content(call: Any) -> Any:
    extra = field(call, "extra_content")
    if extra is None:
        extra = field(field(call, "model_extra"), "extra_content")
    return None if extra is None else plain(extra)


def _read_rarities(delta: Any, into: ReplyBuilder) -> None:
    into.add_text(text_field(delta, "refusal"))
    for detail in list_field(delta, "reasoning_details"):
        _keep_detail(plain(detail), into)


def _keep_detail(detail: Any, into: ReplyBuilder) -> None:
    """Details arrive in fragments with an index; their texts belong together."""
    key = index_field(detail, "index") or 0
    if not into.is_kept(key):
        into.keep(API_MODE, key, detail)
        return
    for name in ("text", "summary", "data", "signature"):
        piece = text_field(detail, name)
        if piece:
            into.keep_more(key, name, piece)


def _finish(event: Any, reason: Any, into: ReplyBuilder) -> None:
    if reason == "error":
        raise ProviderError("The provider ended its answer with an error and gave no reason.")
    into.name_model(text_field(event, "model"))
    into.finish(_FINISH_REASONS.get(str(reason).lower(), "stop"))


def _usage(usage: Any) -> Usage:
    prompt_tokens = count_field(usage, "prompt_tokens")
    completion_tokens = count_field(usage, "completion_tokens")
    read = field(usage, "prompt_tokens_details")
    return Usage(
        input_tokens=prompt_tokens,
        output_tokens=completion_tokens,
        total_tokens=count_field(usage, "total_tokens") or prompt_tokens + completion_tokens,
        cached_tokens=count_field(read, "cached_tokens")
        or count_field(usage, "prompt_cache_hit_tokens")  # DeepSeek
        or count_field(usage, "cached_tokens"),  # Moonshot
        cache_write_tokens=count_field(read, "cache_write_tokens"),
        reasoning_tokens=count_field(field(usage, "completion_tokens_details"), "reasoning_tokens"),
        cost_usd=amount_field(usage, "cost"),  # OpenRouter
    )
