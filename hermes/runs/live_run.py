"""A kept run that this process works on, or is about to."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable
from contextlib import suppress
from enum import Enum

from hermes.core.runs import Disconnect, Run, RunStatus
from hermes.core.turn import Outcome, TurnResult
from hermes.runs.run_feed import RunFeed
from hermes.runs.turns import AgentRef, interrupt
from hermes.runs.work import Work

log = logging.getLogger(__name__)

STOP_SECONDS = 0.7
"""How long an agent may take to end by itself after it was told to."""


class Cause(Enum):
    """Why a run is stopped, in words for whoever watches."""

    STOPPED = "Stopped on request."
    SUPERSEDED = "A newer request took its place."
    CLIENT_LEFT = "SSE client disconnected"
    TIMED_OUT = "The run took longer than it was allowed to."
    NOT_STORED = "What happened could not be stored."


class LiveRun:
    """One leg of a run: from its beginning, a decision or a restart to its end or next pause."""

    def __init__(
        self, run: Run, work: Work, *, stop: Callable[[Cause], None], after: int | None = None
    ) -> None:
        self.run = run
        self.work = work
        self.after = run.last_seq if after is None else after
        """The events of this leg have higher numbers."""
        self.agent_ref: AgentRef = [None]
        self.feed: RunFeed | None = None
        """There once the agent is at work."""
        self.cause: Cause | None = None
        """Why it was stopped, if it was."""
        self.carrier: asyncio.Task[None] | None = None
        self.is_taken_up = False
        """Whether it is this process that ends the run in the store."""
        self.is_dismissed = False
        """Whether it was ended in the store before this process took it up."""
        loop = asyncio.get_running_loop()
        self.ready: asyncio.Future[None] = loop.create_future()
        """Done when there is something to watch, if only a queue; fails when it cannot begin."""
        self.leg: asyncio.Future[TurnResult] = loop.create_future()
        """What came of it, once that is committed."""
        self._turn: asyncio.Future[TurnResult] | None = None
        self._stop = stop
        self._viewers = 0
        self._grace: asyncio.TimerHandle | None = None
        self._halting: asyncio.Task[None] | None = None

    @property
    def id(self) -> str:
        return self.run.id

    # --- whoever watches ----------------------------------------------------------------------

    def joined(self) -> None:
        self._viewers += 1
        self._end_grace()

    def left(self, policy: Disconnect) -> None:
        """Somebody stopped watching before the end; the policy of the last one decides."""
        self._viewers -= 1
        if self._viewers > 0 or self.leg.done() or policy.grace is None:
            return
        if policy.grace == 0:
            self._stop(Cause.CLIENT_LEFT)
        else:
            loop = asyncio.get_running_loop()
            self._grace = loop.call_later(policy.grace, self._stop, Cause.CLIENT_LEFT)

    # --- whoever carries it -------------------------------------------------------------------

    def is_queued(self) -> None:
        if not self.ready.done():
            self.ready.set_result(None)

    def has_begun(self, feed: RunFeed, turn: asyncio.Future[TurnResult]) -> None:
        self.feed, self._turn = feed, turn
        self.is_queued()

    async def halt(self, cause: Cause) -> None:
        """Have the agent end its turn; one that does not listen is cut off."""
        self.cause = self.cause or cause
        if self.feed is None or self._turn is None:
            return  # it looks at the cause before it begins
        self._interrupt(self.cause.value)
        if not await self._ends_by_itself(self.feed):
            self._turn.cancel()
            if not await self._ends_by_itself(self.feed):
                self._turn.add_done_callback(_forget)  # it heeds nothing: go on without it
                self.feed.ended.set()

    def halt_soon(self, cause: Cause) -> None:
        """The same for whoever cannot wait for it."""
        self._halting = asyncio.get_running_loop().create_task(self.halt(cause))

    def abandon(self) -> None:
        """Nobody carries it any more; its agent is not to go on alone."""
        if self._turn is not None and not self._turn.done():
            self._interrupt("The gateway is shutting down")
            self._turn.cancel()

    def _interrupt(self, why: str) -> None:
        try:
            interrupt(self.agent_ref, why)
        except Exception:  # an embedder's agent may raise anything; it is cut off then
            log.exception("an agent could not be interrupted", extra={"run_id": self.id})

    async def _ends_by_itself(self, feed: RunFeed) -> bool:
        with suppress(TimeoutError):
            await asyncio.wait_for(feed.ended.wait(), STOP_SECONDS)
        return feed.ended.is_set()

    def has_ended(self, result: TurnResult) -> None:
        self._end_grace()
        self.is_queued()
        if not self.leg.done():
            self.leg.set_result(result)

    def has_failed(self, error: BaseException) -> None:
        """There is no result, not even a failed one; where there is, it stays."""
        self._end_grace()
        for future in (self.ready, self.leg):
            if not future.done():
                future.set_exception(error)
                future.exception()  # nobody may be left to ask

    def _end_grace(self) -> None:
        if self._grace is not None:
            self._grace.cancel()
            self._grace = None


def _forget(turn: asyncio.Future[TurnResult]) -> None:
    """What becomes of it is nobody's concern any more, not even an error."""
    if not turn.cancelled():
        turn.exception()


def status_of(result: TurnResult, cause: Cause | None) -> RunStatus:
    """The state in which a turn leaves its run."""
    match result.outcome:
        case Outcome.COMPLETED | Outcome.WAITING | Outcome.TRUNCATED:
            return RunStatus.COMPLETED
        case Outcome.ASKING:
            return RunStatus.WAITING_FOR_APPROVAL
        case Outcome.FAILED:
            return RunStatus.FAILED
        case Outcome.INTERRUPTED:
            # Without a cause of its own it was the whole process that was told to end.
            return RunStatus.INTERRUPTED if cause is None else RunStatus.CANCELLED
