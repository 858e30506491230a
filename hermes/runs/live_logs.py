"""Who watches which run: committed events on their way from the store to the viewers.

Used on the event loop, but for `deliver`, which the store's thread calls.
"""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Awaitable, Callable, Sequence

from hermes.core.events import Event
from hermes.core.run_ports import NewEvent
from hermes.core.runs import LoggedEvent

PAGE = 500
MOST_AHEAD = 2000
"""So many events wait for a viewer that is slow; it finds the others in the store."""

ReadPage = Callable[[str, int, int], Awaitable[list[LoggedEvent]]]
"""The committed events of a run after a number, at most so many."""


class Viewer:
    """One reader of one run: what was committed since it came, or a hint to look."""

    def __init__(self) -> None:
        self._events: deque[LoggedEvent] = deque()
        self._is_hinted = False
        self._bell: asyncio.Future[None] | None = None

    def put(self, event: LoggedEvent) -> None:
        if len(self._events) < MOST_AHEAD:
            self._events.append(event)
        else:
            self._is_hinted = True
        self._ring()

    def hint(self) -> None:
        """Something was committed that this process did not write."""
        self._is_hinted = True
        self._ring()

    async def take(self) -> tuple[list[LoggedEvent], bool]:
        """What there is, and whether the store knows more; waits until there is something."""
        while not self._events and not self._is_hinted:
            self._bell = asyncio.get_running_loop().create_future()
            try:
                await self._bell
            finally:
                self._bell = None
        taken = list(self._events)
        self._events.clear()
        hinted, self._is_hinted = self._is_hinted, False
        return taken, hinted

    def _ring(self) -> None:
        if self._bell is not None and not self._bell.done():
            self._bell.set_result(None)


class LiveLogs:
    """The viewers of every run that is watched, by its id."""

    def __init__(self) -> None:
        self._viewers: dict[str, set[Viewer]] = {}
        self._loop: asyncio.AbstractEventLoop | None = None

    def join(self, run_id: str) -> Viewer:
        self._loop = asyncio.get_running_loop()
        viewer = Viewer()
        self._viewers.setdefault(run_id, set()).add(viewer)
        return viewer

    def leave(self, run_id: str, viewer: Viewer) -> None:
        viewers = self._viewers.get(run_id, set())
        viewers.discard(viewer)
        if not viewers:
            self._viewers.pop(run_id, None)

    def hint(self, run_id: str) -> None:
        for viewer in self._viewers.get(run_id, ()):
            viewer.hint()

    def tell(self, run_id: str, event: Event) -> None:
        """Something for those who watch now; it is in no log and has the number 0."""
        for viewer in self._viewers.get(run_id, ()):
            viewer.put(LoggedEvent(0, 0.0, event))

    def deliver(self, events: Sequence[NewEvent]) -> None:
        """Events that were committed just now; from the store's thread."""
        loop = self._loop
        if loop is None or not self._viewers:
            return
        try:
            loop.call_soon_threadsafe(self.pass_on, events)
        except RuntimeError:
            return  # the loop is closed: nobody is left to watch

    def pass_on(self, events: Sequence[NewEvent]) -> None:
        """The same on the event loop."""
        for event in events:
            for viewer in self._viewers.get(event.run_id, ()):
                viewer.put(LoggedEvent(event.seq, event.at, event.event))


class Following:
    """Every committed event of a run after a number, each once, in order.

    First come those in the store, then those that still happen. The viewer is registered before
    the first look, so that nothing falls between the two. Whoever follows closes it.
    """

    def __init__(self, logs: LiveLogs, read: ReadPage, run_id: str, *, after: int) -> None:
        self._logs = logs
        self._read = read
        self._run_id = run_id
        self._after = after
        self._has_more = True
        self._viewer = logs.join(run_id)

    async def take(self) -> list[LoggedEvent]:
        """The next events, at least one; waits for them. Never called after the end."""
        while True:
            fresh = await self._stored() if self._has_more else await self._happening()
            if fresh:
                return fresh

    async def look(self) -> list[LoggedEvent]:
        """The first of what is stored already, if there is any; does not wait."""
        return await self._stored()

    def put(self, event: Event) -> None:
        """Something for this viewer only; it is in no log and has the number 0."""
        self._viewer.put(LoggedEvent(0, 0.0, event))

    def close(self) -> None:
        self._logs.leave(self._run_id, self._viewer)

    async def _stored(self) -> list[LoggedEvent]:
        page = await self._read(self._run_id, self._after, PAGE)
        self._has_more = len(page) == PAGE
        if page:
            self._after = page[-1].seq
        return page

    async def _happening(self) -> list[LoggedEvent]:
        events, self._has_more = await self._viewer.take()
        fresh: list[LoggedEvent] = []
        for event in events:
            if event.seq == 0 or event.seq == self._after + 1:
                fresh.append(event)
                self._after = event.seq or self._after
            elif event.seq > self._after:
                self._has_more = True  # something is missing in between: the store has it
        return fresh
