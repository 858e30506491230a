"""After a restart: runs that a dead process left behind are settled, or go on where they were.

By default what ran is `interrupted`, and its log says so. With `runs.recovery: resume` the agent
goes on from the last finished step. What only waited, in a queue or for a decision, waits on.
"""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Coroutine
from typing import Any

from hermes.core.events import (
    MessageKept,
    SegmentEnd,
    TextDelta,
    ToolStarted,
    TurnEnded,
    TurnPaused,
)
from hermes.core.messages import Message
from hermes.core.run_ports import NewEvent
from hermes.core.runs import LoggedEvent, Run, RunStatus
from hermes.core.turn import Failure, Outcome, TurnResult
from hermes.runs.work import Ending
from hermes.server import response_work, session_work
from hermes.server.asking import let_go_on
from hermes.server.run_work import SOURCE, work_for
from hermes.server.seams import Seams
from hermes.settings.named_keys import MAIN, NOBODY

log = logging.getLogger(__name__)

INTERRUPTED = "The gateway stopped while this run was at work; what it did so far is in its log."
GIVEN_UP = "The gateway stopped each time this run was taken up; it was given up."


async def recover(seams: Seams) -> int:
    """Settle what was left behind; how many runs that were. For the only process of a home."""
    await seams.runs.load_grants([MAIN, NOBODY, *(key.name for key in seams.listener.keys)])
    left = await seams.runs.in_store(lambda store: store.orphans())
    for run in left:
        await _guarded(seams, run, _settle(seams, run))
    for run in await _unfinished(seams, RunStatus.WAITING_FOR_APPROVAL):
        seams.runs.hold(run)
        await _guarded(seams, run, _go_on_if_decided(seams, run))
    for run in await _unfinished(seams, RunStatus.QUEUED):
        await _guarded(seams, run, _begin_or_drop(seams, run))
    return len(left)


async def _guarded(seams: Seams, run: Run, settling: Coroutine[Any, Any, None]) -> None:
    """One run that cannot be read any more keeps neither the server from starting nor a session."""
    try:
        await settling
    except Exception:  # an embedder's store may raise anything
        log.exception("a lost run could not be settled", extra={"run_id": run.id})
        await seams.runs.stop(run.id)


async def _settle(seams: Seams, run: Run) -> None:
    settings = seams.run_settings
    events = await seams.runs.events(run.id, after=0, up_to=run.last_seq)
    await _complete_session(seams, run, events)
    if run.is_stop_requested:
        await _end(seams, run, events, RunStatus.CANCELLED, "Stopped on request.")
    elif settings.recovery != "resume" or not _can_go_on(events):
        await _end(seams, run, events, RunStatus.INTERRUPTED, INTERRUPTED)
    elif run.attempt >= settings.max_attempts:
        await _end(seams, run, events, RunStatus.FAILED, GIVEN_UP)
    else:
        await seams.runs.in_store(lambda store: store.requeue(run.id))


def _can_go_on(events: list[LoggedEvent]) -> bool:
    """Not where an agent that reports no steps has begun a tool: it would begin it again."""
    return bool(_said(events)) or not any(isinstance(each.event, ToolStarted) for each in events)


async def _complete_session(seams: Seams, run: Run, events: list[LoggedEvent]) -> None:
    """The log is written first: what the session lacks of it is added there, each step once."""
    session_id = run.session_id
    steps = _said(events)
    if session_id is None or run.kind == response_work.KIND or not steps:
        return

    def add() -> None:
        sessions = seams.sessions()
        if sessions is None:
            return
        if sessions.get_session(session_id) is None:
            if run.kind == session_work.KIND:
                return  # it was deleted meanwhile
            sessions.create_session(session_id, SOURCE)
        for step, message in enumerate(steps):
            sessions.append_message(
                session_id,
                message["role"],
                message.get("content"),
                tool_calls=message.get("tool_calls"),
                tool_call_id=message.get("tool_call_id"),
                tool_name=message.get("tool_name"),
                run_id=run.id,
                step=step,
            )

    try:
        await seams.storage.run(add)
    except Exception:  # an embedder's store may raise anything; the log has it all
        log.exception("session of a lost run not completed", extra={"run_id": run.id})


async def _end(
    seams: Seams, run: Run, events: list[LoggedEvent], status: RunStatus, why: str
) -> None:
    """Write the end that the dead process could not write any more."""
    at = time.time()
    is_failed = status is RunStatus.FAILED
    result = TurnResult(
        text=_unfinished_text(events),
        outcome=Outcome.FAILED if is_failed else Outcome.INTERRUPTED,
        error=why,
        failure=Failure(code="worker_lost") if is_failed else None,
        messages=_said(events),
    )

    async def read_leg() -> list[LoggedEvent]:
        begun_after = _leg_of(events)
        return [each for each in events if each.seq > begun_after]

    try:
        ending = Ending(result=result, status=status, at=at, read_leg=read_leg)
        await work_for(seams, run).end(run, ending)
    except Exception:
        # What it was to continue is gone, or a store fails; the run itself is settled all the same.
        log.exception("answer of a lost run not stored", extra={"run_id": run.id})
    last = NewEvent(run.id, run.last_seq + 1, at, TurnEnded(result, status.value))
    await asyncio.wrap_future(await seams.runs.in_store(lambda store: store.finish(status, last)))


def _leg_of(events: list[LoggedEvent]) -> int:
    """Behind which number the part of a run began that was cut off: its last decision, or 0."""
    pauses = [each.seq for each in events if isinstance(each.event, TurnPaused)]
    return pauses[-1] if pauses else 0


def _said(events: list[LoggedEvent]) -> list[Message]:
    return [each.event.message for each in events if isinstance(each.event, MessageKept)]


def _unfinished_text(events: list[LoggedEvent]) -> str:
    """What the model had said of the step that was cut off."""
    said: list[str] = []
    for each in events:
        if isinstance(each.event, TextDelta):
            said.append(each.event.text)
        elif isinstance(each.event, SegmentEnd | MessageKept):
            said.clear()
    return "".join(said)


async def _go_on_if_decided(seams: Seams, run: Run) -> None:
    """The process may have died between a decision and its consequence."""
    waiting = await seams.runs.in_store(lambda store: store.waiting(run.id))
    if waiting is not None:
        await let_go_on(seams, waiting, work_for(seams, run), by="client")


async def _begin_or_drop(seams: Seams, run: Run) -> None:
    """Whoever waited for a run that stops with its client has left."""
    if run.disconnect.grace is None or run.attempt > 0:
        events = await seams.runs.events(run.id, after=0, up_to=run.last_seq)
        seams.runs.go_on(run, work_for(seams, run), after=_leg_of(events))
    else:
        await seams.runs.stop(run.id)


async def _unfinished(seams: Seams, status: RunStatus) -> list[Run]:
    return await seams.runs.in_store(lambda store: store.unfinished(status))
