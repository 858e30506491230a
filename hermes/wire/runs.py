"""Runs as objects on the wire: one of them, a page of them, one whose log is no longer whole."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Any

from hermes.core.approvals import ApprovalRequest, Decision
from hermes.core.errors import EventsGone, NotFound
from hermes.core.runs import Run, RunPage, RunStatus
from hermes.wire.lenient import shown
from hermes.wire.turn_errors import KINDS

CHOICES = [decision.value for decision in Decision]

_RESOURCES: Mapping[str, str] = MappingProxyType(
    {"response": "response_id", "chat": "completion_id"}
)
"""Under which name a run shows what its route made, by the kind of the run."""


def run_object(
    run: Run, *, place: int | None = None, approvals: Sequence[ApprovalRequest] = ()
) -> dict[str, Any]:
    """`place` is shown while it is queued, `approvals` while it waits for them."""
    written: dict[str, Any] = {
        "id": run.id,
        "object": "run",
        "status": run.status.value,
        "kind": run.kind,
        "session_id": run.session_id,
        "model": run.input.get("model"),
        "created_at": run.created_at,
        "started_at": run.started_at,
        "finished_at": run.finished_at,
        "attempt": run.attempt,
        "last_event": run.last_seq,
        "has_all_events": run.has_all_events,
        "metadata": dict(run.metadata),
        "disconnect": str(run.disconnect),
        "timeout": run.timeout,
        "output": run.output,
        "error": shown_error(run.error),
        "usage": dict(run.usage) if run.usage else None,
        "events_url": f"/v1/runs/{run.id}/events",
    }
    resource = _RESOURCES.get(run.kind)
    if resource is not None:
        written[resource] = run.resource_id
    if run.status is RunStatus.QUEUED and place is not None:
        written["queue_position"] = place
    if run.status is RunStatus.WAITING_FOR_APPROVAL:
        written["approvals"] = [approval_object(request) for request in approvals]
    return written


def run_list(page: RunPage) -> dict[str, Any]:
    data = [run_object(run) for run in page.runs]
    return {
        "object": "list",
        "data": data,
        "first_id": data[0]["id"] if data else None,
        "last_id": data[-1]["id"] if data else None,
        "has_more": page.has_more,
    }


def shown_error(error: Mapping[str, Any] | None) -> dict[str, Any] | None:
    """What went wrong, under the code that a refused request would have."""
    if error is None:
        return None
    code = error["code"]
    return {"code": KINDS[code][1] if code in KINDS else code, "message": error["message"]}


def approval_object(request: ApprovalRequest) -> dict[str, Any]:
    """What is asked. `command` is exactly what would be done, `tool` and `arguments` the call."""
    return {
        "id": request.id,
        "code": request.code,
        "call_id": request.call_id,
        "tool": request.tool,
        "arguments": dict(request.arguments),
        "command": request.shown,
        "reason": request.reason,
        "choices": CHOICES,
        "expires_at": request.expires_at,
    }


def unknown_run(run_id: str, *, param: str = "run_id") -> NotFound:
    return NotFound(f"There is no run {shown(run_id)}.", param=param, code="run_not_found")


def run_events_gone(run: Run) -> EventsGone:
    """For a viewer who wants events that were deleted: the whole run instead of a gap."""
    return EventsGone(
        f"Some of the events of run {run.id} that you ask for were deleted to save space. "
        "'run' is what became of it; ?after="
        f"{run.last_seq - 1 if run.last_seq else 0} still gives its last event.",
        param="after",
        extra={"run": run_object(run)},
    )


def response_events_gone(response: Mapping[str, Any]) -> EventsGone:
    """The same for the stream of a response."""
    return EventsGone(
        "Some of the events of this response that you ask for were deleted to save space. "
        "'response' is the response itself; GET it without 'stream'.",
        param="starting_after",
        extra={"response": dict(response)},
    )
