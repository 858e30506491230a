"""What a turn was asked and what came of it survive the process that knew it."""

from __future__ import annotations

import json
from dataclasses import fields, replace
from typing import Any

from hypothesis import given

from hermes.core.turn import TurnCall, TurnParameters, TurnResult
from hermes.core.turn_json import (
    call_from_json,
    call_to_json,
    parameters_from_json,
    parameters_to_json,
    result_from_json,
    result_to_json,
)
from tests.unit.core import values


def written_and_read(data: dict[str, Any]) -> dict[str, Any]:
    read: dict[str, Any] = json.loads(json.dumps(data, ensure_ascii=False))
    return read


@given(values.results)
def test_a_result_comes_back_as_it_was(result: TurnResult) -> None:
    assert result_from_json(written_and_read(result_to_json(result))) == result


@given(values.parameters)
def test_parameters_come_back_as_they_were(parameters: TurnParameters) -> None:
    assert parameters_from_json(written_and_read(parameters_to_json(parameters))) == parameters


@given(values.calls)
def test_a_call_comes_back_as_it_was_but_for_its_history(call: TurnCall) -> None:
    assert call_from_json(written_and_read(call_to_json(call))) == replace(call, history=())


def test_every_field_of_a_call_is_written_but_its_history() -> None:
    written = set(call_to_json(TurnCall(user_message="x")))
    assert written == {field.name for field in fields(TurnCall)} - {"history"}


def test_what_is_missing_or_unknown_does_no_harm() -> None:
    assert result_from_json({"text": "a", "later": 1}) == TurnResult(text="a")
    assert parameters_from_json({"sampling": {"later": 1}}) == TurnParameters()
    assert call_from_json({}) == TurnCall(user_message=None)
