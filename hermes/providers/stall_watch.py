"""Ends the running task when nothing has arrived for too long: one timer, not one per read."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass

from hermes.core.errors import ProviderError
from hermes.providers.network_errors import only_signs_of_life, stalled

SIGNS_ALONE = 3.0
"""So many times the limit is waited for progress while the connection shows signs of life."""


@dataclass(frozen=True, slots=True)
class Limits:
    """How many seconds of silence are borne."""

    amid_text: float
    """While text flows nobody thinks."""
    otherwise: float


class StallWatch:
    """Watches the task it is made in. Belongs to the event loop's thread."""

    def __init__(self, limits: Limits) -> None:
        self.has_struck = False
        self._amid_text = limits.amid_text
        self._otherwise = limits.otherwise
        self._limit = limits.otherwise
        self._task = asyncio.current_task()
        self._loop = asyncio.get_running_loop()
        self._last_sign = self._last_progress = self._loop.time()
        self._timer = self._loop.call_later(self._limit, self._look)

    def saw_life(self) -> None:
        """Something came, but nothing of an answer: a comment, a ping, half an event."""
        self._last_sign = self._loop.time()

    def saw_text(self) -> None:
        self._last_sign = self._last_progress = self._loop.time()
        self._limit = self._amid_text

    def saw_event(self) -> None:
        self._last_sign = self._last_progress = self._loop.time()
        self._limit = self._otherwise

    def shorten(self, limit: float) -> None:
        """From now on wait at most `limit` seconds for the next sign of life."""
        self._amid_text = min(limit, self._amid_text)
        self._otherwise = min(limit, self._otherwise)
        self._limit = min(limit, self._limit)
        self._timer.cancel()
        self._timer = self._loop.call_later(self._limit, self._look)

    def stop(self) -> None:
        self._timer.cancel()

    def verdict(self, host: str) -> ProviderError:
        """Why it has struck."""
        if self._last_sign > self._last_progress and self._left(self._last_sign, 1.0) > 0:
            return only_signs_of_life(host, self._limit * SIGNS_ALONE)
        return stalled(host, self._limit)

    def _look(self) -> None:
        left = min(self._left(self._last_sign, 1.0), self._left(self._last_progress, SIGNS_ALONE))
        if left > 0:
            self._timer = self._loop.call_later(left, self._look)
        elif self._task is not None:
            self.has_struck = True
            self._task.cancel()

    def _left(self, since: float, times: float) -> float:
        return since + self._limit * times - self._loop.time()
