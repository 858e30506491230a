"""The contract's result dictionary and usage dictionary ⇄ our `TurnResult`.

The dictionaries come from agents of every make (also from test doubles), so every field is
checked for its type before it is believed.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from hermes.core.approvals import ApprovalRequest
from hermes.core.turn import Failure, Outcome, TurnResult, Usage

OUTCOMES = {outcome.value: outcome for outcome in Outcome}


def result_from(result: Mapping[str, Any], usage: Mapping[str, Any]) -> TurnResult:
    """Read an agent's answer. Only `final_response` is to be expected; all else has a default."""
    text = result.get("final_response")
    messages = result.get("messages")
    error = result.get("error")
    session_id = result.get("session_id")
    return TurnResult(
        text=text if isinstance(text, str) else "",
        outcome=_outcome(result),
        error=str(error) if error else None,
        messages=messages if isinstance(messages, list) else [],
        failure=_failure(result),
        pending=_pending(result),
        approvals=_approvals(result) if result.get("approvals") else (),
        usage=_usage(usage, result),
        session_id=session_id if isinstance(session_id, str) and session_id else None,
        api_calls=_count(result, "api_calls"),
    )


def result_to_dict(result: TurnResult, session_id: str | None) -> dict[str, Any]:
    """What `AIAgent.run_conversation` returns."""
    return {
        "final_response": result.text,
        "messages": list(result.messages),
        "api_calls": result.api_calls,
        "completed": result.is_complete,
        "partial": not result.is_complete and bool(result.text),
        "failed": result.outcome is Outcome.FAILED,
        "interrupted": result.outcome is Outcome.INTERRUPTED,
        "outcome": result.outcome.value,
        "error": result.error,
        "error_code": result.failure.code if result.failure else None,
        "retry_after": result.failure.retry_after if result.failure else None,
        "pending_tool_calls": list(result.pending),
        "approvals": list(result.approvals),
        "session_id": session_id,
        "input_tokens": result.usage.input_tokens,
        "output_tokens": result.usage.output_tokens,
        "total_tokens": result.usage.total_tokens,
        "cached_tokens": result.usage.cached_tokens,
        "reasoning_tokens": result.usage.reasoning_tokens,
        "cache_write_tokens": result.usage.cache_write_tokens,
        "cost_usd": result.usage.cost_usd,
        "is_cost_partial": result.usage.is_cost_partial,
        "is_estimated": result.usage.is_estimated,
    }


def _outcome(result: Mapping[str, Any]) -> Outcome:
    named = result.get("outcome")
    if isinstance(named, str) and named in OUTCOMES:
        return OUTCOMES[named]
    if result.get("failed") is True:
        return Outcome.FAILED
    if result.get("interrupted") is True:
        return Outcome.INTERRUPTED
    if result.get("partial") is True or result.get("completed") is False:
        return Outcome.TRUNCATED
    return Outcome.COMPLETED


def _failure(result: Mapping[str, Any]) -> Failure | None:
    code, retry_after = result.get("error_code"), result.get("retry_after")
    if not isinstance(code, str) or not code:
        return None
    seconds = float(retry_after) if isinstance(retry_after, int | float) else None
    return Failure(code=code, retry_after=seconds)


def _pending(result: Mapping[str, Any]) -> tuple[dict[str, Any], ...]:
    calls = result.get("pending_tool_calls")
    found = calls if isinstance(calls, list) else []
    return tuple(call for call in found if isinstance(call, dict))


def _approvals(result: Mapping[str, Any]) -> tuple[ApprovalRequest, ...]:
    requests = result.get("approvals")
    found = requests if isinstance(requests, list) else []
    return tuple(request for request in found if isinstance(request, ApprovalRequest))


def _usage(usage: Mapping[str, Any], result: Mapping[str, Any]) -> Usage:
    return Usage(
        input_tokens=_count(usage, "input_tokens"),
        output_tokens=_count(usage, "output_tokens"),
        total_tokens=_count(usage, "total_tokens"),
        cached_tokens=_count(result, "cached_tokens"),
        reasoning_tokens=_count(result, "reasoning_tokens"),
        cache_write_tokens=_count(result, "cache_write_tokens"),
        cost_usd=_amount(result, "cost_usd"),
        is_cost_partial=result.get("is_cost_partial") is True,
        is_estimated=result.get("is_estimated") is True,
    )


def _amount(source: Mapping[str, Any], key: str) -> float | None:
    value = source.get(key)
    return float(value) if isinstance(value, int | float) and value is not True else None


def _count(source: Mapping[str, Any], key: str) -> int:
    value = source.get(key)
    if value.__class__ is int:  # as nearly always
        return int(value)
    return value if isinstance(value, int) and not isinstance(value, bool) else 0
