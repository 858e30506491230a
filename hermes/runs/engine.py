"""The runs of this process: submitted, watched, stopped, steered, and gone on with.

A run belongs to no request. Requests submit it and watch it; a task of its own carries it.
Made without an event loop; used on one.
"""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Callable, Coroutine, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Any, TypeVar

from hermes.core.errors import Conflict
from hermes.core.events import (
    ApprovalRequested,
    Event,
    MessageKept,
    RunQueued,
    RunStarted,
    TurnPaused,
)
from hermes.core.ids import new_id
from hermes.core.messages import Message
from hermes.core.metrics import UNMETERED, Meter
from hermes.core.run_link import Steer
from hermes.core.run_ports import NewEvent, RunStore
from hermes.core.runs import LoggedEvent, NewRun, Run, RunStatus
from hermes.core.turn import TurnResult
from hermes.runs.accounting import Accounting
from hermes.runs.endings import Endings
from hermes.runs.lasting_grants import LastingGrants
from hermes.runs.limits import Gate
from hermes.runs.live_logs import Following, LiveLogs
from hermes.runs.live_run import Cause, LiveRun
from hermes.runs.log_writer import LogWriter
from hermes.runs.outcomes import shutting_down
from hermes.runs.supervisor import Leg, Supervisor
from hermes.runs.threads import Threads
from hermes.runs.turns import RunTurn
from hermes.runs.turnstile import Turnstile
from hermes.runs.work import Work
from hermes.settings.model import RunSettings

log = logging.getLogger(__name__)

T = TypeVar("T")

CONFIRM_SECONDS = 10.0
CLOSE_SECONDS = 5.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Begun:
    """A run that was asked for."""

    run: Run
    live: LiveRun | None
    """None when it is over, or waits for a decision."""
    after: int = 0
    """The events of the leg that was asked for have higher numbers."""
    is_replayed: bool = False
    """The same request was made before; nothing new was begun."""


class Runs:
    def __init__(
        self,
        *,
        store: Callable[[], RunStore],
        storage: Threads,
        run_turn: RunTurn,
        settings: RunSettings,
        gate: Gate,
        is_closing: Callable[[], bool] = lambda: False,
        accounting: Accounting | None = None,
        meter: Meter = UNMETERED,
    ) -> None:
        """`store` gives the store, with this process registered as its worker. May block."""
        self._store = store
        self._storage = storage
        self._accounting = accounting or Accounting()
        self._logs = LiveLogs()
        self._gate = gate
        self._turnstile = Turnstile(gate, max_waiting=settings.max_queued)
        gate.on_room = self._turnstile.admit
        writer = LogWriter(lambda events: store().append(events), self._logs.deliver)
        self._endings = Endings(
            store=store, in_store=self.in_store, logs=self._logs, writer=writer, meter=meter
        )
        self._supervisor = Supervisor(
            in_store=self.in_store,
            logs=self._logs,
            writer=writer,
            endings=self._endings,
            turnstile=self._turnstile,
            run_turn=run_turn,
            max_seconds=settings.max_seconds,
            is_closing=is_closing,
            is_resumed_later=lambda: is_closing() and settings.recovery == "resume",
        )
        self._live: dict[str, LiveRun] = {}
        self._tasks: set[asyncio.Task[Any]] = set()
        self._keepers: list[asyncio.Task[object]] = []
        self.grants = LastingGrants()

    async def in_store(self, job: Callable[[RunStore], T]) -> T:
        """Do something with the store, off the event loop."""
        return await self._storage.run(lambda: job(self._store()))

    # --- asking for runs ----------------------------------------------------------------------

    async def submit(self, new: NewRun, work: Work) -> Begun:
        """Keep a run and begin it in its turn.

        A request that was made before, under the same idempotency key, gets the run it made then.
        Raises `Conflict` and `RateLimited`.
        """
        await self._refuse_when_crowded(new)
        begun = asyncio.get_running_loop().create_task(self._submitted(new, work))
        self._tasks.add(begun)
        begun.add_done_callback(self._tasks.discard)
        try:
            return await asyncio.shield(begun)
        except asyncio.CancelledError:
            begun.add_done_callback(_left_at_once)
            raise

    async def _refuse_when_crowded(self, new: NewRun) -> None:
        """Whoever only asks again about a run that is there takes up no place."""
        if new.idempotency is not None and await self.in_store(
            lambda store: store.is_repeated(new)
        ):
            return
        self._gate.refuse_too_many(new.owner)
        await self._accounting.refuse_spent(new.owner, new.session_id, self._storage)
        self._turnstile.refuse_when_full()

    async def _submitted(self, new: NewRun, work: Work) -> Begun:
        """Not to be cancelled: a run that is kept but not carried would block its session."""
        submitted = await self.in_store(lambda store: store.submit(new))
        run = submitted.run
        if submitted.replayed:
            return Begun(run=run, live=self._live.get(run.id), is_replayed=True)
        live = self._carry(run, work, is_urgent=submitted.interrupts is not None)
        if submitted.interrupts is not None:
            await self.stop(submitted.interrupts, Cause.SUPERSEDED)
        return Begun(run=run, live=live)

    def go_on(
        self,
        run: Run,
        work: Work,
        *,
        from_status: RunStatus = RunStatus.QUEUED,
        opening: Sequence[Event] = (),
        after: int | None = None,
    ) -> LiveRun:
        """Carry a run that was begun before, or by another process; once, whoever else asks.

        `after` is the number behind which the leg began, if it was begun before too.
        """
        live = self._live.get(run.id)
        return live or self._carry(run, work, after, from_status=from_status, opening=opening)

    @property
    def is_busy(self) -> bool:
        return bool(self._live)

    def live(self, run_id: str) -> LiveRun | None:
        return self._live.get(run_id)

    def place(self, run_id: str) -> int | None:
        """How many runs come before a queued one."""
        return self._turnstile.place(run_id)

    def follow(self, run_id: str, *, after: int) -> Following:
        """The committed events of a run, from a number on. Whoever follows closes it."""

        async def read(run: str, since: int, limit: int) -> list[LoggedEvent]:
            return await self.in_store(lambda store: store.read(run, after=since, limit=limit))

        following = Following(self._logs, read, run_id, after=after)
        if place := self.place(run_id):
            following.put(RunQueued(place))  # the others were told when it changed
        return following

    async def events(self, run_id: str, *, after: int, up_to: int) -> list[LoggedEvent]:
        """The committed events between two numbers."""
        return await self._endings.read(run_id, after=after, up_to=up_to)

    # --- stopping and steering ----------------------------------------------------------------

    async def stop(self, run_id: str, cause: Cause = Cause.STOPPED) -> Run | None:
        """Stop a run; returns when that has happened. None when there is no such run."""
        try:
            run = await self.in_store(lambda store: store.request_stop(run_id))
        except Exception:  # whatever the store raises, the agent is not to go on
            await self._halt(run_id, cause)
            raise
        live = self._live.get(run_id)
        if live is None or run is None:
            if run is None or run.status.is_final:
                self.release(run_id)
            return run
        if not run.status.is_final:
            await self._halt(run_id, cause)
        elif not live.is_taken_up and await self._supervisor.dismiss(live, run):
            self._drop(live)
        await asyncio.wait([live.leg], timeout=CONFIRM_SECONDS)
        return await self._cancelled(run_id)

    async def _halt(self, run_id: str, cause: Cause) -> None:
        live = self._live.get(run_id)
        if live is not None:
            await live.halt(cause)

    async def _cancelled(self, run_id: str) -> Run | None:
        """The run as it is now; one that began to wait for a decision meanwhile is over too."""
        run = await self.in_store(lambda store: store.get(run_id))
        if run is not None and run.status is RunStatus.WAITING_FOR_APPROVAL:
            run = await self.in_store(lambda store: store.request_stop(run_id))
        if run is None or run.status.is_final:
            self.release(run_id)
        return run

    def _drop(self, live: LiveRun) -> None:
        if live.carrier is not None:
            live.carrier.cancel()

    async def steer(self, run_id: str, text: str) -> Steer:
        """Pass something on to a running agent. Raises `Conflict` when it cannot hear it."""
        live = self._live.get(run_id)
        steer = Steer(new_id("steer_"), text)
        if live is not None and self.place(run_id) is None:
            await asyncio.wait([live.ready], timeout=CONFIRM_SECONDS)  # it is about to begin
        if live is None or live.feed is None or not live.feed.run_link.steering.offer(steer):
            raise Conflict(
                "The agent of this run does not listen now: it has not begun, waits for an "
                "approval, or is done. Nothing was passed on.",
                code="run_not_steerable",
            )
        # Whoever is told that it was accepted can rely on it.
        await asyncio.wrap_future(live.feed.run_link.flushed())
        return steer

    # --- approvals ----------------------------------------------------------------------------

    async def keep_paused(
        self,
        new: NewRun,
        seen: Sequence[Event],
        messages: Sequence[Message],
        result: TurnResult,
    ) -> None:
        """Keep a turn that ran from memory and has to ask, so that it can go on later.

        Whoever has `seen` it so far finds the same under the same numbers.
        """
        at = time.time()
        asked = [event for event in seen if isinstance(event, ApprovalRequested)]
        events: list[Event] = [
            RunStarted(1),
            *seen,
            *map(MessageKept, messages),
            *(() if asked else map(ApprovalRequested, result.approvals)),
        ]

        def keep(store: RunStore) -> None:
            store.submit(new)
            store.take_up(new.id)
            numbered = [NewEvent(new.id, seq, at, event) for seq, event in enumerate(events, 1)]
            store.append(numbered).result()
            store.pause(NewEvent(new.id, len(events) + 1, at, TurnPaused(result))).result()

        await self.in_store(keep)

    async def load_grants(self, owners: Sequence[str]) -> None:
        """For the start: what was approved for good."""
        self.grants.load(
            await self.in_store(
                lambda store: {owner: store.grants(owner, None) for owner in owners}
            )
        )

    # --- sessions that are held ---------------------------------------------------------------

    def hold(self, run: Run) -> None:
        """A run that waits for a decision keeps its session busy."""
        if run.session_id is not None:
            self._turnstile.hold(run.session_id, run.id)

    def release(self, run_id: str) -> None:
        """A run that waited is over; whoever watches it finds out how."""
        self._turnstile.leave(run_id)
        self._logs.hint(run_id)

    # --- carrying -----------------------------------------------------------------------------

    def _carry(self, run: Run, work: Work, after: int | None = None, **how: Any) -> LiveRun:
        def stop(cause: Cause) -> None:
            self.keep(self.stop(run.id, cause))

        live = LiveRun(run, work, stop=stop, after=after)
        self._live[run.id] = live
        live.carrier = self.keep(self._to_end(Leg(live=live, **how)))
        live.carrier.add_done_callback(lambda _carrier: self._put_down(live))
        return live

    async def _to_end(self, leg: Leg) -> None:
        try:
            await self._supervisor.carry(leg)
        finally:
            self._put_down(leg.live)

    def _put_down(self, live: LiveRun) -> None:
        """Nobody carries it any more: if it did not end, it never even began."""
        if self._live.get(live.id) is live:
            del self._live[live.id]
        live.has_failed(shutting_down())

    def keep(self, work: Coroutine[Any, Any, T]) -> asyncio.Task[T]:
        """Have something done beside all requests."""

        task = asyncio.get_running_loop().create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._kept)
        return task

    def _kept(self, task: asyncio.Task[Any]) -> None:
        self._tasks.discard(task)
        if not task.cancelled() and (error := task.exception()) is not None:
            log.error("work beside the requests failed", exc_info=error)

    def keep_forever(self, work: Coroutine[Any, Any, object]) -> None:
        """Have something done until `close`."""
        self._keepers.append(asyncio.get_running_loop().create_task(work))

    async def close(self, within: float = CLOSE_SECONDS) -> None:
        """Let what runs end and be stored; what waits is left for the next process."""
        for keeper in self._keepers:
            keeper.cancel()
        await asyncio.gather(*self._keepers, return_exceptions=True)
        for live in list(self._live.values()):
            if live.feed is None:
                self._drop(live)
        await self._all_done(within)
        late = set(self._tasks)
        for task in late:
            task.cancel()
        await asyncio.gather(*late, return_exceptions=True)

    async def _all_done(self, within: float) -> None:
        """What is done beside the requests may lead to more of it."""
        with suppress(TimeoutError):
            async with asyncio.timeout(within):
                while self._tasks:
                    await asyncio.wait(self._tasks)


def _left_at_once(begun: asyncio.Task[Begun]) -> None:
    """Whoever asked for a run has left before it was begun."""
    if begun.cancelled() or begun.exception() is not None:
        return
    live = begun.result().live
    if live is not None and not begun.result().is_replayed:
        live.joined()
        live.left(live.run.disconnect)
