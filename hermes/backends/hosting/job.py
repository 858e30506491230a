"""One job as whoever asked for it sees it: what happens, and how to have a say in it."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import dataclass

from hermes.backends.jobs import Memory
from hermes.backends.saying import Ending, Event, StopReason


@dataclass(frozen=True, slots=True)
class Waiting:
    """The job stands in line; `place` others come first, itself included."""

    place: int


@dataclass(frozen=True, slots=True)
class Begun:
    """The job has its place and its folders; the CLI is asked now."""


@dataclass(frozen=True, slots=True)
class Kept:
    """What the job changed in its workspace is in a commit now, or why it is not."""

    message: str


News = Event | Waiting | Begun | Kept


class HostedJob:
    """Lives on one event loop; `stop` may be called from any thread."""

    def __init__(self, job_id: str, on_stop: Callable[[StopReason], None]) -> None:
        self.id = job_id
        self.memory: Memory | None = None
        """What the CLI remembers it under; perhaps not what was asked for."""
        self.ending: Ending | None = None
        """What came of it; there as soon as `more` returns nothing."""
        self.is_stopping = False
        """Whether somebody has asked it to end; it may take a moment."""
        self._on_stop = on_stop
        self._on_answer: Callable[[str, bool, str], None] | None = None
        self._news: list[News] = []
        self._bell = asyncio.Event()
        self._loop = asyncio.get_running_loop()

    async def more(self, within: float | None = None) -> list[News] | None:
        """What has happened since the last time; nothing: it is over, and nothing of it is left.

        Waiting for it may be cut short, and begun again. None: nothing has happened `within` so
        many seconds.
        """
        try:
            async with asyncio.timeout(within):
                await self._bell.wait()
        except TimeoutError:
            return None
        news, self._news = self._news, []
        if self.ending is None:
            self._bell.clear()
        return news

    async def over(self) -> Ending:
        """What came of it, as soon as nothing of it is left; what it tells until then is lost."""
        while await self.more() != []:
            pass
        assert self.ending is not None, "a job that has no more to tell is over"
        return self.ending

    def answer(self, question_id: str, *, is_allowed: bool, message: str = "") -> None:
        """Tell the CLI what was decided about its question."""
        if self._on_answer is not None:
            self._on_answer(question_id, is_allowed, message)

    def stop(self, reason: StopReason = StopReason.ASKED) -> None:
        """Have it end soon. Returns at once; asking again changes nothing."""
        self.is_stopping = True
        self._loop.call_soon_threadsafe(self._on_stop, reason)

    # --- the host's side ----------------------------------------------------------------------

    def tell(self, news: News) -> None:
        self._news.append(news)
        self._bell.set()

    def listens(self, on_answer: Callable[[str, bool, str], None]) -> None:
        """From now on there is somebody who takes answers."""
        self._on_answer = on_answer

    def end(self, ending: Ending) -> None:
        if self.ending is None:
            self.ending = ending
            self._bell.set()
