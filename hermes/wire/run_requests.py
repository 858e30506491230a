"""Requests about runs, read: a new one, a page of them, a place in a log, a decision, a word."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from hermes.core.approvals import Decision
from hermes.core.budgets import NO_BUDGET, Budget
from hermes.core.errors import InvalidRequest
from hermes.core.messages import Content, Message
from hermes.core.runs import Disconnect, RunQuery, RunStatus, WhenBusy
from hermes.wire.approval_text import decision_of
from hermes.wire.budgets import read_budget
from hermes.wire.chat import read_messages
from hermes.wire.conversation import split
from hermes.wire.lenient import number, required_text, shown, text
from hermes.wire.queries import whole_number
from hermes.wire.response_echo import parse_metadata
from hermes.wire.response_input import NOTHING_OUTSIDE, Outside, messages_of, read_items
from hermes.wire.run_policies import parse_disconnect, parse_when_busy

LONGEST_TIMEOUT = 86_400
LONGEST_WAIT = 300
LONGEST_STEER = 20_000
LONGEST_SESSION_ID = 256
MOST_RUNS = 100
_DEFAULT_RUNS = 20
_LAST_SEQ = 2**63 - 1

LAST_EVENT_ID = "Last-Event-ID"

_HEEDED = frozenset(
    {
        "input",
        "instructions",
        "session_id",
        "previous_response_id",
        "conversation_history",
        "model",
        "metadata",
        "disconnect",
        "when_busy",
        "timeout",
        "wait",
        "budget",
    }
)
_HISTORIES = ("session_id", "previous_response_id", "conversation_history")
"""Where the turns before may come from."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RunRequest:
    """What a request for a run asks for."""

    model: str | None
    user_message: Content | None
    tool_results: list[Message]
    history: list[Message]
    """Messages the request itself brings along, before the user's."""
    instructions: str | None
    added_instructions: str | None
    """System and developer messages among the others."""
    session_id: str | None
    previous_response_id: str | None
    metadata: dict[str, str]
    disconnect: Disconnect | None
    when_busy: WhenBusy | None
    timeout: float | None
    """Seconds it may run; None: as configured."""
    wait: float
    """Seconds the answer may be held back for the end of the run."""
    ignored: tuple[str, ...]
    """Fields that have no effect."""
    items: list[dict[str, Any]]
    """The input item by item."""
    budget: Budget = NO_BUDGET


@dataclass(frozen=True, slots=True, kw_only=True)
class ApprovalAnswer:
    """A decision, and what it is about."""

    decision: Decision
    approval_id: str | None = None
    """None: everything the run waits for."""


def parse_run(
    body: Mapping[str, Any],
    query: Mapping[str, str] | None = None,
    outside: Outside = NOTHING_OUTSIDE,
) -> RunRequest:
    """`wait` may stand in the query too, where it wins."""
    _refuse_two_histories(body)
    items = read_items(body.get("input"), outside)
    earlier = _conversation_history(body)
    said = split([*earlier, *messages_of(items, outside)], param="input")
    disconnect, when_busy = body.get("disconnect"), body.get("when_busy")
    return RunRequest(
        model=text(body, "model"),
        user_message=said.user_message,
        tool_results=said.tool_results,
        history=said.history,
        instructions=text(body, "instructions"),
        added_instructions=said.system_prompt,
        session_id=_session_id(body),
        previous_response_id=text(body, "previous_response_id") or None,
        metadata=parse_metadata(body),
        disconnect=None if disconnect is None else parse_disconnect(disconnect, param="disconnect"),
        when_busy=None if when_busy is None else parse_when_busy(when_busy, param="when_busy"),
        timeout=number(body, "timeout", low=1, high=LONGEST_TIMEOUT),
        wait=_wait(body, query or {}),
        ignored=tuple(name for name in body if name not in _HEEDED and body[name] is not None),
        items=items,
        budget=read_budget(body),
    )


def parse_run_query(query: Mapping[str, str], *, owner: str) -> RunQuery:
    return RunQuery(
        owner=owner,
        limit=whole_number(query, "limit", _DEFAULT_RUNS, low=1, high=MOST_RUNS),
        after=query.get("after") or None,
        statuses=frozenset(_statuses(query.get("status", ""))),
        session_id=query.get("session_id") or None,
    )


def parse_after(headers: Mapping[str, str], query: Mapping[str, str]) -> int:
    """The number of the last event the viewer has; 0 for all of them.

    The header wins: a browser that joins again keeps the query of its first request.
    """
    name, fields = (LAST_EVENT_ID, headers) if headers.get(LAST_EVENT_ID) else ("after", query)
    return whole_number(fields, name, 0, low=0, high=_LAST_SEQ)


def parse_approval(body: Mapping[str, Any]) -> ApprovalAnswer:
    word = required_text(body, "decision", param="decision")
    decision = decision_of(word)
    if decision is None:
        raise InvalidRequest(
            f"'decision' must be once, session, always or deny, not {shown(word)}.",
            param="decision",
            code="invalid_value",
        )
    return ApprovalAnswer(decision=decision, approval_id=text(body, "approval_id") or None)


def parse_steer(body: Mapping[str, Any]) -> str:
    said = required_text(body, "text", param="text")
    if not said.strip() or len(said) > LONGEST_STEER:
        raise InvalidRequest(
            f"'text' must say something, in up to {LONGEST_STEER} characters.",
            param="text",
            code="invalid_value",
        )
    return said


def _refuse_two_histories(body: Mapping[str, Any]) -> None:
    named = [name for name in _HISTORIES if body.get(name)]
    if len(named) > 1:
        raise InvalidRequest(
            f"Cannot use both '{named[0]}' and '{named[1]}': each says what went before. "
            "Leave one of them out.",
            param=named[1],
            code="invalid_value",
        )


def _conversation_history(body: Mapping[str, Any]) -> list[Message]:
    value = body.get("conversation_history")
    return [] if value is None else read_messages(value, param="conversation_history")


def _session_id(body: Mapping[str, Any]) -> str | None:
    found = text(body, "session_id") or None
    if found and (len(found) > LONGEST_SESSION_ID or not found.isprintable()):
        raise InvalidRequest(
            f"'session_id' must be up to {LONGEST_SESSION_ID} printable characters.",
            param="session_id",
            code="invalid_value",
        )
    return found


def _wait(body: Mapping[str, Any], query: Mapping[str, str]) -> float:
    if query.get("wait"):
        return float(whole_number(query, "wait", 0, low=0, high=LONGEST_WAIT))
    return number(body, "wait", low=0, high=LONGEST_WAIT) or 0.0


def _statuses(written: str) -> list[RunStatus]:
    names = [name.strip() for name in written.split(",") if name.strip()]
    known = {status.value: status for status in RunStatus}
    for name in names:
        if name not in known:
            raise InvalidRequest(
                f"'status' must be some of {', '.join(known)}, separated by commas, "
                f"not {shown(name)}.",
                param="status",
                code="invalid_value",
            )
    return [known[name] for name in names]
