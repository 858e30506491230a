"""A turn's values as JSON data and back, so that another process can take the turn up.

Every field survives, and sequences come back as tuples; only a call's `history` is left out: it is
large, and whoever takes up the turn reads it from where it is kept.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from hermes.core.approvals import ApprovalRequest, Decision, Grant
from hermes.core.budgets import Budget
from hermes.core.turn import (
    AnswerFormat,
    ClientTools,
    Failure,
    Outcome,
    Resumption,
    Sampling,
    TurnCall,
    TurnParameters,
    TurnResult,
    Usage,
)
from hermes.core.value_json import mapping_of, reader_of, to_plain, tuple_of

read_request = reader_of(ApprovalRequest)
read_usage = reader_of(Usage)

_read_result = reader_of(
    TurnResult,
    {
        "outcome": Outcome,
        "failure": reader_of(Failure),
        "pending": tuple,
        "approvals": tuple_of(read_request),
        "messages": tuple,
        "usage": read_usage,
    },
)
_read_parameters = reader_of(
    TurnParameters,
    {
        "sampling": reader_of(Sampling, {"stop": tuple}),
        "answer_format": reader_of(AnswerFormat),
        "client_tools": reader_of(ClientTools, {"tools": tuple}),
        "tool_results": tuple,
        "budget": reader_of(Budget),
        "grants": tuple_of(reader_of(Grant)),
        "resumption": reader_of(
            Resumption,
            {
                "messages": tuple,
                "started": frozenset,
                "decisions": mapping_of(Decision),
                "usage": read_usage,
            },
        ),
    },
)
_read_call = reader_of(TurnCall, {"history": tuple, "parameters": _read_parameters})


def result_to_json(result: TurnResult) -> dict[str, Any]:
    return dict(to_plain(result))


def result_from_json(data: Mapping[str, Any]) -> TurnResult:
    return _read_result(data)


def parameters_to_json(parameters: TurnParameters) -> dict[str, Any]:
    return dict(to_plain(parameters))


def parameters_from_json(data: Mapping[str, Any]) -> TurnParameters:
    return _read_parameters(data)


def call_to_json(call: TurnCall) -> dict[str, Any]:
    """Everything but the history."""
    return {
        "user_message": to_plain(call.user_message),
        "system_prompt": call.system_prompt,
        "session_id": call.session_id,
        "session_key": call.session_key,
        "parameters": parameters_to_json(call.parameters),
    }


def call_from_json(data: Mapping[str, Any]) -> TurnCall:
    """The history is empty unless somebody put one into `data`."""
    return _read_call({"user_message": None, **data})
