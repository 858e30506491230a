"""Turns that are running now: how one is started, stopped, and found when the server drains."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from hermes.core.errors import Unavailable
from hermes.core.turn import TurnCall, TurnResult
from hermes.runs.feed import EventSource, Feed

AgentRef = list[Any]
"""One slot: `[None]` until the agent of the turn exists, then `[agent]` (it has `interrupt`)."""

RunTurn = Callable[[TurnCall, Feed | None, AgentRef], Awaitable[TurnResult]]
"""Runs one turn to its end; events go into the feed, when there is one, as they happen."""


@dataclass(frozen=True, slots=True)
class LiveTurn:
    """A started turn: its events, its task and the way to its agent."""

    feed: EventSource
    task: asyncio.Future[TurnResult]
    agent_ref: AgentRef | None


def start_turn(run_turn: RunTurn, call: TurnCall) -> LiveTurn:
    """Start a turn whose events can be read from the returned feed."""
    feed, agent_ref = Feed(), [None]
    return LiveTurn(feed, start_into(feed, agent_ref, run_turn, call), agent_ref)


def start_into(
    feed: Feed, agent_ref: AgentRef, run_turn: RunTurn, call: TurnCall
) -> asyncio.Future[TurnResult]:
    """Start a turn that reports to this feed.

    The task is made with `asyncio.ensure_future` and gets exactly one done-callback, which closes
    the feed before it returns: both are part of the contract an embedder may rely on.
    """
    task = asyncio.ensure_future(run_turn(call, feed, agent_ref))
    task.add_done_callback(lambda _task: feed.end())
    return task


def interrupt(agent_ref: AgentRef | None, reason: str) -> None:
    """Ask the turn's agent to stop; does nothing while there is no agent yet."""
    if agent_ref and agent_ref[0] is not None:
        agent_ref[0].interrupt(reason)


class RunningTurns:
    """Every turn of one server that is running now. Used on the event loop only."""

    def __init__(self) -> None:
        self._agents: dict[int, AgentRef] = {}
        self.is_draining = False
        self.is_hurried = False
        """Whether turns are to be interrupted as soon as they have an agent."""
        self._all_done = asyncio.Event()

    def __len__(self) -> int:
        return len(self._agents)

    def admit(self) -> None:
        """Raises `Unavailable` while the server drains."""
        if self.is_draining:
            raise Unavailable(
                "The gateway is shutting down; try again in a moment.",
                code="draining",
                headers={"Retry-After": "5"},
            )

    @contextmanager
    def tracked(self, agent_ref: AgentRef) -> Iterator[None]:
        """Count a turn as running inside the block."""
        self.admit()
        self._agents[id(agent_ref)] = agent_ref
        try:
            yield
        finally:
            del self._agents[id(agent_ref)]
            if not self._agents:
                self._all_done.set()

    def refuse_new(self) -> None:
        """From now on no turn begins."""
        self.is_draining = True

    async def drain(self, grace: float, stop_within: float = 5.0) -> None:
        """Refuse new turns, give running ones `grace` seconds, then interrupt the rest."""
        self.refuse_new()
        if not await self._idle_within(grace):
            self.hurry()
            await self._idle_within(stop_within)

    def hurry(self) -> None:
        """Interrupt every running turn now, and those whose agent is still being built."""
        self.is_hurried = True
        for agent_ref in list(self._agents.values()):
            interrupt(agent_ref, "The gateway is shutting down")

    async def _idle_within(self, seconds: float) -> bool:
        if not self._agents:
            return True
        self._all_done.clear()
        try:
            await asyncio.wait_for(self._all_done.wait(), seconds)
        except TimeoutError:
            return False
        return True
