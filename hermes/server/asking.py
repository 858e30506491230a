"""Messages that answer a question: the turn that waits for it goes on, in any client.

The question is found by the code in the assistant's last message, or because the session or the
response that is continued waits for an answer. Whoever says something else has said no.
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass, replace

from hermes.core.approvals import ApprovalRequest, Decision
from hermes.core.errors import EventsGone
from hermes.core.events import ApprovalDecided, RunStarted, TurnPaused
from hermes.core.messages import Content, Message, text_of, tool
from hermes.core.run_ports import RunStore, Waiting
from hermes.core.runs import Run, RunStatus
from hermes.runs.engine import Begun
from hermes.runs.live_run import Cause, LiveRun
from hermes.runs.work import Work
from hermes.server.seams import Seams
from hermes.wire.approval_text import answer_of, code_in

NOT_RUN = "Not run: the user did not approve it, but said something else instead."
LOOK_AGAIN_SECONDS = 0.05
MOST_LOOKS = 40


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """What a message means to a run that waits."""

    waiting: Waiting
    decision: Decision | None
    """None: it means something else, and the run that waited is over."""


async def pending_answer(
    seams: Seams,
    owner: str,
    said: Content | None,
    *,
    history: Sequence[Message] = (),
    session_id: str | None = None,
    resource_id: str | None = None,
) -> Answer | None:
    """The answer that a message is, if a run waits for one."""
    waiting = await _waiting(seams, owner, _code(history), session_id, resource_id)
    if waiting is None or not waiting.requests:
        return None
    decision = answer_of(text_of(said), waiting.requests[0].code)
    if waiting.run.status.is_final and not await _went_on(seams, waiting):
        return None  # it was given up; whoever says yes now will be asked again
    if decision is None:
        if waiting.run.status is not RunStatus.WAITING_FOR_APPROVAL:
            return None
        await supersede(seams, waiting)
    return Answer(waiting=waiting, decision=decision)


async def _went_on(seams: Seams, waiting: Waiting) -> bool:
    """Whether a run that is over was taken up again after these questions."""
    run = waiting.run
    try:
        after = await _pause_of(seams, waiting)
        events = await seams.runs.events(run.id, after=after, up_to=run.last_seq)
    except EventsGone:
        return False  # that was long ago
    return any(isinstance(each.event, RunStarted) for each in events)


async def _pause_of(seams: Seams, waiting: Waiting) -> int:
    """The number of the event with which the run stopped for these questions."""
    events = await seams.runs.events(waiting.run.id, after=0, up_to=waiting.run.last_seq)
    asked = {request.id for request in waiting.requests}
    return next(
        (
            each.seq
            for each in events
            if isinstance(each.event, TurnPaused)
            and asked & {request.id for request in each.event.result.approvals}
        ),
        0,
    )


def _code(history: Sequence[Message]) -> str | None:
    if not history or history[-1].get("role") != "assistant":
        return None
    return code_in(text_of(history[-1].get("content")))


async def _waiting(
    seams: Seams, owner: str, code: str | None, session_id: str | None, resource_id: str | None
) -> Waiting | None:
    if code is None and session_id is None and resource_id is None:
        return None

    def look(store: RunStore) -> Waiting | None:
        if code is not None and (found := store.find_waiting(code=code, owner=owner)):
            return found
        run: Run | None = None
        if session_id is not None:
            run = store.active(session_id)
        elif resource_id is not None:
            run = store.find(resource_id, owner=owner)
        return None if run is None or run.owner != owner else store.waiting(run.id)

    return await seams.runs.in_store(look)


async def supersede(seams: Seams, waiting: Waiting) -> None:
    """Something else was said: the calls are not made, and the transcript says so."""
    run = waiting.run

    def deny(store: RunStore) -> None:
        for request in waiting.requests:
            store.decide(request.id, Decision.DENY, by="superseded")

    await seams.runs.in_store(deny)
    await seams.runs.stop(run.id, Cause.SUPERSEDED)
    if run.session_id is not None:
        await _note_in_session(seams, run.session_id, waiting.requests)


async def _note_in_session(
    seams: Seams, session_id: str, requests: Sequence[ApprovalRequest]
) -> None:
    def note() -> None:
        sessions = seams.sessions()
        if sessions is None or sessions.get_session(session_id) is None:
            return
        for request in requests:
            sessions.append_message(
                session_id,
                "tool",
                NOT_RUN,
                tool_call_id=request.call_id,
                tool_name=request.tool,
            )

    await seams.storage.run(note)


def not_run(requests: Sequence[ApprovalRequest]) -> list[Message]:
    """The answers to calls that were never made."""
    return [tool(request.call_id, request.tool, NOT_RUN) for request in requests]


async def decide(seams: Seams, answer: Answer, work: Work) -> Begun:
    """Decide about everything a run waits for, and let it go on.

    A decision is taken once. Whoever comes later sees the leg that the first one began.
    """
    waiting = answer.waiting
    decision = answer.decision or Decision.DENY
    await take_decision(seams, waiting, decision, by="client")
    live = await let_go_on(seams, waiting, work, by="client")
    if live is None:
        return await _begun_by_another(seams, waiting)
    return Begun(run=waiting.run, live=live, after=live.after)


async def take_decision(
    seams: Seams, waiting: Waiting, decision: Decision, *, by: str, only: str | None = None
) -> int:
    """Decide about one question or all of them; how many nobody had decided before."""
    wanted = [each for each in waiting.requests if only in (None, each.id)]

    def take(store: RunStore) -> list[ApprovalRequest]:
        return [each for each in wanted if store.decide(each.id, decision, by=by)]

    fresh = await seams.runs.in_store(take)
    seams.runs.grants.remember(waiting.run.owner, fresh, decision)
    return len(fresh)


async def let_go_on(seams: Seams, waiting: Waiting, work: Work, *, by: str) -> LiveRun | None:
    """Carry a run on all of whose questions are answered; None if not, or if somebody does."""
    run_id = waiting.run.id
    decided, run = await seams.runs.in_store(
        lambda store: (store.decisions(run_id), store.get(run_id))
    )
    if run is None or run.status is not RunStatus.WAITING_FOR_APPROVAL:
        return None
    asked = await asked_last(seams, run)
    if seams.runs.live(run_id) or not all(each.call_id in decided for each in asked):
        return None
    opening = [ApprovalDecided(each.id, each.call_id, decided[each.call_id], by) for each in asked]
    return seams.runs.go_on(run, work, from_status=RunStatus.WAITING_FOR_APPROVAL, opening=opening)


async def asked_last(seams: Seams, run: Run) -> Sequence[ApprovalRequest]:
    """What a run that waits asked for: its log ends with that."""
    events = await seams.runs.events(run.id, after=run.last_seq - 1, up_to=run.last_seq)
    paused = [each.event for each in events if isinstance(each.event, TurnPaused)]
    return paused[-1].result.approvals if paused else ()


async def _begun_by_another(seams: Seams, waiting: Waiting) -> Begun:
    """The leg that goes on from these questions."""
    run, run_id = waiting.run, waiting.run.id
    for _ in range(MOST_LOOKS):
        found = await seams.runs.in_store(lambda store: store.get(run_id))
        run = found or run
        if run.status is not RunStatus.WAITING_FOR_APPROVAL or seams.runs.live(run.id):
            break
        await asyncio.sleep(LOOK_AGAIN_SECONDS)
    after = await _pause_of(seams, replace(waiting, run=run))
    return Begun(run=run, live=seams.runs.live(run.id), after=after, is_replayed=True)
