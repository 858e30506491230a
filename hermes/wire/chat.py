"""Chat completions: a request read, and a finished turn written as one JSON answer."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from hermes.core.errors import AgentIncomplete, InvalidRequest
from hermes.core.messages import Content, Message
from hermes.core.turn import Outcome, TurnResult, Usage
from hermes.wire.approval_text import answer_text
from hermes.wire.chat_parameters import PLAIN, ChatParameters, read_parameters
from hermes.wire.content import normalise
from hermes.wire.conversation import add_name, read_plain, read_tool_call, split
from hermes.wire.lenient import boolean, mapping, required_text, shown, text, wrong_type
from hermes.wire.own_renderings import strip_content

ERROR_CODES = {
    Outcome.TRUNCATED: "output_truncated",
    Outcome.INTERRUPTED: "interrupted",
    Outcome.FAILED: "agent_failed",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class ChatRequest:
    """What a chat completion request asks for."""

    model: str | None
    stream: bool
    include_usage: bool
    system_prompt: str | None
    user_message: Content | None
    tool_results: list[Message]
    history: list[Message]
    first_user_text: str
    parameters: ChatParameters = PLAIN
    messages: list[Any] = field(default_factory=list)
    """As they were sent."""


@dataclass(frozen=True, slots=True)
class ChatHead:
    """What every answer and every chunk of one completion repeats."""

    id: str
    model: str
    created: int


def parse_chat(body: Mapping[str, Any]) -> ChatRequest:
    """Fields we do not know are noted as ignored; what we cannot do is refused by name."""
    parameters = read_parameters(body)
    messages = read_messages(_messages(body), param="messages")
    conversation = split(messages, param="messages")
    options = mapping(body, "stream_options") or {}
    return ChatRequest(
        model=text(body, "model"),
        stream=boolean(body, "stream", False),
        include_usage=boolean(
            options, "include_usage", False, param="stream_options.include_usage"
        ),
        system_prompt=conversation.system_prompt,
        user_message=conversation.user_message,
        tool_results=conversation.tool_results,
        history=conversation.history,
        first_user_text=conversation.first_user_text,
        parameters=parameters,
        messages=body["messages"],
    )


def _messages(body: Mapping[str, Any]) -> Any:
    messages = body.get("messages")
    if messages is None or messages == []:
        raise InvalidRequest(
            "'messages' is required and must hold at least one user message.",
            param="messages",
            code="missing_required_parameter",
        )
    return messages


def read_messages(value: Any, *, param: str) -> list[Message]:
    """A list of messages in the chat shape."""
    if not isinstance(value, list):
        raise wrong_type(param, "a list of messages", value)
    return [_message(raw, f"{param}[{at}]") for at, raw in enumerate(value)]


def _message(raw: Any, param: str) -> Message:
    if not isinstance(raw, dict):
        raise wrong_type(param, "a message object with role and content", raw)
    match raw.get("role"):
        case "system" | "developer" | "user" as role:
            return read_plain(role, raw, param)
        case "assistant":
            return _assistant(raw, param)
        case "tool":
            return _tool(raw, param)
        case role:
            raise InvalidRequest(
                f"'{param}.role' must be system, developer, user, assistant or tool, "
                f"not {shown(role)}.",
                param=f"{param}.role",
                code="invalid_value",
            )


def _assistant(raw: Mapping[str, Any], param: str) -> Message:
    calls = raw.get("tool_calls") or []
    if not isinstance(calls, list):
        raise wrong_type(f"{param}.tool_calls", "a list", calls)
    content = raw.get("content")
    if content is None:
        # A refusal takes the place of the content; calls may stand alone.
        content = text(raw, "refusal", param=f"{param}.refusal") or (None if calls else "")
    message: Message = {
        "role": "assistant",
        "content": None
        if content is None
        else strip_content(normalise(content, param=f"{param}.content")),
    }
    if "name" in raw:
        add_name(message, raw, param)
    if calls:
        message["tool_calls"] = [
            read_tool_call(call, f"{param}.tool_calls[{at}]") for at, call in enumerate(calls)
        ]
    return message


def _tool(raw: Mapping[str, Any], param: str) -> Message:
    return {
        "role": "tool",
        "tool_call_id": required_text(raw, "tool_call_id", param=f"{param}.tool_call_id"),
        "content": normalise(raw.get("content"), param=f"{param}.content"),
    }


def completion(
    head: ChatHead, result: TurnResult, *, shows_reasoning: bool = False
) -> dict[str, Any]:
    """The whole answer. An incomplete turn says so in `finish_reason` and in a `hermes` block."""
    message = _answer_message(result)
    if shows_reasoning:
        message["reasoning_content"] = _reasoning(result)
    choice = {
        "index": 0,
        "message": message,
        "logprobs": None,
        "finish_reason": finish_reason(result),
    }
    answer: dict[str, Any] = {
        "id": head.id,
        "object": "chat.completion",
        "created": head.created,
        "model": head.model,
        "choices": [choice],
        "usage": chat_usage(result.usage),
    }
    if not result.is_complete:
        answer["hermes"] = incomplete_details(result)
    return answer


def _answer_message(result: TurnResult) -> Message:
    """With calls of the client's tools; then there may be no text at all, which is `null`."""
    message: Message = {"role": "assistant", "content": answer_text(result), "refusal": None}
    if result.pending:
        message["content"] = result.text or None
        message["tool_calls"] = list(result.pending)
    return message


def _reasoning(result: TurnResult) -> str | None:
    """What the model thought, where the turn kept it."""
    thoughts = [str(said["reasoning"]) for said in result.messages if said.get("reasoning")]
    return "\n\n".join(thoughts) or None


def finish_reason(result: TurnResult, *, has_text: bool | None = None) -> str:
    """`has_text` tells what the reader has seen, where that is more than `result.text`."""
    match result.outcome:
        case Outcome.COMPLETED | Outcome.ASKING:
            return "stop"
        case Outcome.WAITING:
            return "tool_calls"
        case Outcome.TRUNCATED:
            return "length"
        case Outcome.INTERRUPTED:
            return "length" if has_text or result.text else "error"
        case Outcome.FAILED:
            return "error"


def chat_usage(usage: Usage) -> dict[str, Any]:
    return {
        "prompt_tokens": usage.input_tokens,
        "completion_tokens": usage.output_tokens,
        "total_tokens": usage.total_tokens,
        "prompt_tokens_details": {"cached_tokens": usage.cached_tokens},
        "completion_tokens_details": {"reasoning_tokens": usage.reasoning_tokens},
        **usage.extras,
    }


def incomplete_details(result: TurnResult) -> dict[str, Any]:
    """The `hermes` block: how the turn ended, in the words of the contract."""
    return {
        "completed": result.is_complete,
        "partial": not result.is_complete,
        "failed": result.outcome is Outcome.FAILED,
        "interrupted": result.outcome is Outcome.INTERRUPTED,
        "error_code": _error_code(result),
        "error": result.error,
    }


def _error_code(result: TurnResult) -> str | None:
    """What stopped a turn that has a beginning of an answer may be more than its length."""
    if result.outcome is Outcome.TRUNCATED and result.failure is not None:
        return result.failure.code
    return ERROR_CODES.get(result.outcome)


def incomplete_headers(result: TurnResult) -> dict[str, str]:
    if result.is_complete:
        return {}
    return {"X-Hermes-Completed": "false", "X-Hermes-Partial": "true"}


def failure_message(result: TurnResult) -> str:
    """Why there is no proper answer, in words for the caller."""
    if result.error:
        return result.error
    if result.outcome is Outcome.INTERRUPTED:
        return "The turn was interrupted before it had an answer."
    return "The agent ended without an answer; send the request again."


def agent_incomplete(result: TurnResult) -> AgentIncomplete:
    """The error for a turn without a usable answer; what text there is travels in the details."""
    details = incomplete_details(result)
    if result.text:
        details["partial_text"] = result.text
    return AgentIncomplete(
        failure_message(result),
        headers={"X-Hermes-Completed": "false"},
        extra={"hermes": details},
    )
