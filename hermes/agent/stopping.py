"""How a running turn is told to stop: one signal that reaches the model call and the tools."""

from __future__ import annotations

import threading

from hermes.providers.streams import CancelScope


class StopSignal:
    """Set once, from any thread; a model call in flight is cut and a waiting tool wakes at once."""

    def __init__(self) -> None:
        self.event = threading.Event()
        self.scope = CancelScope()
        self.reason: str | None = None

    def set(self, reason: str | None = None) -> None:
        if not self.event.is_set():
            self.reason = reason
            self.event.set()
            self.scope.cancel()

    def is_set(self) -> bool:
        return self.event.is_set()

    def wait(self, seconds: float) -> bool:
        """Sleep, but not through a stop: True when the turn was stopped meanwhile."""
        return self.event.wait(seconds)
