"""Ends the running task when nothing has arrived for too long: one timer, not one per read."""

from __future__ import annotations

import asyncio


class StallWatch:
    """Watches the task it is made in. Belongs to the event loop's thread."""

    def __init__(self, limit: float) -> None:
        self.has_struck = False
        self._limit = limit
        self._task = asyncio.current_task()
        self._loop = asyncio.get_running_loop()
        self._last_sign = self._loop.time()
        self._timer = self._loop.call_later(limit, self._look)

    def saw_life(self) -> None:
        self._last_sign = self._loop.time()

    def shorten(self, limit: float) -> None:
        """From now on wait at most `limit` seconds for the next sign of life."""
        self._limit = min(limit, self._limit)
        self._timer.cancel()
        self._timer = self._loop.call_later(self._limit, self._look)

    def stop(self) -> None:
        self._timer.cancel()

    def _look(self) -> None:
        left = self._last_sign + self._limit - self._loop.time()
        if left > 0:
            self._timer = self._loop.call_later(left, self._look)
        elif self._task is not None:
            self.has_struck = True
            self._task.cancel()
