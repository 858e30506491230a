"""The settings of a Responses request that its answer repeats, had they an effect or not."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from hermes.core.errors import InvalidRequest
from hermes.wire.lenient import (
    boolean,
    choice,
    integer,
    mapping,
    number,
    required_text,
    shown,
    string_map,
    text,
    wrong_type,
)

_TOOL_CHOICES = ("none", "auto", "required")


def _plain_text_format() -> dict[str, Any]:
    return {"format": {"type": "text"}}


@dataclass(frozen=True, slots=True, kw_only=True)
class ResponseEcho:
    """The fields of a response object that come from the request, by their names on the wire."""

    temperature: float = 1.0
    top_p: float = 1.0
    presence_penalty: float = 0.0
    frequency_penalty: float = 0.0
    top_logprobs: int = 0
    max_output_tokens: int | None = None
    max_tool_calls: int | None = None
    parallel_tool_calls: bool = True
    tool_choice: str | dict[str, Any] = "auto"
    tools: list[dict[str, Any]] = field(default_factory=list)
    text: dict[str, Any] = field(default_factory=_plain_text_format)
    reasoning: dict[str, Any] | None = None
    truncation: str = "disabled"
    store: bool = True
    background: bool = False
    metadata: dict[str, str] = field(default_factory=dict)
    safety_identifier: str | None = None
    prompt_cache_key: str | None = None


def parse_echo(body: Mapping[str, Any]) -> ResponseEcho:
    return ResponseEcho(
        temperature=_or(number(body, "temperature", low=0, high=2), 1.0),
        top_p=_or(number(body, "top_p", low=0, high=1), 1.0),
        presence_penalty=_or(number(body, "presence_penalty", low=-2, high=2), 0.0),
        frequency_penalty=_or(number(body, "frequency_penalty", low=-2, high=2), 0.0),
        top_logprobs=integer(body, "top_logprobs", low=0, high=20) or 0,
        max_output_tokens=integer(body, "max_output_tokens", low=1),
        max_tool_calls=integer(body, "max_tool_calls", low=0),
        parallel_tool_calls=boolean(body, "parallel_tool_calls", True),
        tool_choice=_tool_choice(body.get("tool_choice")),
        tools=_tools(body.get("tools")),
        text=_text(body),
        reasoning=_reasoning(body),
        truncation=choice(body, "truncation", ("auto", "disabled"), "disabled"),
        store=boolean(body, "store", True),
        background=_background(body),
        metadata=string_map(body, "metadata"),
        safety_identifier=text(body, "safety_identifier"),
        prompt_cache_key=text(body, "prompt_cache_key"),
    )


def _background(body: Mapping[str, Any]) -> bool:
    """Refused rather than ignored: the caller would poll for an answer that came at once."""
    if boolean(body, "background", False):
        raise InvalidRequest(
            "background: true is not served; leave it out, or stream the response.",
            param="background",
            code="unsupported_parameter",
        )
    return False


def _or(value: float | None, default: float) -> float:
    return default if value is None else value


def _tool_choice(value: Any) -> str | dict[str, Any]:
    if value is None:
        return "auto"
    if value in _TOOL_CHOICES:
        return str(value)
    if not isinstance(value, dict):
        raise InvalidRequest(
            f"'tool_choice' must be none, auto, required or an object, not {shown(value)}.",
            param="tool_choice",
            code="invalid_value",
        )
    required_text(value, "type", param="tool_choice.type")
    return value


def _tools(value: Any) -> list[dict[str, Any]]:
    if value is None:
        return []
    if not isinstance(value, list):
        raise wrong_type("tools", "a list", value)
    return [_tool(raw, f"tools[{at}]") for at, raw in enumerate(value)]


def _tool(raw: Any, param: str) -> dict[str, Any]:
    """A function with every key present, as strict readers want it; other kinds as they came."""
    if not isinstance(raw, dict):
        raise wrong_type(param, "a tool object", raw)
    if required_text(raw, "type", param=f"{param}.type") != "function":
        return raw
    return {
        "type": "function",
        "name": required_text(raw, "name", param=f"{param}.name"),
        "description": text(raw, "description", param=f"{param}.description"),
        "parameters": raw.get("parameters"),
        "strict": raw.get("strict"),
    }


def _text(body: Mapping[str, Any]) -> dict[str, Any]:
    found = mapping(body, "text") or {}
    wanted = mapping(found, "format")
    if wanted is None:
        return {**found, **_plain_text_format()}
    required_text(wanted, "type", param="text.format.type")
    return found


def _reasoning(body: Mapping[str, Any]) -> dict[str, Any] | None:
    found = mapping(body, "reasoning")
    if found is None:
        return None
    return {
        "effort": text(found, "effort", param="reasoning.effort"),
        "summary": text(found, "summary", param="reasoning.summary"),
    }
