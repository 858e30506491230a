"""Carrying one leg of a run: wait for its turn, let the agent work, store what came of it.

Whatever happens on the way, the run ends with an event that says how, and whoever waits for it
is told.
"""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import TypeVar

from hermes.core.errors import ApiError
from hermes.core.events import (
    Event,
    MessageKept,
    Notice,
    RunQueued,
    RunStarted,
)
from hermes.core.run_link import Steer
from hermes.core.runs import LoggedEvent, Run, RunStatus
from hermes.core.turn import Outcome, TurnCall, TurnResult
from hermes.runs.endings import Endings, InStore
from hermes.runs.live_logs import LiveLogs
from hermes.runs.live_run import Cause, LiveRun, status_of
from hermes.runs.log_writer import LogWriter, OpenLog
from hermes.runs.outcomes import (
    carried_elsewhere,
    dismissed,
    not_stored,
    refused,
    result_of,
    shutting_down,
    stopped,
)
from hermes.runs.resuming import restart_of, resumption_of, unheard_in
from hermes.runs.run_feed import Link, RunFeed
from hermes.runs.turns import RunTurn, start_into
from hermes.runs.turnstile import Ticket, Turnstile
from hermes.wire.transcript import turn_messages

log = logging.getLogger(__name__)

T = TypeVar("T")

LOOK_AGAIN_SECONDS = 0.2
"""For a session that is at work on a run which does not wait here."""


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

    in_store: InStore
    logs: LiveLogs
    writer: LogWriter
    endings: Endings
    turnstile: Turnstile
    run_turn: RunTurn
    max_seconds: float
    is_closing: Callable[[], bool]
    """Whether nothing is to be begun any more."""
    is_resumed_later: Callable[[], bool]
    """Whether what is interrupted now is left for the next process to go on with."""

    async def carry(self, leg: Leg) -> None:
        """The whole leg. Cancelled, it leaves the run as it is, for another process to find."""
        live = leg.live
        is_held = False
        try:
            run = await self._taken_up(leg)
            if run is not None:
                live.run, live.is_taken_up = run, True
                is_held = await self._work(leg, run)
        except asyncio.CancelledError:
            live.has_failed(shutting_down())
            raise
        except ApiError as error:
            live.has_failed(error)
            is_held = await self.endings.give_up(live)
        except Exception:  # the store, or an embedder's one, may raise anything
            log.exception("run not carried to its end", extra={"run_id": live.id})
            live.has_failed(not_stored())
            is_held = await self.endings.give_up(live)
        finally:
            if not is_held:
                self.turnstile.leave(live.id)

    async def dismiss(self, live: LiveRun, run: Run | None) -> bool:
        """Tell whoever waits that the run ended in the store before it began; True the first time.

        `run`: as it was found; None when it is gone.
        """
        if live.is_dismissed:
            return False
        live.is_dismissed = True
        self.turnstile.leave(live.id)
        self.logs.hint(live.id)
        if run is None or not run.status.is_final:
            live.has_failed(carried_elsewhere(live.id))
            return True
        result = dismissed(run)
        await self.endings.tell_work(live, run, result, run.finished_at or time.time())
        live.has_ended(result)
        return True

    # --- its turn comes -----------------------------------------------------------------------

    async def _taken_up(self, leg: Leg) -> Run | None:
        """The run, now ours; None when it was cancelled while it waited."""
        live = leg.live
        while True:
            await self._enter(leg)
            if self.is_closing():
                # Whoever was before it has just been stopped; it stays queued for the next process.
                live.has_failed(shutting_down())
                return None
            run = await self.in_store(
                lambda store: store.take_up(live.id, from_status=leg.from_status)
            )
            if run is not None:
                return run
            found = await self.in_store(lambda store: store.get(live.id))
            if found is None or found.status is not leg.from_status:
                await self.dismiss(live, found)
                return None
            await self._let_pass(leg)

    async def _let_pass(self, leg: Leg) -> None:
        """Another run of the session was kept first; it may be right behind this one here."""
        self.turnstile.leave(leg.live.id)
        if not self.turnstile.must_wait(self._ticket(leg)):
            await asyncio.sleep(LOOK_AGAIN_SECONDS)

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

    # --- the agent works ----------------------------------------------------------------------

    async def _work(self, leg: Leg, run: Run) -> bool:
        """Let the agent work; True when the run now waits for a decision."""
        live, work = leg.live, leg.live.work
        end = OpenLog(run.id, run.last_seq + 1, on_failure=self._halting(live))
        try:
            before = await self.endings.read(run.id, after=0, up_to=run.last_seq)
            call = await self._call(leg, run, before)
            await work.begin(run)
        except ApiError as error:
            await self.in_store(lambda store: store.forget_key(run.id))
            await self.endings.finish(end, refused(error), RunStatus.FAILED, time.time())
            raise
        feed = RunFeed(Link(self.writer, end), wants_text=work.wants_text)
        feed.run_link.steering.restore(unheard_in(before))
        for event in (*restart_of(before), *leg.opening):
            feed.put(event)
        result = await self._answer(live, feed, call, run)
        unheard = feed.run_link.steering.end()  # whoever goes on with the run is told
        if result.outcome is Outcome.ASKING:
            await self.endings.pause(live, end, result)
            self.turnstile.pause(live.id)
            live.has_ended(result)
            return True
        if self._is_left_for_later(live, feed, result):
            await asyncio.wrap_future(self.writer.close(end))
            await self.in_store(lambda store: store.requeue(run.id))
            live.has_failed(shutting_down())
            return False
        self._refuse(unheard, end)
        await self.endings.end(live, end, result)
        live.has_ended(result)
        return False

    async def _answer(self, live: LiveRun, feed: RunFeed, call: TurnCall, run: Run) -> TurnResult:
        if live.cause is not None:  # stopped while it was being prepared
            return stopped(TurnResult(outcome=Outcome.INTERRUPTED), live.cause)
        feed.hold(RunStarted(run.attempt))
        turn = start_into(feed, live.agent_ref, self.run_turn, call)
        # After the agent's first step, which tends to keep the user's message.
        asyncio.get_running_loop().call_soon(self.writer.flush)
        live.has_begun(feed, turn)
        try:
            await self._ended(live, feed, run)
        finally:
            live.abandon()
        result = result_of(turn, live.cause)
        if not self._is_left_for_later(live, feed, result):
            self._keep_messages(feed, call, result)
        return result

    def _is_left_for_later(self, live: LiveRun, feed: RunFeed, result: TurnResult) -> bool:
        """Whether the next process goes on with it.

        Not when it would have to do again what was done: a foreign agent does not report the
        steps it has taken.
        """
        is_interrupted = status_of(result, live.cause) is RunStatus.INTERRUPTED
        can_go_on = feed.has_kept_messages or not feed.has_effect
        return is_interrupted and can_go_on and self.is_resumed_later()

    def _halting(self, live: LiveRun) -> Callable[[BaseException], None]:
        loop = asyncio.get_running_loop()

        def failed(error: BaseException) -> None:
            log.error("run %s cannot be logged any more: %s", live.id, error)
            with suppress(RuntimeError):  # the loop is closed: nobody is left to be told
                loop.call_soon_threadsafe(live.halt_soon, Cause.NOT_STORED)

        return failed

    async def _call(self, leg: Leg, run: Run, before: Sequence[LoggedEvent]) -> TurnCall:
        """What to ask the agent: the beginning of the turn, or the rest of it."""
        call = await leg.live.work.call(run)
        grants = await self.in_store(lambda store: store.grants(run.owner, run.session_id))
        resumption = resumption_of(before, leg.opening)
        parameters = replace(
            call.parameters,
            owner=run.owner,
            can_ask=not call.parameters.is_plain,
            grants=grants,
            resumption=resumption,
        )
        return replace(call, parameters=parameters)

    async def _ended(self, live: LiveRun, feed: RunFeed, run: Run) -> None:
        seconds = run.timeout or self.max_seconds or None
        try:
            async with asyncio.timeout(seconds):
                await feed.ended.wait()
        except TimeoutError:
            await live.halt(Cause.TIMED_OUT)
            await feed.ended.wait()

    def _keep_messages(self, feed: RunFeed, call: TurnCall, result: TurnResult) -> None:
        """Log what a foreign agent did not report itself."""
        if not feed.has_kept_messages:
            for message in turn_messages(call.history, call.opening, result):
                self.writer.put(feed.run_link.log, MessageKept(message))

    def _refuse(self, steers: Sequence[Steer], end: OpenLog) -> None:
        for steer in steers:
            why = f"Not delivered, the turn was over: {steer.text}"
            self.writer.put(end, Notice("steer_refused", why))
