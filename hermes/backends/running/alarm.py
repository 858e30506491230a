"""Rings when a clock has run out, on the event loop."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable

from hermes.backends.running.clocks import Clocks, Due


class Alarm:
    """Wound after everything that happens, which is often: it sets a timer only if it must."""

    def __init__(self, clocks: Clocks, ring: Callable[[Due], None]) -> None:
        self._clocks = clocks
        self._ring = ring
        self._timer: asyncio.TimerHandle | None = None
        self._goes_off = 0.0

    def wind(self) -> None:
        due = self._clocks.due()
        if due is None:
            return
        if self._timer is not None:
            # One that goes off too early is set anew then.
            if self._goes_off <= due.at:
                return
            self._timer.cancel()
        self._goes_off = due.at
        delay = max(0.0, due.at - time.monotonic())
        self._timer = asyncio.get_running_loop().call_later(delay, self._go_off)

    def silence(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    def _go_off(self) -> None:
        self._timer = None
        due = self._clocks.due()
        if due is not None and time.monotonic() >= due.at:
            self._ring(due)
        else:
            self.wind()
