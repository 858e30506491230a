"""Answers that have to be JSON: checked against what the client asked for, and put right."""

from __future__ import annotations

import functools
import importlib
import json
import re
from collections.abc import Mapping
from typing import Any

import orjson

from hermes.agent.answer_patterns import without_patterns
from hermes.core.errors import ProviderError
from hermes.core.messages import Message, assistant, user
from hermes.core.turn import AnswerFormat

MOST_REPAIRS = 1

_FENCED = re.compile(r"\s*```(?:json)?\s*\n(.*)\n\s*```\s*", re.DOTALL)


def without_fence(text: str) -> str:
    """JSON that a model has put into a code block, taken out of it."""
    fenced = _FENCED.fullmatch(text)
    return fenced.group(1) if fenced else text


def fault_of(text: str, wanted: AnswerFormat) -> str | None:
    """What is wrong with an answer, in words for the model; None when nothing is.

    Raises ProviderError when no answer could be checked. Slow the first time, and with a large
    schema: not for the event loop.
    """
    try:
        value = orjson.loads(text)
    except orjson.JSONDecodeError as error:
        return f"it is not valid JSON ({error})"
    if wanted.schema is None:
        return None if isinstance(value, dict) else "it is not a JSON object"
    return _breach(value, wanted.schema)


def correction(text: str, fault: str, wanted: AnswerFormat) -> list[Message]:
    """What the model is told about its faulty answer; no part of the conversation that is kept.

    With the schema: some servers take `response_format` and tell the model nothing of it.
    """
    schema = "" if wanted.schema is None else json.dumps(wanted.schema)
    keeping = f" that keeps to this JSON schema: {schema}" if schema else ""
    return [
        assistant(text),
        user(
            f"That answer cannot be used: {fault}. Answer again with nothing but the corrected "
            f"JSON, without explanation or code block{keeping}"
        ),
    ]


def _breach(value: Any, schema: Mapping[str, Any]) -> str | None:
    jsonschema = _imported("jsonschema")
    # Without a registry of its own a validator fetches what a schema refers to.
    nothing_fetched = _imported("referencing.jsonschema").EMPTY_REGISTRY
    try:
        checked = without_patterns(schema)
        validator = jsonschema.validators.validator_for(checked)(checked, registry=nothing_fetched)
        error = jsonschema.exceptions.best_match(validator.iter_errors(value))
    except Exception as problem:  # jsonschema, on a reference to nowhere, a loop, no schema at all
        raise ProviderError(
            f"The schema for the answer cannot be used: {str(problem)[:300]}", code="bad_request"
        ) from problem
    if error is None:
        return None
    return f"at {error.json_path} it breaks the required schema: {error.message[:500]}"


@functools.cache
def _imported(name: str) -> Any:
    # Takes a good part of a cold start, and most turns never need it.
    return importlib.import_module(name)
