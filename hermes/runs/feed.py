"""Where threads meet the loop: a queue of one turn's events with a bell on the reader's event loop.

Any thread may put; one coroutine reads. A burst rings the bell once, and the reader takes
everything that is there: no polling, no thread parked per stream, one wake-up per burst.
"""

from __future__ import annotations

import asyncio
from collections import deque
from typing import Protocol

from hermes.core.events import Event
from hermes.core.run_link import RunLink

Item = Event | None
"""`None` is the end of the feed; it comes once, after the turn's task has ended."""


class EventSource(Protocol):
    """What a stream writer reads from."""

    async def take(self) -> list[Item]:
        """Everything that is ready, in order, at most up to the end; waits until there is some."""

    def put(self, item: Item) -> None:
        """Add an item; safe from any thread."""


class Feed:
    """The `EventSource` of a turn that runs in this process."""

    link: RunLink | None = None
    """For a turn whose events are kept: how its agent makes sure that they are."""
    wants_text: bool = True
    """Whether the answer is to come in pieces; otherwise the model is asked for it as a whole."""
    run_id: str | None = None
    """Whose events these are, where nobody keeps them."""
    is_quiet: bool = False
    """Whether only what is done is told, and nothing of what is said."""

    def __init__(self) -> None:
        self._items: deque[Item] = deque()
        self._bell: asyncio.Future[None] | None = None

    def put(self, item: Item) -> None:
        self._items.append(item)
        if self._bell is not None:
            self._ring()

    def tell(self, event: Event) -> None:
        """Add what is no text: a deed, a question, a step."""
        self.put(event)

    def end(self) -> None:
        """The turn's task has ended."""
        self.put(None)

    def get_nowait(self) -> Item:
        """The next item; `IndexError` when there is none."""
        return self._items.popleft()

    def empty(self) -> bool:
        return not self._items

    async def take(self) -> list[Item]:
        # A bell may ring late, for an item that was already taken with the one before it.
        while not self._items:
            await self._wait()
        taken: list[Item] = []
        for _ in range(len(self._items)):
            taken.append(self._items.popleft())
            if taken[-1] is None:
                break
        return taken

    async def _wait(self) -> None:
        bell = asyncio.get_running_loop().create_future()
        self._bell = bell
        try:
            # A put between the caller's look and the line above rang no bell: look again.
            if not self._items:
                await bell
        finally:
            self._bell = None

    def _ring(self) -> None:
        bell, self._bell = self._bell, None
        if bell is None:
            return  # another thread rang it just now
        loop = bell.get_loop()
        if _is_running_here(loop):
            _wake(bell)
            return
        try:
            loop.call_soon_threadsafe(_wake, bell)
        except RuntimeError:
            return  # the loop is closed: nobody is left to read


def _is_running_here(loop: asyncio.AbstractEventLoop) -> bool:
    try:
        return asyncio.get_running_loop() is loop
    except RuntimeError:
        return False


def _wake(bell: asyncio.Future[None]) -> None:
    if not bell.done():
        bell.set_result(None)
