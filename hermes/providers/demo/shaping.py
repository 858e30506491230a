"""What a request demands of the form of an answer: JSON, a last word, a length."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from hermes.providers.demo.chunks import CHARACTERS_PER_TOKEN, arguments_json
from hermes.providers.demo.instances import instance_of
from hermes.providers.demo.moves import Move, Say, Use


@dataclass(frozen=True, slots=True, kw_only=True)
class Form:
    """The parameters of a chat completion that the demo model heeds."""

    response_format: Mapping[str, Any]
    stop: Sequence[str]
    max_tokens: int | None


def read_form(api_kwargs: Mapping[str, Any]) -> Form:
    return Form(
        response_format=api_kwargs.get("response_format") or {"type": "text"},
        stop=api_kwargs.get("stop") or (),
        max_tokens=api_kwargs.get("max_tokens") or api_kwargs.get("max_completion_tokens"),
    )


def shaped(move: Move, form: Form) -> Move:
    """The same move in the form it has to have; what is too long for it is cut off."""
    most = None if form.max_tokens is None else form.max_tokens * CHARACTERS_PER_TOKEN
    match move:
        case Use():
            is_short = most is None or len(arguments_json(move)) <= most
            return move if is_short else Say("", is_cut=True)
        case Say():
            text = _before_stop(_formatted(move.text, form.response_format), form.stop)
            is_short = most is None or len(text) <= most
            return Say(text) if is_short else Say(text[:most], is_cut=True)


def _formatted(text: str, response_format: Mapping[str, Any]) -> str:
    match response_format.get("type"):
        case "json_object":
            return json.dumps({"answer": text}, ensure_ascii=False)
        case "json_schema":
            value = instance_of(response_format["json_schema"].get("schema") or {})
            return json.dumps(value, ensure_ascii=False)
        case _:
            return text


def _before_stop(text: str, stop: Sequence[str]) -> str:
    ends = [text.find(sequence) for sequence in stop if sequence in text]
    return text[: min(ends)] if ends else text
