"""All that a chat request may say beside its messages: read, refused by name, or noted as ignored.

A plain request has none of it, and pays one set operation for that.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any

from hermes.core.budgets import NO_BUDGET, Budget
from hermes.core.errors import InvalidRequest
from hermes.core.turn import AnswerFormat, ClientTools, Sampling
from hermes.wire.budgets import read_budget
from hermes.wire.chat_tools import read_client_tools
from hermes.wire.json_schemas import refuse_unusable_schema
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

Body = Mapping[str, Any]

EFFORTS = ("none", "minimal", "low", "medium", "high", "xhigh")
MOST_STOPS = 4
MOST_METADATA = 16
LONGEST_METADATA_KEY = 64
LONGEST_METADATA_VALUE = 512

_PLAIN = frozenset({"messages", "model", "stream", "stream_options"})
_SAMPLING = frozenset(
    {
        "temperature",
        "top_p",
        "max_tokens",
        "max_completion_tokens",
        "stop",
        "seed",
        "presence_penalty",
        "frequency_penalty",
    }
)
_TOOLS = frozenset({"tools", "tool_choice", "parallel_tool_calls"})
_HEEDED = (
    _SAMPLING
    | _TOOLS
    | {
        "response_format",
        "reasoning_effort",
        "store",
        "metadata",
        "budget",
    }
)

_NO_CHANGE: Mapping[str, tuple[Any, ...]] = MappingProxyType(
    {
        "n": (1,),
        "logprobs": (False, "false"),
        "top_logprobs": (0,),
        "logit_bias": ({},),
        "modalities": (["text"],),
        "service_tier": ("auto", "default"),
        "verbosity": ("medium",),
        "function_call": ("none", "auto"),
        "functions": ([],),
    }
)
"""Values that ask for what happens anyway: neither refused nor worth a word."""

_REFUSED: Mapping[str, str] = MappingProxyType(
    {
        "n": "Only one choice can be made; leave 'n' out or set it to 1.",
        "logprobs": "Log probabilities are not available; leave 'logprobs' out.",
        "top_logprobs": "Log probabilities are not available; leave 'top_logprobs' out.",
        "functions": "'functions' is no longer served; send the same definitions as 'tools'.",
        "function_call": "'function_call' is no longer served; use 'tools' and 'tool_choice'.",
        "audio": "The answer cannot be spoken; leave 'audio' out.",
        "modalities": "Answers are text only; leave 'modalities' out or send [\"text\"].",
        "web_search_options": "Web search is not served here; leave 'web_search_options' out.",
    }
)

IGNORED = (
    "user",
    "safety_identifier",
    "prompt_cache_key",
    "prompt_cache_retention",
    "service_tier",
    "verbosity",
    "prediction",
    "logit_bias",
)
"""Known, checked where they have a type, and without effect: for /v1/capabilities."""

_TEXTS = ("user", "safety_identifier", "prompt_cache_key", "service_tier", "verbosity")

NO_SAMPLING = Sampling()
NO_TOOLS = ClientTools()


@dataclass(frozen=True, slots=True, kw_only=True)
class ChatParameters:
    """What a chat request asks for beside its messages."""

    sampling: Sampling = NO_SAMPLING
    answer_format: AnswerFormat | None = None
    reasoning_effort: str | None = None
    client_tools: ClientTools = NO_TOOLS
    budget: Budget = NO_BUDGET
    store: bool = False
    metadata: Mapping[str, str] = field(default_factory=dict)
    ignored: tuple[str, ...] = ()
    """Names that were sent and have no effect, in the order of the request."""


PLAIN = ChatParameters()


def read_parameters(body: Body) -> ChatParameters:
    """Raises `InvalidRequest` for what cannot be done; what is merely not done is `ignored`."""
    asked = {name for name, value in body.items() if value is not None} - _PLAIN
    if not asked:
        return PLAIN
    _refuse(body, asked)
    store = "store" in asked and boolean(body, "store", False)
    return ChatParameters(
        sampling=read_sampling(body) if asked & _SAMPLING else NO_SAMPLING,
        answer_format=_answer_format(body) if "response_format" in asked else None,
        reasoning_effort=choice(body, "reasoning_effort", EFFORTS, "") or None,
        client_tools=read_client_tools(body) if asked & _TOOLS else NO_TOOLS,
        budget=read_budget(body) if "budget" in asked else NO_BUDGET,
        store=store,
        metadata=read_metadata(body) if "metadata" in asked else {},
        ignored=_ignored(body, asked, heeds_metadata=store),
    )


def read_sampling(body: Body) -> Sampling:
    limit = integer(body, "max_completion_tokens", low=1)
    old_limit = integer(body, "max_tokens", low=1)
    return Sampling(
        temperature=number(body, "temperature", low=0, high=2),
        top_p=number(body, "top_p", low=0, high=1),
        max_tokens=old_limit if limit is None else limit,
        stop=_stop(body.get("stop")),
        seed=integer(body, "seed", low=-(2**63), high=2**63 - 1),
        presence_penalty=number(body, "presence_penalty", low=-2, high=2),
        frequency_penalty=number(body, "frequency_penalty", low=-2, high=2),
    )


def read_metadata(body: Body) -> dict[str, str]:
    """At most 16 pairs of short texts."""
    found = string_map(body, "metadata")
    if len(found) > MOST_METADATA:
        raise _too_much(f"'metadata' may have at most {MOST_METADATA} pairs.")
    for key, value in found.items():
        if len(key) > LONGEST_METADATA_KEY or len(value) > LONGEST_METADATA_VALUE:
            raise _too_much(
                f"In 'metadata' a key may have {LONGEST_METADATA_KEY} characters and a value "
                f"{LONGEST_METADATA_VALUE}; {shown(key)} is over that."
            )
    return found


def read_json_schema(wanted: Mapping[str, Any], *, param: str) -> AnswerFormat:
    """An answer format from `name`, `schema`, `strict` and `description`."""
    schema = wanted.get("schema")
    if not isinstance(schema, dict):
        raise wrong_type(f"{param}.schema", "a JSON schema object", schema)
    refuse_unusable_schema(schema, param=f"{param}.schema")
    return AnswerFormat(
        name=required_text(wanted, "name", param=f"{param}.name"),
        schema=schema,
        strict=boolean(wanted, "strict", False, param=f"{param}.strict"),
        description=text(wanted, "description", param=f"{param}.description"),
    )


def _answer_format(body: Body) -> AnswerFormat | None:
    wanted = mapping(body, "response_format") or {}
    match wanted.get("type"):
        case "text":
            return None
        case "json_object":
            return AnswerFormat()
        case "json_schema":
            described = mapping(wanted, "json_schema") or {}
            return read_json_schema(described, param="response_format.json_schema")
        case kind:
            raise InvalidRequest(
                "'response_format.type' must be text, json_object or json_schema, "
                f"not {shown(kind)}.",
                param="response_format.type",
                code="invalid_value",
            )


def _stop(value: Any) -> tuple[str, ...]:
    if value is None:
        return ()
    given = [value] if isinstance(value, str) else value
    if not isinstance(given, list) or not all(isinstance(word, str) and word for word in given):
        raise wrong_type("stop", "a text, or a list of texts that are not empty", value)
    if len(given) > MOST_STOPS:
        raise InvalidRequest(
            f"'stop' may have at most {MOST_STOPS} sequences.", param="stop", code="invalid_value"
        )
    return tuple(given)


def _refuse(body: Body, asked: Iterable[str]) -> None:
    for name in asked:
        if name in _REFUSED and not _changes_nothing(name, body[name]):
            raise InvalidRequest(_REFUSED[name], param=name, code="unsupported_parameter")
    for name in _TEXTS:
        text(body, name)


def _changes_nothing(name: str, value: Any) -> bool:
    # The types are compared too: to Python `true` is 1.
    return any(value == same and type(value) is type(same) for same in _NO_CHANGE.get(name, ()))


def _ignored(body: Body, asked: set[str], *, heeds_metadata: bool) -> tuple[str, ...]:
    heeded = _HEEDED if heeds_metadata else _HEEDED - {"metadata"}
    return tuple(
        name
        for name, value in body.items()
        if name in asked and name not in heeded and not _changes_nothing(name, value)
    )


def _too_much(message: str) -> InvalidRequest:
    return InvalidRequest(message, param="metadata", code="invalid_value")
