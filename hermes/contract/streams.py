"""The contract's stream arguments (queue, agent task, agent slot) as what a writer reads."""

from __future__ import annotations

import asyncio
import queue
from typing import Any

from hermes.contract.callbacks import item_to_event
from hermes.contract.results import result_from
from hermes.core.turn import TurnResult
from hermes.runs.feed import EventSource, Feed, Item
from hermes.runs.turns import AgentRef, interrupt
from hermes.server.run_views import RunSource
from hermes.server.streaming import TurnView

POLL_SECONDS = 0.02


def turn_view(stream_q: Any, agent_task: Any, agent_ref: AgentRef | None) -> TurnView:
    """What a stream writer needs of a turn, whoever made its queue and its task."""
    is_feed = isinstance(stream_q, Feed)  # asked first: of a protocol's class it is expensive
    if not is_feed and isinstance(stream_q, RunSource):
        return stream_q.view
    return TurnView(
        source=stream_q if is_feed else PolledQueue(stream_q, agent_task),
        task=agent_task,
        read_result=read_result,
        interrupt=lambda reason: interrupt(agent_ref, reason),
    )


def read_result(value: Any) -> TurnResult:
    """What a turn's task returned: our own result, or the contract's pair."""
    if isinstance(value, TurnResult):
        return value
    result, usage = value
    return result_from(result, usage)


class PolledQueue(EventSource):
    """A foreign `queue.Queue` as a source. It has no bell, so it is looked at again and again."""

    def __init__(self, foreign: queue.Queue[Any], task: asyncio.Future[Any]) -> None:
        self._foreign = foreign
        self._task = task
        self._own: list[Item] = []

    def put(self, item: Item) -> None:
        self._own.append(item)

    async def take(self) -> list[Item]:
        while True:
            # Asked before the queue is emptied: what the task put before it ended is then in it.
            is_over = self._task.done()
            taken = self._take_now()
            if taken:
                return taken
            if is_over:
                return [None]
            await asyncio.sleep(POLL_SECONDS)

    def _take_now(self) -> list[Item]:
        taken, self._own = self._own, []
        while True:
            try:
                item = self._foreign.get_nowait()
            except queue.Empty:
                return taken
            if item is None:
                return [*taken, None]
            taken.append(item_to_event(item))
