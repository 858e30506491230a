"""The Responses dialect (`codex_responses`): what we ask, and the events that answer it.

How a conversation is worded as input items stands in `responses_input`.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from hermes.core.errors import ProviderError
from hermes.core.turn import AnswerFormat, Usage
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
from hermes.providers.heeded import heeded
from hermes.providers.prompt import (
    Prompt,
    asked_for,
    asks_to_think,
    chosen_function,
    is_openai_reasoning_model,
)
from hermes.providers.refusals import error_from_event, raise_if_error
from hermes.providers.reply import ReplyBuilder, ToolCall
from hermes.providers.responses_input import API_MODE, flat_tools, input_items

SMALLEST_LIMIT = 16
"""A lower `max_output_tokens` is refused, also when it is only the rest of what a turn may say."""

_TEXT_DELTAS = frozenset({"response.output_text.delta", "response.refusal.delta"})
_REASONING_DELTAS = frozenset(
    {"response.reasoning_summary_text.delta", "response.reasoning_text.delta"}
)
_LAST_EVENTS = frozenset({"response.completed", "response.incomplete", "response.done"})
_FAILURES = frozenset({"response.failed", "response.cancelled", "error"})


class Responses:
    """Stateless; see `Dialect` for what each method promises."""

    api_mode = API_MODE

    def request(self, prompt: Prompt) -> dict[str, Any]:
        effort = prompt.reasoning_effort
        sampling = heeded(API_MODE, prompt.model, prompt.sampling, effort)
        limit = sampling.max_tokens
        optional = {
            "instructions": prompt.system,
            "tools": flat_tools(prompt.tools) or None,
            "max_output_tokens": None if limit is None else max(limit, SMALLEST_LIMIT),
            "temperature": sampling.temperature,
            "top_p": sampling.top_p,
            "reasoning": {"effort": effort} if effort else None,
            # Nothing is stored on their side, so the thinking has to travel with us. Models that
            # do not think refuse this.
            "include": ["reasoning.encrypted_content"] if _reasons(prompt) else None,
            "text": _text_format(prompt.answer_format),
            "prompt_cache_key": prompt.caching.key,
        }
        return {
            "model": prompt.model,
            "input": input_items(prompt.messages),
            "store": False,
            **asked_for(optional),
            **_use_of_tools(prompt),
        }

    def open(self, client: Any, api_kwargs: Mapping[str, Any]) -> Any:
        return client.responses.stream(**api_kwargs)

    def create(self, client: Any, api_kwargs: Mapping[str, Any]) -> Any:
        return client.responses.create(**api_kwargs)

    def feed(self, event: Any, into: ReplyBuilder) -> None:
        kind = text_field(event, "type")
        if kind in _TEXT_DELTAS:
            into.add_text(text_field(event, "delta"))
        elif kind in _REASONING_DELTAS:
            into.add_reasoning(text_field(event, "delta"))
        elif kind == "response.function_call_arguments.delta":
            into.add_tool_call(
                index_field(event, "output_index"), arguments=text_field(event, "delta")
            )
        else:
            self._feed_rare(kind, event, into)

    def _feed_rare(self, kind: str, event: Any, into: ReplyBuilder) -> None:
        if kind == "response.output_item.added":
            _open_item(event, into)
        elif kind == "response.output_item.done":
            _keep_reasoning(index_field(event, "output_index"), field(event, "item"), into)
        elif kind == "response.reasoning_summary_part.added" and into.has_reasoning:
            into.add_reasoning("\n\n")
        elif kind in _LAST_EVENTS:
            into.finish("length" if kind == "response.incomplete" else "stop")
            self.finish(field(event, "response"), into)
        elif kind in _FAILURES:
            raise _failure(event)

    def finish(self, final: Any, into: ReplyBuilder) -> None:
        if final is None:
            return
        _read_output(list_field(final, "output"), into)
        into.name_model(text_field(final, "model"))
        usage = field(final, "usage")
        if usage:
            into.count(usage_of(usage), usage)
        _read_status(final, into)

    def read_whole(self, response: Any, into: ReplyBuilder) -> None:
        raise_if_error(response)
        if not list_field(response, "output") and not text_field(response, "status"):
            raise ProviderError("The provider answered without any output.", code="garbled")
        self.finish(response, into)


def text_of(_event: dict[str, Any]) -> None:
    """Every event has a number of its own: none is like the one before it."""


def ends_answer(event: dict[str, Any]) -> bool:
    return text_field(event, "type") in _LAST_EVENTS


def _reasons(prompt: Prompt) -> bool:
    return asks_to_think(prompt.reasoning_effort) or is_openai_reasoning_model(prompt.model)


def _use_of_tools(prompt: Prompt) -> dict[str, Any]:
    """Without tools both are refused; `auto` is what they do anyway."""
    if not prompt.tools:
        return {}
    name = chosen_function(prompt.tool_choice)
    choice = {"type": "function", "name": name} if name else prompt.tool_choice
    return asked_for(
        {
            "tool_choice": None if choice == "auto" else choice,
            "parallel_tool_calls": prompt.parallel_tool_calls,
        }
    )


def _text_format(wanted: AnswerFormat | None) -> dict[str, Any] | None:
    if wanted is None:
        return None
    if wanted.schema is None:
        return {"format": {"type": "json_object"}}
    described = asked_for({"description": wanted.description})
    schema = {"name": wanted.name, "schema": wanted.schema, "strict": wanted.strict}
    return {"format": {"type": "json_schema", **schema, **described}}


def _open_item(event: Any, into: ReplyBuilder) -> None:
    item = field(event, "item")
    if field(item, "type") == "function_call":
        into.add_tool_call(
            index_field(event, "output_index"),
            id=text_field(item, "call_id"),
            name=text_field(item, "name"),
        )


def _keep_reasoning(index: int | None, item: Any, into: ReplyBuilder) -> None:
    is_reasoning = field(item, "type") == "reasoning"
    if is_reasoning and text_field(item, "encrypted_content"):
        into.keep(API_MODE, index or 0, plain(item))


def _read_output(output: list[Any], into: ReplyBuilder) -> None:
    """What the events did not bring. The final list of calls is the provider's last word."""
    if not into.has_text:
        into.add_text("".join(_text_of(item) for item in output))
    if not into.has_reasoning:
        into.add_reasoning("\n\n".join(filter(None, map(_summary_of, output))))
    calls = [_tool_call(item) for item in output if field(item, "type") == "function_call"]
    if calls:
        into.replace_tool_calls(calls)
    for index, item in enumerate(output):
        if not into.is_kept(index):
            _keep_reasoning(index, item, into)


def _text_of(item: Any) -> str:
    if field(item, "type") != "message":
        return ""
    parts = list_field(item, "content")
    return "".join(text_field(part, "text") or text_field(part, "refusal") for part in parts)


def _summary_of(item: Any) -> str:
    if field(item, "type") != "reasoning":
        return ""
    parts = list_field(item, "summary") or list_field(item, "content")
    return "\n\n".join(text_field(part, "text") for part in parts)


def _tool_call(item: Any) -> ToolCall:
    return ToolCall(
        id=text_field(item, "call_id") or text_field(item, "id"),
        name=text_field(item, "name"),
        arguments=arguments_text(field(item, "arguments")),
    )


def _read_status(final: Any, into: ReplyBuilder) -> None:
    status = text_field(final, "status")
    if status in ("failed", "cancelled"):
        raise _failure(final)
    if status == "incomplete":
        reason = text_field(field(final, "incomplete_details"), "reason")
        into.finish("content_filter" if reason == "content_filter" else "length")
    elif status:
        into.finish("stop")


def _failure(event: Any) -> ProviderError:
    """`error` stands in the event, in its response, or the event is the error."""
    response = field(event, "response")
    source = response if field(response, "error") else event
    error = field(source, "error") or {
        "message": text_field(source, "message") or "it ended the answer as failed",
        "code": field(source, "code"),
    }
    return error_from_event({"error": error})


def usage_of(usage: Any) -> Usage:
    """What one call used, as the provider counts it."""
    input_tokens = count_field(usage, "input_tokens")
    output_tokens = count_field(usage, "output_tokens")
    read = field(usage, "input_tokens_details")
    return Usage(
        input_tokens=input_tokens,
        output_tokens=output_tokens,
        total_tokens=count_field(usage, "total_tokens") or input_tokens + output_tokens,
        cached_tokens=count_field(read, "cached_tokens"),
        cache_write_tokens=count_field(read, "cache_write_tokens"),
        reasoning_tokens=count_field(field(usage, "output_tokens_details"), "reasoning_tokens"),
        cost_usd=amount_field(usage, "cost"),
    )
