"""What a Responses request asks of the turn: sampling, format, effort, tools; and what in vain."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from hermes.core.errors import InvalidRequest
from hermes.core.turn import AnswerFormat, Sampling, TurnParameters
from hermes.wire.budgets import read_budget
from hermes.wire.json_schemas import refuse_unusable_schema
from hermes.wire.lenient import boolean, integer, mapping, required_text, shown, text, wrong_type
from hermes.wire.response_echo import ResponseEcho
from hermes.wire.response_tools import client_tools

Body = Mapping[str, Any]

INCLUDABLE = (
    "file_search_call.results",
    "web_search_call.results",
    "web_search_call.action.sources",
    "message.input_image.image_url",
    "computer_call_output.output.image_url",
    "code_interpreter_call.outputs",
    "reasoning.encrypted_content",
)
"""Accepted without an effect: each would add something that no answer here has."""

IGNORED = (
    "user",
    "safety_identifier",
    "prompt_cache_key",
    "prompt_cache_retention",
    "service_tier",
    "text.verbosity",
    "include",
)
"""Accepted, checked where they are known, and without an effect on the turn."""

_HEEDED = frozenset(
    {
        "model",
        "input",
        "instructions",
        "previous_response_id",
        "conversation",
        "stream",
        "stream_options",
        "store",
        "background",
        "tools",
        "tool_choice",
        "parallel_tool_calls",
        "max_output_tokens",
        "max_tool_calls",
        "temperature",
        "top_p",
        "presence_penalty",
        "frequency_penalty",
        "top_logprobs",
        "text",
        "reasoning",
        "truncation",
        "context_management",
        "metadata",
        "budget",
    }
)

LEAST_THRESHOLD = 1_000
"""Tokens; with less, nothing of a conversation would be left."""

_FULFILLED = (("service_tier", "auto"), ("service_tier", "default"))

_NOT_SERVED = {
    "prompt": "stored prompts are not served; send 'instructions' and 'input'",
}


def parse_parameters(body: Body, echo: ResponseEcho) -> TurnParameters:
    """`echo` is the same request, checked; only what was really said goes to the model."""
    _refuse_unserved(body)
    check_include(body.get("include"))
    mapping(body, "stream_options")
    return TurnParameters(
        persist=echo.store,
        sampling=Sampling(
            temperature=_if_said(body, "temperature", echo.temperature),
            top_p=_if_said(body, "top_p", echo.top_p),
            presence_penalty=_if_said(body, "presence_penalty", echo.presence_penalty),
            frequency_penalty=_if_said(body, "frequency_penalty", echo.frequency_penalty),
            max_tokens=echo.max_output_tokens,
        ),
        answer_format=_answer_format(echo.text["format"]),
        reasoning_effort=echo.reasoning["effort"] if echo.reasoning else None,
        client_tools=client_tools(
            echo.tools,
            echo.tool_choice,
            parallel=None if body.get("parallel_tool_calls") is None else echo.parallel_tool_calls,
        ),
        max_tool_calls=echo.max_tool_calls,
        budget=read_budget(body),
        compact_threshold=compact_threshold(body),
    )


def compact_threshold(body: Body) -> int | None:
    """From how many tokens on the conversation is to be made shorter; the least of all wishes."""
    wishes = body.get("context_management")
    if wishes is None:
        return None
    if not isinstance(wishes, list):
        raise wrong_type("context_management", "a list", wishes)
    wanted = [_compaction(wish, at) for at, wish in enumerate(wishes)]
    return min((threshold for threshold in wanted if threshold is not None), default=None)


def _compaction(wish: Any, at: int) -> int | None:
    param = f"context_management[{at}]"
    if not isinstance(wish, dict):
        raise wrong_type(param, "an object", wish)
    if wish.get("type") != "compaction":
        raise InvalidRequest(
            f"'{param}.type' must be compaction, not {shown(wish.get('type'))}.",
            param=f"{param}.type",
            code="invalid_value",
        )
    return integer(wish, "compact_threshold", low=LEAST_THRESHOLD)


def ignored_of(body: Body) -> tuple[str, ...]:
    """What this request says in vain. A wish for what is the case anyway is not in vain."""
    said = [name for name, value in body.items() if name not in _HEEDED and value not in (None, [])]
    names = [name for name in said if (name, body[name]) not in _FULFILLED]
    text = body.get("text")
    if isinstance(text, dict) and text.get("verbosity") is not None:
        names.append("text.verbosity")
    return tuple(names)


def check_include(value: Any) -> None:
    """Known names pass; log probabilities cannot be had, and what nobody knows is a mistake."""
    if value is None:
        return
    if not isinstance(value, list):
        raise wrong_type("include", "a list", value)
    for at, name in enumerate(value):
        if name == "message.output_text.logprobs":
            raise InvalidRequest(
                "Log probabilities are not served; leave them out of 'include'.",
                param=f"include[{at}]",
                code="unsupported_parameter",
            )
        if name not in INCLUDABLE:
            raise InvalidRequest(
                f"'include[{at}]' must be one of {', '.join(INCLUDABLE)}, not {shown(name)}.",
                param=f"include[{at}]",
                code="invalid_value",
            )


def _refuse_unserved(body: Body) -> None:
    for name, reason in _NOT_SERVED.items():
        if body.get(name) is not None:
            raise InvalidRequest(
                f"'{name}' cannot be used: {reason}.", param=name, code="unsupported_parameter"
            )


def _if_said(body: Body, name: str, value: float) -> float | None:
    return None if body.get(name) is None else value


def _answer_format(wanted: Mapping[str, Any]) -> AnswerFormat | None:
    match wanted["type"]:
        case "text":
            return None
        case "json_object":
            return AnswerFormat()
        case "json_schema":
            return _schema_format(wanted)
        case kind:
            raise InvalidRequest(
                f"'text.format.type' must be text, json_object or json_schema, not {shown(kind)}.",
                param="text.format.type",
                code="invalid_value",
            )


def _schema_format(wanted: Mapping[str, Any]) -> AnswerFormat:
    schema = mapping(wanted, "schema", param="text.format.schema")
    if schema is None:
        raise InvalidRequest(
            "'text.format.schema' is required.",
            param="text.format.schema",
            code="missing_required_parameter",
        )
    refuse_unusable_schema(schema, param="text.format.schema")
    return AnswerFormat(
        name=required_text(wanted, "name", param="text.format.name"),
        schema=schema,
        strict=boolean(wanted, "strict", False, param="text.format.strict"),
        description=text(wanted, "description", param="text.format.description"),
    )
