"""The Responses API: a request read, and the response object with every key readers expect."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from hermes.core.errors import InvalidRequest
from hermes.core.messages import Content, Message
from hermes.core.turn import Outcome, TurnParameters, TurnResult, Usage
from hermes.wire.conversation import split
from hermes.wire.lenient import boolean, required_text, text
from hermes.wire.response_echo import ResponseEcho, parse_echo
from hermes.wire.response_input import NOTHING_OUTSIDE, Outside, messages_of, read_items
from hermes.wire.response_items import Item
from hermes.wire.response_parameters import ignored_of, parse_parameters
from hermes.wire.transcript import prior_count as prior_count
from hermes.wire.transcript import stored_history as stored_history
from hermes.wire.transcript import turn_messages as turn_messages
from hermes.wire.turn_errors import response_error
from hermes.wire.turn_output import output_items as output_items

STATUSES = {
    Outcome.COMPLETED: "completed",
    Outcome.WAITING: "completed",
    Outcome.ASKING: "completed",
    Outcome.TRUNCATED: "incomplete",
    Outcome.INTERRUPTED: "incomplete",
    Outcome.FAILED: "failed",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class ResponsesRequest:
    """What a Responses request asks for."""

    model: str | None
    stream: bool
    user_message: Content | None
    history: list[Message]
    """Messages the request itself brings along, before the user's."""
    instructions: str | None
    added_instructions: str | None
    """System and developer items of the input; they hold for this turn only."""
    previous_response_id: str | None
    conversation: str | None
    echo: ResponseEcho
    parameters: TurnParameters
    ignored: tuple[str, ...]
    """Parameters that have no effect."""
    items: list[Item]
    """The input item by item, as it is kept beside the response."""

    @property
    def store(self) -> bool:
        return self.echo.store

    @property
    def truncation(self) -> str:
        return self.echo.truncation

    @property
    def metadata(self) -> dict[str, str]:
        return self.echo.metadata

    def system_prompt(self, inherited: str | None) -> str | None:
        """The prompt of this turn; `inherited` counts where the request has no instructions."""
        lasting = inherited if self.instructions is None else self.instructions
        said = [prompt for prompt in (lasting, self.added_instructions) if prompt is not None]
        return "\n\n".join(said) if said else None


@dataclass(frozen=True, slots=True, kw_only=True)
class ResponseHead:
    """What every snapshot of one response repeats."""

    id: str
    created_at: int
    model: str
    previous_response_id: str | None = None
    instructions: str | None = None
    conversation: str | None = None
    echo: ResponseEcho = field(default_factory=ResponseEcho)


def parse_responses(
    body: Mapping[str, Any], outside: Outside = NOTHING_OUTSIDE
) -> ResponsesRequest:
    """Fields we do not know are left alone; input we cannot carry on is refused by name."""
    previous, conversation = read_continued(body)
    items = read_items(body.get("input"), outside)
    said = split(messages_of(items, outside), param="input")
    echo = parse_echo(body)
    return ResponsesRequest(
        model=text(body, "model"),
        stream=boolean(body, "stream", False),
        user_message=said.user_message,
        history=said.history,
        instructions=text(body, "instructions"),
        added_instructions=said.system_prompt,
        previous_response_id=previous,
        conversation=conversation,
        echo=echo,
        parameters=replace(parse_parameters(body, echo), tool_results=tuple(said.tool_results)),
        ignored=ignored_of(body),
        items=items,
    )


def read_continued(body: Mapping[str, Any]) -> tuple[str | None, str | None]:
    """What a request continues: a response by its id, or a conversation by its name or id."""
    conversation = _conversation_name(body)
    previous = text(body, "previous_response_id")
    if conversation and previous:
        raise InvalidRequest(
            "Cannot use both 'conversation' and 'previous_response_id'; leave one of them out.",
            param="conversation",
        )
    return previous or None, conversation or None


def _conversation_name(body: Mapping[str, Any]) -> str | None:
    value = body.get("conversation")
    if isinstance(value, dict):
        return required_text(value, "id", param="conversation.id")
    return text(body, "conversation")


def response_object(
    head: ResponseHead,
    *,
    status: str,
    output: Sequence[Item],
    usage: Usage | None = None,
    error: Mapping[str, Any] | None = None,
    incomplete_details: Mapping[str, Any] | None = None,
    completed_at: int | None = None,
) -> dict[str, Any]:
    """The full object: no key is ever missing, and only those that may be are null."""
    echo = head.echo
    response: dict[str, Any] = {
        "id": head.id,
        "object": "response",
        "created_at": head.created_at,
        "completed_at": completed_at,
        "status": status,
        "incomplete_details": dict(incomplete_details) if incomplete_details else None,
        "model": head.model,
        "previous_response_id": head.previous_response_id,
        "instructions": head.instructions,
        "output": list(output),
        "error": dict(error) if error else None,
        "tools": echo.tools,
        "tool_choice": echo.tool_choice,
        "truncation": echo.truncation,
        "parallel_tool_calls": echo.parallel_tool_calls,
        "text": echo.text,
        "top_p": echo.top_p,
        "presence_penalty": echo.presence_penalty,
        "frequency_penalty": echo.frequency_penalty,
        "top_logprobs": echo.top_logprobs,
        "temperature": echo.temperature,
        "reasoning": echo.reasoning,
        "usage": response_usage(usage) if usage else None,
        "max_output_tokens": echo.max_output_tokens,
        "max_tool_calls": echo.max_tool_calls,
        "store": echo.store,
        "background": echo.background,
        "service_tier": echo.service_tier,
        "metadata": echo.metadata,
        "safety_identifier": echo.safety_identifier,
        "prompt_cache_key": echo.prompt_cache_key,
    }
    if echo.user is not None:
        response["user"] = echo.user
    if head.conversation is not None:
        response["conversation"] = {"id": head.conversation}
    return response


def ended_response(
    head: ResponseHead, result: TurnResult, *, output: Sequence[Item], ended_at: int
) -> dict[str, Any]:
    """The response object of a turn that is over, whatever came of it."""
    outcome = result.outcome
    failed = outcome is Outcome.FAILED
    truncated = outcome is Outcome.TRUNCATED
    return response_object(
        head,
        status=STATUSES[outcome],
        output=output,
        usage=result.usage,
        error=response_error(result) if failed else None,
        incomplete_details={"reason": "max_output_tokens"} if truncated else None,
        completed_at=ended_at if result.is_complete else None,
    )


def response_usage(usage: Usage) -> dict[str, Any]:
    return {
        "input_tokens": usage.input_tokens,
        "input_tokens_details": {
            "cached_tokens": usage.cached_tokens,
            "cache_write_tokens": usage.cache_write_tokens,
        },
        "output_tokens": usage.output_tokens,
        "output_tokens_details": {"reasoning_tokens": usage.reasoning_tokens},
        "total_tokens": usage.total_tokens,
        **usage.extras,
    }
