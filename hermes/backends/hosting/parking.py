"""Jobs whose CLI waits for a person: kept for the decision, for a while.

The turn that asked is over meanwhile. Its next leg finds the job by the call that was asked about;
where it comes too late, or in another process, it begins a new one that knows what was decided.
"""

from __future__ import annotations

import asyncio
from collections.abc import Hashable, Sequence
from dataclasses import dataclass

from hermes.backends.hosting.job import HostedJob
from hermes.backends.saying import PermissionAsked

REMEMBERED_SECONDS = 3600.0
"""How long it is known what a job had used that was given up."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Parked:
    """A job, and what it asked."""

    job: HostedJob
    questions: Sequence[PermissionAsked]
    session: Hashable | None
    """What it holds meanwhile."""


class Parking:
    """Used on one event loop."""

    def __init__(self) -> None:
        self._parked: dict[str, Parked] = {}
        self._timers: dict[str, asyncio.TimerHandle] = {}

    def park(self, parked: Parked, seconds: float) -> None:
        """After `seconds` the job is stopped; what became of it is known for longer."""
        loop = asyncio.get_running_loop()
        key = parked.questions[0].call_id
        self._parked[key] = parked
        self._timers[key] = loop.call_later(seconds, self._give_up, key)

    def take(self, call_ids: Sequence[str]) -> Parked | None:
        """The job that asked about one of these calls. It may be over by now."""
        for key, parked in list(self._parked.items()):
            if any(question.call_id in call_ids for question in parked.questions):
                self._timers.pop(key).cancel()
                return self._parked.pop(key)
        return None

    def evict(self, session: Hashable) -> None:
        """Somebody else needs what the parked job holds: it was not waited for."""
        for key, parked in list(self._parked.items()):
            if parked.session == session:
                self._timers.pop(key).cancel()
                self._give_up(key)

    def _give_up(self, key: str) -> None:
        self._parked[key].job.stop()
        loop = asyncio.get_running_loop()
        self._timers[key] = loop.call_later(REMEMBERED_SECONDS, self._parked.pop, key, None)

    def close(self) -> None:
        for timer in self._timers.values():
            timer.cancel()
        self._timers.clear()
        self._parked.clear()
