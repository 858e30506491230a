"""What people say to an agent while it works: accepted until the agent is done listening."""

from __future__ import annotations

import threading
from collections.abc import Callable

from hermes.core.run_link import Steer


class Steering:
    """One run's. Offered from the event loop, taken from the agent's thread."""

    def __init__(self, on_accepted: Callable[[Steer], None]) -> None:
        """`on_accepted` notes what the agent will hear, before it can. Must not block."""
        self._on_accepted = on_accepted
        self._lock = threading.Lock()
        self._waiting: list[Steer] = []
        self._is_open = True

    def offer(self, steer: Steer) -> bool:
        """False when the agent listens no more; what was accepted will reach it."""
        with self._lock:
            if self._is_open:
                self._on_accepted(steer)
                self._waiting.append(steer)
            return self._is_open

    def restore(self, steers: list[Steer]) -> None:
        """What was accepted before, by a process that died before the agent heard it."""
        with self._lock:
            self._waiting += steers

    def take(self) -> list[Steer]:
        with self._lock:
            return self._emptied()

    def take_or_end(self) -> list[Steer]:
        """Like `take`; when there is nothing, nothing is accepted from now on."""
        with self._lock:
            self._is_open = bool(self._waiting)
            return self._emptied()

    def end(self) -> list[Steer]:
        """Accept nothing more; what nobody took."""
        with self._lock:
            self._is_open = False
            return self._emptied()

    def _emptied(self) -> list[Steer]:
        taken, self._waiting = self._waiting, []
        return taken
