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
    string_map,
    text,
)
from hermes.wire.response_tools import read_choice, read_tools

_SERVICE_TIERS = ("auto", "default", "flex", "scale", "priority", "fast")
_EFFORTS = ("none", "minimal", "low", "medium", "high", "xhigh", "max")
_VERBOSITIES = ("low", "medium", "high")
_MOST_PAIRS, _LONGEST_KEY, _LONGEST_VALUE = 16, 64, 512


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
    service_tier: str = "default"
    metadata: dict[str, str] = field(default_factory=dict)
    user: str | None = None
    safety_identifier: str | None = None
    prompt_cache_key: str | None = None

    @property
    def asks_for_reasoning(self) -> bool:
        """Whether the client wants to read what the model thinks."""
        return bool(self.reasoning and self.reasoning.get("summary"))


def parse_echo(body: Mapping[str, Any]) -> ResponseEcho:
    """Every known field is checked, had it an effect or not."""
    tools = read_tools(body.get("tools"))
    store = boolean(body, "store", True)
    return ResponseEcho(
        temperature=_or(number(body, "temperature", low=0, high=2), 1.0),
        top_p=_or(number(body, "top_p", low=0, high=1), 1.0),
        presence_penalty=_or(number(body, "presence_penalty", low=-2, high=2), 0.0),
        frequency_penalty=_or(number(body, "frequency_penalty", low=-2, high=2), 0.0),
        top_logprobs=_logprobs(body),
        max_output_tokens=integer(body, "max_output_tokens", low=1),
        max_tool_calls=integer(body, "max_tool_calls", low=0),
        parallel_tool_calls=boolean(body, "parallel_tool_calls", True),
        tool_choice=read_choice(body.get("tool_choice"), tools),
        tools=tools,
        text=_text(body),
        reasoning=_reasoning(body),
        truncation=choice(body, "truncation", ("auto", "disabled"), "disabled"),
        store=store,
        background=_background(body, is_stored=store),
        service_tier=_service_tier(body),
        metadata=parse_metadata(body),
        user=text(body, "user"),
        safety_identifier=text(body, "safety_identifier"),
        prompt_cache_key=text(body, "prompt_cache_key"),
    )


def _logprobs(body: Mapping[str, Any]) -> int:
    if integer(body, "top_logprobs", low=0, high=20):
        raise InvalidRequest(
            "Log probabilities are not served; leave 'top_logprobs' out.",
            param="top_logprobs",
            code="unsupported_parameter",
        )
    return 0


def _background(body: Mapping[str, Any], *, is_stored: bool) -> bool:
    wanted = boolean(body, "background", False)
    if wanted and not is_stored:
        raise InvalidRequest(
            "background: true needs store: true; the answer could not be fetched otherwise.",
            param="background",
            code="invalid_value",
        )
    return wanted


def _service_tier(body: Mapping[str, Any]) -> str:
    """There is one tier here; what was asked for is repeated, as clients compare the two."""
    tier = choice(body, "service_tier", _SERVICE_TIERS, "auto")
    return "default" if tier == "auto" else tier


def parse_metadata(body: Mapping[str, Any]) -> dict[str, str]:
    """Up to 16 pairs, as OpenAI has it."""
    found = string_map(body, "metadata")
    if len(found) > _MOST_PAIRS or any(
        len(key) > _LONGEST_KEY or len(value) > _LONGEST_VALUE for key, value in found.items()
    ):
        raise InvalidRequest(
            f"'metadata' holds up to {_MOST_PAIRS} pairs, with keys of up to {_LONGEST_KEY} and "
            f"values of up to {_LONGEST_VALUE} characters.",
            param="metadata",
            code="invalid_value",
        )
    return found


def _or(value: float | None, default: float) -> float:
    return default if value is None else value


def _text(body: Mapping[str, Any]) -> dict[str, Any]:
    found = mapping(body, "text") or {}
    choice(found, "verbosity", _VERBOSITIES, "medium", param="text.verbosity")
    wanted = mapping(found, "format", param="text.format")
    if wanted is None:
        return {**found, **_plain_text_format()}
    required_text(wanted, "type", param="text.format.type")
    return found


def _reasoning(body: Mapping[str, Any]) -> dict[str, Any] | None:
    found = mapping(body, "reasoning")
    if found is None:
        return None
    return {
        "effort": choice(found, "effort", _EFFORTS, "", param="reasoning.effort") or None,
        "summary": text(found, "summary", param="reasoning.summary"),
    }
