"""How a leg of a run ended, written down: first its answer, then its last event and its state.

A client sees the end only when all of it is committed. What cannot be stored now is tried again:
until then the session of the run could go on with nothing else.
"""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Awaitable, Callable
from concurrent.futures import Future
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import partial
from typing import Protocol, TypeVar

from hermes.core.errors import Interrupted
from hermes.core.events import TurnEnded, TurnPaused
from hermes.core.metrics import UNMETERED, Meter
from hermes.core.run_ports import NewEvent, RunStore
from hermes.core.runs import LoggedEvent, Run, RunStatus
from hermes.core.turn import Outcome, TurnResult
from hermes.runs.live_logs import LiveLogs
from hermes.runs.live_run import Cause, LiveRun, status_of
from hermes.runs.log_writer import LogWriter, OpenLog
from hermes.runs.outcomes import stopped
from hermes.runs.work import Ending
from hermes.store.errors import StoreUnusable

log = logging.getLogger(__name__)

T = TypeVar("T")

TRY_AGAIN_SECONDS = 5.0
PAGE = 2000


class InStore(Protocol):
    """Does something with the store, off the event loop."""

    def __call__(self, job: Callable[[RunStore], T]) -> Awaitable[T]: ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Endings:
    """Where the ends of all runs of this process are written."""

    store: Callable[[], RunStore]
    in_store: InStore
    logs: LiveLogs
    writer: LogWriter
    meter: Meter = UNMETERED

    async def pause(self, live: LiveRun, end: OpenLog, result: TurnResult) -> None:
        """The leg ends with a question."""
        at = await self._store_answer(live, end, result, RunStatus.WAITING_FOR_APPROVAL)
        last = self.writer.last(end, TurnPaused(result), at)
        await self._committed(lambda store: store.pause(last))
        self.logs.pass_on([last])

    async def end(self, live: LiveRun, end: OpenLog, result: TurnResult) -> None:
        """The run ends."""
        status = status_of(result, live.cause)
        at = await self._store_answer(live, end, result, status)
        if status is RunStatus.FAILED and live.feed is not None and not live.feed.has_effect:
            # Nothing happened: the same request may be tried again.
            await self.in_store(lambda store: store.forget_key(live.id))
        await self.finish(end, result, status, at)

    async def _store_answer(
        self, live: LiveRun, end: OpenLog, result: TurnResult, status: RunStatus
    ) -> float:
        """The moment at which the leg ended, for whoever writes it down."""
        await asyncio.wrap_future(self.writer.close(end))
        at, last = time.time(), end.next_seq - 1

        async def read_leg() -> list[LoggedEvent]:
            return await self.read(live.id, after=live.after, up_to=last)

        await live.work.end(
            live.run, Ending(result=result, status=status, at=at, read_leg=read_leg)
        )
        return at

    async def finish(self, end: OpenLog, result: TurnResult, status: RunStatus, at: float) -> None:
        """State, answer and last event at once."""
        last = self.writer.last(end, TurnEnded(result, status.value), at)
        await self._committed(lambda store: store.finish(status, last))
        self.meter.run_ended(status.value)
        self.logs.pass_on([last])

    async def give_up(self, live: LiveRun) -> bool:
        """Write the end of a run that went wrong; True when it waits for a decision after all.

        The session could never go on with anything else as long as the store has it at work.
        """
        if live.feed is not None:
            with suppress(Interrupted):
                await asyncio.wrap_future(self.writer.close(live.feed.run_link.log))
        while True:
            try:
                return await self._failed_in_store(live)
            except (StoreUnusable, OSError):
                log.warning("end of run %s not stored, trying again", live.id)
                await asyncio.sleep(TRY_AGAIN_SECONDS)
            except Interrupted:
                return False  # another process has it now
            except Exception:  # an embedder's store, or one that is closed; the next start mends it
                log.exception("end of a run not stored", extra={"run_id": live.id})
                return False

    async def _failed_in_store(self, live: LiveRun) -> bool:
        run = await self.in_store(lambda store: store.get(live.id))
        if run is None or run.status.is_final:
            return False
        if run.status is RunStatus.WAITING_FOR_APPROVAL:
            return True
        if run.status is RunStatus.QUEUED:
            await self.in_store(lambda store: store.request_stop(live.id))
            self.logs.hint(live.id)
            return False
        result = stopped(TurnResult(outcome=Outcome.INTERRUPTED), Cause.NOT_STORED)
        at, status = time.time(), status_of(result, Cause.NOT_STORED)
        await self.tell_work(live, replace(run, status=status), result, at)
        last = NewEvent(run.id, run.last_seq + 1, at, TurnEnded(result, status.value))
        await self._committed(lambda store: store.finish(status, last))
        self.meter.run_ended(status.value)
        self.logs.hint(live.id)
        return False

    async def tell_work(self, live: LiveRun, run: Run, result: TurnResult, at: float) -> None:
        """Have the answer of a run stored that never had one; whatever happens, it is over."""

        async def read_leg() -> list[LoggedEvent]:
            return await self.read(run.id, after=live.after, up_to=run.last_seq)

        try:
            ending = Ending(result=result, status=run.status, at=at, read_leg=read_leg)
            await live.work.end(run, ending)
        except Exception:  # an embedder's store may raise anything; the run ends all the same
            log.exception("answer of a run not stored", extra={"run_id": run.id})

    async def _committed(self, begin: Callable[[RunStore], Future[None]]) -> None:
        await asyncio.wrap_future(begin(self.store()))

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


def _page(run_id: str, after: int, store: RunStore) -> list[LoggedEvent]:
    return store.read(run_id, after=after, limit=PAGE)
