"""Runs as every way in shows and decides them: found for their owner, described, approved."""

from __future__ import annotations

from typing import Any

from hermes.core.errors import Conflict, NotFound
from hermes.core.run_ports import Waiting
from hermes.core.runs import Run, RunStatus
from hermes.runs.live_run import LiveRun
from hermes.server.asking import asked_last, let_go_on, take_decision
from hermes.server.run_work import work_for
from hermes.server.seams import Seams
from hermes.wire.run_requests import ApprovalAnswer
from hermes.wire.runs import run_object, unknown_run


async def existing_run(seams: Seams, run_id: str, owner: str) -> Run:
    """Also one that is not kept, as long as it is known. Raises `NotFound`."""
    passing = seams.passing.get(run_id, owner)
    if passing is not None:
        return passing.as_run()
    run = await seams.runs.in_store(lambda store: store.get(run_id, owner=owner))
    if run is None:
        raise unknown_run(run_id)
    return run


async def shown_run(seams: Seams, run: Run) -> dict[str, Any]:
    waiting = None
    if run.status is RunStatus.WAITING_FOR_APPROVAL:
        waiting = await seams.runs.in_store(lambda store: store.waiting(run.id))
    return run_object(
        run,
        place=seams.runs.place(run.id),
        approvals=() if waiting is None else waiting.requests,
    )


async def decide_run(seams: Seams, run: Run, answer: ApprovalAnswer) -> LiveRun | None:
    """Take a decision about what a run waits for; it goes on when all of it is decided."""
    waiting = await seams.runs.in_store(lambda store: store.waiting(run.id))
    if waiting is None:
        raise Conflict(
            f"Run {run.id} does not wait for an approval; it is {run.status.value}.",
            code="no_approval_pending",
        )
    await _refuse_unknown(seams, waiting, answer.approval_id)
    taken = await take_decision(
        seams, waiting, answer.decision, by="client", only=answer.approval_id
    )
    if not taken:
        raise Conflict(
            "That was decided before; a decision is taken once.", code="approval_already_decided"
        )
    return await let_go_on(seams, waiting, work_for(seams, waiting.run), by="client")


async def _refuse_unknown(seams: Seams, waiting: Waiting, approval_id: str | None) -> None:
    asked = [] if approval_id is None else await asked_last(seams, waiting.run)
    if approval_id is not None and approval_id not in [each.id for each in asked]:
        raise NotFound(
            f"Run {waiting.run.id} waits for no approval with the id '{approval_id[:100]}'.",
            code="approval_not_found",
            param="approval_id",
        )
