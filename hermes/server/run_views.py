"""Watching a kept run as the turn it is: its events, its result, and what leaving it means."""

from __future__ import annotations

import asyncio
from dataclasses import replace

from hermes.core.events import Event, Idle, MessageKept, TurnEnded, TurnPaused
from hermes.core.messages import Message
from hermes.core.runs import DETACH, Disconnect, LoggedEvent
from hermes.core.turn import TurnResult
from hermes.runs.engine import Begun, Runs
from hermes.runs.feed import EventSource, Item
from hermes.runs.live_logs import Following
from hermes.runs.live_run import LiveRun
from hermes.runs.turns import AgentRef
from hermes.server.streaming import TurnView


class RunSource(EventSource):
    """The committed events of one leg of a run. Looks like a queue to the contract's streams."""

    def __init__(
        self, following: Following, live: LiveRun | None = None, policy: Disconnect = DETACH
    ) -> None:
        self._following = following
        self._live = live
        self._policy = policy
        self._kept: list[Message] = []
        self._ahead: list[LoggedEvent] = []
        self._end: LoggedEvent | None = None
        self.result: asyncio.Future[TurnResult] = asyncio.get_running_loop().create_future()
        """What came of the leg, once the reader has got there."""
        if live is not None:
            live.joined()
            live.leg.add_done_callback(self._notice_failure)

    @property
    def view(self) -> TurnView:
        """The leg as a stream writer sees it."""
        return TurnView(
            source=self,
            task=self.result,
            read_result=lambda result: result,
            interrupt=lambda _reason: None,
            leave=self._leave,
            close=self._following.close,
            ending=self._ending,
            is_logged=True,
        )

    def put(self, item: Item) -> None:
        if item is not None:
            self._following.put(item)

    async def look(self) -> None:
        """Read what is stored already. Raises `EventsGone` when a part of it was deleted."""
        self._ahead = await self._following.look()

    async def take(self) -> list[Item]:
        while True:
            if self.result.done():
                return [None]
            taken: list[Item] = []
            ahead, self._ahead = self._ahead, []
            for logged in ahead or await self._following.take():
                event = self._seen(logged)
                if event is not None:
                    taken.append(event)
                if self.result.done():
                    return [*taken, None]
            if taken:
                return taken

    @property
    def agent_ref(self) -> AgentRef | None:
        return None if self._live is None else self._live.agent_ref

    @property
    def ended_at(self) -> float | None:
        """When the leg ended, once the reader has got there."""
        return None if self._end is None else self._end.at

    def empty(self) -> bool:
        return self._live is None or self._live.feed is None or self._live.feed.empty()

    def get_nowait(self) -> Item:
        """`None` once the turn is over; `IndexError` before: what happens is in the log."""
        if self._live is None or self._live.feed is None:
            raise IndexError("a kept run's events are read from its log")
        return self._live.feed.get_nowait()

    def _ending(self, result: TurnResult) -> tuple[TurnEnded, float | None]:
        if self._end is None:
            return TurnEnded(result), None  # it failed without an end
        said = self._end.event
        status = said.status if isinstance(said, TurnEnded) else None
        return TurnEnded(result, status), self._end.at

    async def _leave(self) -> None:
        """A run that is over has nobody to stop."""
        if self._live is not None:
            self._live.left(self._policy)

    def _seen(self, logged: LoggedEvent) -> Event | None:
        match logged.event:
            case TurnEnded(result) | TurnPaused(result):
                self._end = logged
                # The log has the messages one by one, and not again at the end.
                self.result.set_result(replace(result, messages=result.messages or self._kept))
                return None
            case event:
                if isinstance(event, MessageKept):
                    self._kept.append(event.message)
                return event

    def _notice_failure(self, leg: asyncio.Future[TurnResult]) -> None:
        error = None if leg.cancelled() else leg.exception()
        if error is not None and not self.result.done():
            self.result.set_exception(error)
            self.result.exception()  # the reader may have left
            self._following.put(Idle())  # wakes the reader


async def source_of(runs: Runs, begun: Begun) -> RunSource:
    """The leg that was asked for, once there is something to see.

    Raises `ApiError` when it cannot even begin.
    """
    live, policy = begun.live, begun.run.disconnect
    if live is None:
        return RunSource(runs.follow(begun.run.id, after=begun.after))
    live.joined()
    try:
        await asyncio.shield(live.ready)
    except asyncio.CancelledError:
        live.left(policy)
        raise
    source = RunSource(runs.follow(begun.run.id, after=begun.after), live, policy)
    live.left(DETACH)  # the source watches from here on
    return source


async def leg_result(runs: Runs, begun: Begun) -> TurnResult:
    """Wait for the whole answer; a caller that is cancelled has left."""
    live = begun.live
    if live is None:
        result, _ = await stored_leg(runs, begun)
        return result
    live.joined()
    try:
        result = await asyncio.shield(live.leg)
    except asyncio.CancelledError:
        live.left(begun.run.disconnect)
        raise
    live.left(DETACH)
    return result


async def stored_leg(runs: Runs, begun: Begun) -> tuple[TurnResult, float | None]:
    """What came of a leg that is over, and when that was."""
    source = RunSource(runs.follow(begun.run.id, after=begun.after))
    try:
        while not source.result.done():
            await source.take()
    finally:
        source.view.close()
    return source.result.result(), source.ended_at
