"""Runs that are not kept: known by their id while they run, and for a short while afterwards.

They cost a request next to nothing: an id, an entry in a dictionary, and the list of events that
were read anyway. Used on the event loop only.
"""

from __future__ import annotations

import asyncio
import time
from collections import OrderedDict
from collections.abc import AsyncIterator, Callable
from contextlib import suppress

from hermes.core.events import Event, Idle, RunStarted, TextDelta, TurnEnded
from hermes.core.ids import new_id
from hermes.core.runs import CANCEL, LoggedEvent, Run, RunStatus, error_of
from hermes.core.turn import Outcome, TurnResult
from hermes.runs.feed import Feed, Item
from hermes.runs.keeping_deeds import is_deed
from hermes.runs.live_run import Cause, status_of
from hermes.runs.outcomes import result_of
from hermes.runs.turns import AgentRef, interrupt

MOST_FINISHED = 64
REMEMBERED_SECONDS = 300.0


def _nothing() -> None:
    """What is left to do at the end of a run that has ended."""


class PassingFeed(Feed):
    """The feed of a run that is not kept; what its reader takes can be followed by others."""

    def __init__(self, on_end: Callable[[], None], on_turn_over: Callable[[], None]) -> None:
        super().__init__()
        self.has_deeds = False
        """Whether the agent did something that may have to be undone."""
        self._on_turn_over = on_turn_over
        self._taken: list[Item] = []
        self._on_end = on_end
        self._bells: list[asyncio.Future[None]] = []

    def tell(self, event: Event) -> None:
        if is_deed(event):
            self.has_deeds = True
        self.put(event)

    def end(self) -> None:
        super().end()
        self._on_turn_over()

    async def take(self) -> list[Item]:
        taken = await super().take()
        self._taken += taken  # all that a token costs here
        if self._bells:
            self.ring()
        if taken[-1] is None:
            self._on_end()
        return taken

    @property
    def seen(self) -> list[Event]:
        """What its reader was given."""
        return _events(self._taken)

    def happened(self) -> list[Event]:
        """What was taken and what is still to be taken, up to the end."""
        return _events([*self._taken, *self._items])

    async def more(self) -> None:
        """Return when something happened."""
        bell = asyncio.get_running_loop().create_future()
        self._bells.append(bell)
        try:
            await bell
        finally:
            if bell in self._bells:
                self._bells.remove(bell)

    @property
    def is_followed(self) -> bool:
        return bool(self._bells)

    def let_go(self) -> None:
        self._on_end = _nothing

    def ring(self) -> None:
        bells, self._bells = self._bells, []
        for bell in bells:
            if not bell.done():
                bell.set_result(None)


def _events(items: list[Item]) -> list[Event]:
    """Without silence, and without what came after the end."""
    end = items.index(None) if None in items else len(items)
    return [item for item in items[:end] if item is not None and not isinstance(item, Idle)]


class PassingRun:
    """One of them."""

    def __init__(
        self, kind: str, owner: str, model: str, on_end: Callable[[PassingRun], None]
    ) -> None:
        self.id = new_id("run_")
        self.kind = kind
        self.owner = owner
        self.model = model
        self.resource_id: str | None = None
        """The completion or response that it makes."""
        self.created_at = time.time()
        self.ended_at: float | None = None
        self.agent_ref: AgentRef = [None]
        self.cause: Cause | None = None
        self.task: asyncio.Future[TurnResult] | None = None
        """The turn, where its answer is streamed."""
        self.result: TurnResult | None = None
        """What came of it, where it is not."""
        self.keep: Callable[[TurnResult, RunStatus], None] | None = None
        """Has what it did kept, if it did something."""
        self._on_end = on_end
        self.feed = PassingFeed(self.end, self.turn_over)
        self.feed.run_id = self.id

    def end(self) -> None:
        if self.ended_at is None:
            self.ended_at = time.time()
            self._on_end(self)
            if self.feed.is_followed:
                self.feed.ring()
            was_streamed = self.task is not None
            self._let_go()
            if not was_streamed:
                self.turn_over()

    def turn_over(self) -> None:
        """The agent is done, whether or not anybody waited for it: its deeds are not forgotten."""
        result, keep = self._result(), self.keep
        if result is None or keep is None or not self.feed.has_deeds:
            return
        self.keep = None
        if result.outcome is not Outcome.ASKING:  # then all of it is kept, to go on
            keep(result, self._status(result))

    def _let_go(self) -> None:
        """Keep what can still be asked for, and neither the agent nor anything it holds."""
        self.result = self._result()
        self.task = None
        self.agent_ref = [None]
        self.feed.let_go()

    def stop(self) -> None:
        """Does nothing to one that is over: how it ended does not change any more."""
        if self.ended_at is None:
            self.cause = Cause.STOPPED
            interrupt(self.agent_ref, Cause.STOPPED.value)

    async def ended(self, within: float) -> None:
        """Return when it is over, or after so many seconds."""
        with suppress(TimeoutError):
            async with asyncio.timeout(within):
                while self.ended_at is None:
                    await self.feed.more()

    def as_run(self) -> Run:
        """As if it were kept."""
        result = self._result()
        status = RunStatus.RUNNING if result is None else self._status(result)
        told = result or TurnResult()
        return Run(
            id=self.id,
            kind=self.kind,
            owner=self.owner,
            status=status,
            session_id=None,
            resource_id=self.resource_id,
            input={"model": self.model},
            metadata={},
            disconnect=CANCEL,
            timeout=None,
            attempt=1,
            last_seq=len(self._log()),
            is_stop_requested=self.cause is not None,
            created_at=self.created_at,
            started_at=self.created_at,
            finished_at=self.ended_at,
            output=told.text,
            error=error_of(status, told),
            usage=told.usage.as_dict(),
            has_all_events=True,
        )

    async def events(self, after: int) -> AsyncIterator[list[LoggedEvent]]:
        """What has happened and still happens, to the end."""
        while True:
            log = self._log()
            if len(log) > after:
                yield [
                    LoggedEvent(seq, self.ended_at or time.time(), event)
                    for seq, event in enumerate(log[after:], start=after + 1)
                ]
                after = len(log)
            if self._result() is not None:
                return
            await self.feed.more()

    def _log(self) -> list[Event]:
        result = self._result()
        said = self.feed.happened()
        if result is None or result.outcome is Outcome.ASKING:
            # One that has to ask is kept from now on; its log goes on from here.
            return [RunStarted(1), *said]
        if result.text and all(map(is_deed, said)):
            said = [*said, TextDelta(result.text)]
        return [RunStarted(1), *said, TurnEnded(result, self._status(result).value)]

    def _result(self) -> TurnResult | None:
        # Whoever replaced `asyncio.ensure_future` may have given us a task that can say nothing.
        is_done = isinstance(self.task, asyncio.Future) and self.task.done()
        if self.result is not None or (self.ended_at is None and not is_done):
            return self.result
        if self.task is None or not is_done or self.task.cancelled():
            why = self.cause or Cause.CLIENT_LEFT
            return TurnResult(outcome=Outcome.INTERRUPTED, error=why.value)
        self.result = result_of(self.task, self.cause)
        return self.result

    def _status(self, result: TurnResult) -> RunStatus:
        has_left = result.error == Cause.CLIENT_LEFT.value
        return status_of(result, self.cause or (Cause.CLIENT_LEFT if has_left else None))


class PassingRuns:
    """Those that run, and the last few that did."""

    def __init__(self) -> None:
        self._running: dict[str, PassingRun] = {}
        self._finished: OrderedDict[str, PassingRun] = OrderedDict()

    def begin(
        self, kind: str, owner: str, model: str, resource_id: str | None = None
    ) -> PassingRun:
        run = PassingRun(kind, owner, model, self._end)
        run.resource_id = resource_id
        self._running[run.id] = run
        return run

    def get(self, run_id: str, owner: str) -> PassingRun | None:
        self._forget()
        run = self._running.get(run_id) or self._finished.get(run_id)
        return run if run is not None and run.owner == owner else None

    def knows(self, run_id: str) -> bool:
        return run_id in self._running or run_id in self._finished

    def forget(self, run_id: str) -> None:
        """It is kept after all: from now on the store knows more."""
        self._running.pop(run_id, None)
        self._finished.pop(run_id, None)

    def _end(self, run: PassingRun) -> None:
        if self._running.pop(run.id, None) is not None:
            self._finished[run.id] = run
            if len(self._finished) > MOST_FINISHED:
                self._finished.popitem(last=False)

    def _forget(self) -> None:
        oldest = time.time() - REMEMBERED_SECONDS
        for run_id, run in list(self._finished.items()):
            if run.ended_at is not None and run.ended_at < oldest:
                del self._finished[run_id]
