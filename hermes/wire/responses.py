"""The Responses API: a request read, and the response object with every key readers expect."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from hermes.core.errors import InvalidRequest
from hermes.core.messages import Content, Message
from hermes.core.turn import Outcome, TurnResult, Usage
from hermes.wire.chat import failure_message
from hermes.wire.content import normalise
from hermes.wire.conversation import read_plain, split
from hermes.wire.lenient import boolean, required_text, shown, text, wrong_type
from hermes.wire.response_echo import ResponseEcho, parse_echo
from hermes.wire.response_items import Item
from hermes.wire.response_items import output_items as output_items
from hermes.wire.transcript import prior_count as prior_count
from hermes.wire.transcript import stored_history as stored_history
from hermes.wire.transcript import turn_messages as turn_messages

STATUSES = {
    Outcome.COMPLETED: "completed",
    Outcome.WAITING: "completed",
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
    tool_results: list[Message]
    history: list[Message]
    """Messages the request itself brings along, before the user's."""
    instructions: str | None
    added_instructions: str | None
    """System and developer items of the input; they hold for this turn only."""
    previous_response_id: str | None
    conversation: str | None
    echo: ResponseEcho

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


def parse_responses(body: Mapping[str, Any]) -> ResponsesRequest:
    """Fields we do not know are left alone; input we cannot carry on is refused by name."""
    conversation = _conversation_name(body)
    previous = text(body, "previous_response_id")
    if conversation and previous:
        raise InvalidRequest(
            "Cannot use both 'conversation' and 'previous_response_id'; leave one of them out.",
            param="conversation",
        )
    said = split(_input_messages(body.get("input")), param="input")
    return ResponsesRequest(
        model=text(body, "model"),
        stream=boolean(body, "stream", False),
        user_message=said.user_message,
        tool_results=said.tool_results,
        history=said.history,
        instructions=text(body, "instructions"),
        added_instructions=said.system_prompt,
        previous_response_id=previous or None,
        conversation=conversation or None,
        echo=parse_echo(body),
    )


def _conversation_name(body: Mapping[str, Any]) -> str | None:
    value = body.get("conversation")
    if isinstance(value, dict):
        return required_text(value, "id", param="conversation.id")
    return text(body, "conversation")


def _input_messages(value: Any) -> list[Message]:
    if value is None or value == "" or value == []:
        raise InvalidRequest(
            "'input' is required: a string, or a list that ends with a user message.",
            param="input",
            code="missing_required_parameter",
        )
    if isinstance(value, str):
        return [{"role": "user", "content": value}]
    if not isinstance(value, list):
        raise wrong_type("input", "a string or a list of items", value)
    messages: list[Message] = []
    for at, raw in enumerate(value):
        _add_item(messages, raw, f"input[{at}]")
    return messages


def _add_item(messages: list[Message], raw: Any, param: str) -> None:
    if not isinstance(raw, dict):
        raise wrong_type(param, "an input item object", raw)
    match raw.get("type", "message"):
        case "message":
            messages.append(_message(raw, param))
        case "function_call":
            _add_call(messages, raw, param)
        case "function_call_output":
            messages.append(_call_output(raw, param))
        case "reasoning":
            # Another model's thinking; it is no part of what was said.
            pass
        case kind:
            raise InvalidRequest(
                f"Input items of type {shown(kind)} are not supported; use message, "
                "function_call, function_call_output or reasoning.",
                param=f"{param}.type",
                code="unsupported_item_type",
            )


def _message(raw: dict[str, Any], param: str) -> Message:
    match raw.get("role"):
        case "system" | "developer" | "user" as role:
            return read_plain(role, raw, param)
        case "assistant":
            content = normalise(raw.get("content"), param=f"{param}.content")
            return {"role": "assistant", "content": content}
        case role:
            raise InvalidRequest(
                f"'{param}.role' must be user, assistant, system or developer, not {shown(role)}.",
                param=f"{param}.role",
                code="invalid_value",
            )


def _add_call(messages: list[Message], raw: Mapping[str, Any], param: str) -> None:
    """Calls join the assistant's message right before them: one message speaks and calls."""
    if not messages or messages[-1]["role"] != "assistant":
        messages.append({"role": "assistant", "content": None})
    arguments = raw.get("arguments")
    if not isinstance(arguments, str):
        raise wrong_type(f"{param}.arguments", "a string", arguments)
    name = required_text(raw, "name", param=f"{param}.name")
    call = {
        "id": required_text(raw, "call_id", param=f"{param}.call_id"),
        "type": "function",
        "function": {"name": name, "arguments": arguments},
    }
    messages[-1].setdefault("tool_calls", []).append(call)


def _call_output(raw: Mapping[str, Any], param: str) -> Message:
    return {
        "role": "tool",
        "tool_call_id": required_text(raw, "call_id", param=f"{param}.call_id"),
        "content": normalise(raw.get("output"), param=f"{param}.output"),
    }


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
        "usage": _usage(usage) if usage else None,
        "max_output_tokens": echo.max_output_tokens,
        "max_tool_calls": echo.max_tool_calls,
        "store": echo.store,
        "background": echo.background,
        "service_tier": "default",
        "metadata": echo.metadata,
        "safety_identifier": echo.safety_identifier,
        "prompt_cache_key": echo.prompt_cache_key,
    }
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
        error={"code": "server_error", "message": failure_message(result)} if failed else None,
        incomplete_details={"reason": "max_output_tokens"} if truncated else None,
        completed_at=ended_at if result.is_complete else None,
    )


def _usage(usage: Usage) -> dict[str, Any]:
    return {
        "input_tokens": usage.input_tokens,
        # The SDK's type asks for the tokens written to the cache too; we never know of any.
        "input_tokens_details": {"cached_tokens": usage.cached_tokens, "cache_write_tokens": 0},
        "output_tokens": usage.output_tokens,
        "output_tokens_details": {"reasoning_tokens": usage.reasoning_tokens},
        "total_tokens": usage.total_tokens,
    }
