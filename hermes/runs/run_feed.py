"""The feed of a kept run: what its agent reports goes into the log, and from there to viewers."""

from __future__ import annotations

import asyncio
from concurrent.futures import Future

from hermes.core.errors import Interrupted
from hermes.core.events import Event, Idle, Laws, MessageKept, SteerAccepted, TextDelta, ToolStarted
from hermes.core.run_link import Steer
from hermes.fibers import is_in_fiber, wait_in_fiber
from hermes.runs.feed import Feed, Item
from hermes.runs.log_writer import LogWriter, OpenLog
from hermes.runs.steering import Steering


class Link:
    """The agent's side of a kept run (`hermes.core.run_link.RunLink`)."""

    def __init__(self, writer: LogWriter, log: OpenLog) -> None:
        self.run_id = log.run_id
        self.writer = writer
        self.log = log
        self.steering = Steering(lambda steer: writer.put(log, SteerAccepted(steer.id, steer.text)))

    def flushed(self) -> Future[None]:
        """Done when everything that happened so far is committed."""
        return self.writer.flushed(self.log)

    def barrier(self) -> None:
        if self.log.is_closed:
            raise Interrupted("This run is over; an agent that was left behind does nothing more.")
        flushed = self.flushed()
        if not is_in_fiber():
            return flushed.result()
        # Without a thread that waits: this happens several times in every turn.
        wrapped = asyncio.wrap_future(flushed)
        return wait_in_fiber(lambda: asyncio.shield(wrapped))

    def take_steers(self) -> list[Steer]:
        return self.steering.take()

    def end_steering(self) -> list[Steer]:
        return self.steering.take_or_end()


class RunFeed(Feed):
    """Takes events from any thread, like every feed; nobody reads here but from the log."""

    def __init__(self, link: Link, *, wants_text: bool) -> None:
        super().__init__()
        self.link = self.run_link = link
        self.wants_text = wants_text
        self.has_kept_messages = False
        """Whether the agent reports the messages of its turn; a foreign one may not."""
        self.has_effect = False
        """Whether anything happened that cannot be taken back: somebody read text, a tool ran."""
        self.ended = asyncio.Event()
        self._laws = Laws()

    def hold(self, event: Event) -> None:
        """Like `put`, for what is to be committed with that which follows at once."""
        if self._laws.admits(event):
            self.run_link.writer.put(self.run_link.log, event, is_held=True)

    def put(self, item: Item) -> None:
        if item is None:
            super().put(None)
            self.ended.set()
        elif not isinstance(item, Idle) and self._laws.admits(item):
            # Set, never combined: several threads of an agent may report at once.
            if isinstance(item, MessageKept):
                self.has_kept_messages = True
            elif isinstance(item, TextDelta | ToolStarted):
                self.has_effect = True
            self.run_link.writer.put(self.run_link.log, item)
