"""Carrying one leg of a run: wait for its turn, let the agent work, store what came of it.

Whatever happens on the way, the run ends with an event that says how, and whoever waits for it
is told.
"""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Awaitable, Callable, Sequence
from concurrent.futures import Future
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, Protocol, TypeVar

from hermes.core.errors import ApiError, Unavailable
from hermes.core.events import (
    ApprovalDecided,
    Event,
    MessageKept,
    Notice,
    RunQueued,
    RunStarted,
    SteerAccepted,
    Steered,
    ToolStarted,
    TurnEnded,
    TurnPaused,
)
from hermes.core.run_link import Steer
from hermes.core.run_ports import RunStore
from hermes.core.runs import LoggedEvent, Run, RunStatus
from hermes.core.turn import Failure, Outcome, Resumption, TurnCall, TurnResult
from hermes.runs.live_logs import LiveLogs
from hermes.runs.live_run import Cause, LiveRun, status_of
from hermes.runs.log_writer import LogWriter, OpenLog
from hermes.runs.run_feed import Link, RunFeed
from hermes.runs.turns import RunTurn, start_into
from hermes.runs.turnstile import Ticket, Turnstile
from hermes.runs.work import Ending
from hermes.wire.transcript import turn_messages

log = logging.getLogger(__name__)

T = TypeVar("T")

LOOK_AGAIN_SECONDS = 0.2
"""For a session that is at work on a run which does not wait here."""
PAGE = 2000


class InStore(Protocol):
    """Does something with the store, off the event loop."""

    def __call__(self, job: Callable[[RunStore], T]) -> Awaitable[T]: ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Leg:
    """What is to be carried, and how it begins."""

    live: LiveRun
    from_status: RunStatus = RunStatus.QUEUED
    opening: Sequence[Event] = ()
    """What is logged first: the decisions that were taken."""
    is_urgent: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Supervisor:
    """What every leg needs of its surroundings."""

    store: Callable[[], RunStore]
    in_store: InStore
    logs: LiveLogs
    writer: LogWriter
    turnstile: Turnstile
    run_turn: RunTurn
    max_seconds: float
    is_resumed_later: Callable[[], bool]
    """Whether what is interrupted now is left for the next process to go on with."""

    async def carry(self, leg: Leg) -> None:
        """The whole leg. Cancelled, it leaves the run as it is, for another process to find."""
        live = leg.live
        is_held = False
        try:
            await self._enter(leg)
            run = await self._taken_up(leg)
            if run is not None:
                live.run = run
                is_held = await self._work(leg, run)
        except asyncio.CancelledError:
            live.has_failed(_shutting_down())
            raise
        except ApiError as error:
            live.has_failed(error)
        except Exception:
            log.exception("run not carried to its end", extra={"run_id": live.id})
            live.has_failed(_not_stored())
        finally:
            if not is_held:
                self.turnstile.leave(live.id)

    def _ticket(self, leg: Leg) -> Ticket:
        live = leg.live

        def tell(place: int) -> None:
            live.is_queued()
            self.logs.tell(live.id, RunQueued(place))

        return Ticket(live.id, live.run.owner, live.run.session_id, tell)

    async def _enter(self, leg: Leg) -> None:
        live, ticket = leg.live, self._ticket(leg)
        if self.turnstile.must_wait(ticket):
            await live.work.wait(live.run)
        await self.turnstile.enter(ticket, at_front=leg.is_urgent)

    async def _taken_up(self, leg: Leg) -> Run | None:
        """The run, now ours; None when it was cancelled while it waited."""
        run_id = leg.live.id
        while True:
            run = await self.in_store(
                lambda store: store.take_up(run_id, from_status=leg.from_status)
            )
            if run is not None:
                return run
            found = await self.in_store(lambda store: store.get(run_id))
            if found is None or found.status is not leg.from_status:
                return None
            await self._let_pass(leg)

    async def _let_pass(self, leg: Leg) -> None:
        """Another run of the session was kept first; it may be right behind this one here."""
        self.turnstile.leave(leg.live.id)
        if not self.turnstile.must_wait(self._ticket(leg)):
            await asyncio.sleep(LOOK_AGAIN_SECONDS)
        await self._enter(leg)

    async def _work(self, leg: Leg, run: Run) -> bool:
        """Let the agent work; True when the run now waits for a decision."""
        live, work = leg.live, leg.live.work
        end = OpenLog(run.id, run.last_seq + 1, on_failure=self._halting(live))
        try:
            before = await self.read(run.id, after=0, up_to=run.last_seq)
            unheard = _unheard(before)
            call = await self._call(leg, run, before)
            await work.begin(run)
        except ApiError as error:
            await self.in_store(lambda store: store.forget_key(run.id))
            await self._finish(live, end, _refused(error), RunStatus.FAILED, time.time())
            raise
        feed = RunFeed(Link(self.writer, end), wants_text=work.wants_text)
        feed.run_link.steering.restore(unheard)
        for event in (*leg.opening, RunStarted(run.attempt)):
            feed.put(event)
        turn = start_into(feed, live.agent_ref, self.run_turn, call)
        live.has_begun(feed, turn)
        await self._ended(live, feed, run)
        result = _result_of(turn, live)
        self._settle(feed, call, result)
        if result.outcome is Outcome.ASKING:
            await self._pause(leg, end, result)
            return True
        if status_of(result, live.cause) is RunStatus.INTERRUPTED and self.is_resumed_later():
            await self.in_store(lambda store: store.requeue(run.id))
            live.has_ended(result)
            return False
        await self._end(leg, end, result)
        return False

    def _halting(self, live: LiveRun) -> Callable[[BaseException], None]:
        loop = asyncio.get_running_loop()

        def failed(error: BaseException) -> None:
            log.error("run %s cannot be logged any more: %s", live.id, error)
            loop.call_soon_threadsafe(lambda: loop.create_task(live.halt(Cause.NOT_STORED)))

        return failed

    async def _call(self, leg: Leg, run: Run, before: Sequence[LoggedEvent]) -> TurnCall:
        """What to ask the agent: the beginning of the turn, or the rest of it."""
        call = await leg.live.work.call(run)
        grants = await self.in_store(lambda store: store.grants(run.owner, run.session_id))
        resumption = _resumption(before, leg.opening)
        parameters = replace(
            call.parameters,
            owner=run.owner,
            can_ask=not call.parameters.is_plain,
            grants=grants,
            resumption=resumption,
        )
        return replace(call, parameters=parameters)

    async def read(self, run_id: str, *, after: int, up_to: int) -> list[LoggedEvent]:
        """Committed events between two numbers."""
        found: list[LoggedEvent] = []
        while after < up_to:
            page = await self.in_store(partial(_page, run_id, after))
            if not page:
                break
            found += [event for event in page if event.seq <= up_to]
            after = page[-1].seq
        return found

    async def _ended(self, live: LiveRun, feed: RunFeed, run: Run) -> None:
        if live.cause is not None:
            await live.halt(live.cause)  # it was stopped before there was anything to stop
        seconds = run.timeout or self.max_seconds or None
        try:
            async with asyncio.timeout(seconds):
                await feed.ended.wait()
        except TimeoutError:
            await live.halt(Cause.TIMED_OUT)
            await feed.ended.wait()

    def _settle(self, feed: RunFeed, call: TurnCall, result: TurnResult) -> None:
        """Log what the agent left unsaid: words nobody heard, and messages of a foreign agent."""
        for steer in feed.run_link.steering.end():
            feed.put(Notice("steer_refused", f"Not delivered, the turn was over: {steer.text}"))
        if not feed.has_kept_messages:
            for message in turn_messages(call.history, call.opening, result):
                feed.put(MessageKept(message))

    async def _pause(self, leg: Leg, end: OpenLog, result: TurnResult) -> None:
        at = await self._store_answer(leg, end, result, RunStatus.WAITING_FOR_APPROVAL)
        last = self.writer.last(end, TurnPaused(result), at)
        await self._committed(lambda store: store.pause(last))
        self.logs.pass_on([last])
        self.turnstile.pause(leg.live.id)
        leg.live.has_ended(result)

    async def _end(self, leg: Leg, end: OpenLog, result: TurnResult) -> None:
        live = leg.live
        status = status_of(result, live.cause)
        at = await self._store_answer(leg, end, result, status)
        if status is RunStatus.FAILED and live.feed is not None and not live.feed.has_effect:
            # Nothing happened: the same request may be tried again.
            await self.in_store(lambda store: store.forget_key(live.id))
        await self._finish(live, end, result, status, at)

    async def _store_answer(
        self, leg: Leg, end: OpenLog, result: TurnResult, status: RunStatus
    ) -> float:
        """The moment at which the leg ended, for whoever writes it down."""
        await asyncio.wrap_future(self.writer.flushed(end))
        live, at = leg.live, time.time()

        async def read_leg() -> list[LoggedEvent]:
            return await self.read(live.id, after=live.after, up_to=end.next_seq - 1)

        await live.work.end(
            live.run, Ending(result=result, status=status, at=at, read_leg=read_leg)
        )
        return at

    async def _finish(
        self, live: LiveRun, end: OpenLog, result: TurnResult, status: RunStatus, at: float
    ) -> None:
        last = self.writer.last(end, TurnEnded(result, status.value), at)
        await self._committed(lambda store: store.finish(status, last))
        self.logs.pass_on([last])
        live.has_ended(result)

    async def _committed(self, begin: Callable[[RunStore], Future[None]]) -> None:
        await asyncio.wrap_future(begin(self.store()))


def _resumption(log: Sequence[LoggedEvent], opening: Sequence[Event]) -> Resumption | None:
    """What is known of a turn that was begun before; None when it was not."""
    events = [*(each.event for each in log), *opening]
    messages = [event.message for event in events if isinstance(event, MessageKept)]
    decided = [event for event in events if isinstance(event, ApprovalDecided)]
    if not messages:
        return None
    return Resumption(
        messages=tuple(messages),
        started=frozenset(event.call_id for event in events if isinstance(event, ToolStarted)),
        decisions={event.call_id: event.decision for event in decided},
        decided_by={event.call_id: event.by for event in decided},
        steps=len(messages),
    )


def _unheard(log: Sequence[LoggedEvent]) -> list[Steer]:
    """What people said to the agent before and it was never told."""
    events = [each.event for each in log]
    heard = {event.steer_id for event in events if isinstance(event, Steered)}
    return [
        Steer(event.steer_id, event.text)
        for event in events
        if isinstance(event, SteerAccepted) and event.steer_id not in heard
    ]


def _page(run_id: str, after: int, store: RunStore) -> list[LoggedEvent]:
    return store.read(run_id, after=after, limit=PAGE)


def _result_of(turn: asyncio.Future[Any], live: LiveRun) -> TurnResult:
    """What came of a turn whose feed has ended; an agent that raised is a failed turn."""
    if turn.cancelled():
        result = TurnResult(outcome=Outcome.INTERRUPTED)
    elif (error := turn.exception()) is not None:
        log.error("the agent raised", exc_info=error)
        result = TurnResult(
            outcome=Outcome.FAILED,
            error=f"The agent failed: {str(error) or type(error).__name__}",
            failure=Failure(code="agent_error"),
        )
    else:
        result = turn.result()
    if live.cause in _FAILURES and not result.is_complete:
        return replace(
            result,
            outcome=Outcome.FAILED,
            error=live.cause.value,
            failure=Failure(code=_FAILURES[live.cause]),
        )
    if result.outcome is Outcome.INTERRUPTED and live.cause is not None:
        return replace(result, error=live.cause.value)
    return result


_FAILURES = {Cause.TIMED_OUT: "run_timeout", Cause.NOT_STORED: "run_not_stored"}


def _refused(error: ApiError) -> TurnResult:
    return TurnResult(outcome=Outcome.FAILED, error=error.message, failure=Failure(code=error.code))


def _shutting_down() -> Unavailable:
    return Unavailable(
        "The gateway is shutting down; try again in a moment.",
        code="draining",
        headers={"Retry-After": "5"},
    )


def _not_stored() -> Unavailable:
    return Unavailable(
        "The run cannot be stored, so it was not gone on with; the gateway's log says why.",
        code="run_store_unavailable",
        headers={"Retry-After": "5"},
    )
