"""When a process has had its time. Pure: it is told what happens and when, and says what is due.

To the first line, between two lines, in all, and after the last word: each has its own limit.
"""

from __future__ import annotations

from dataclasses import dataclass

from hermes.backends.saying import StopReason
from hermes.settings.cli_settings import CliClocks


@dataclass(frozen=True, slots=True)
class Due:
    """When a process is to be ended, and why."""

    at: float
    reason: StopReason | None
    """None: it has said everything, and is only ended because it does not do so itself."""


class Clocks:
    """All times in seconds, on any clock that does not go backwards."""

    def __init__(self, limits: CliClocks) -> None:
        self._limits = limits
        self._first_sent: float | None = None
        self._asked: float | None = None
        self._last_sign: float | None = None
        """Of life: a line, or our own word that it had to wait for."""
        self._has_spoken = False
        self._has_concluded = False
        self._is_mute = False
        self._questions: set[str] = set()

    def sent(self, now: float) -> None:
        """It was given something to react to."""
        if self._first_sent is None:
            self._first_sent = now

    def asked(self, now: float) -> None:
        self.sent(now)
        self._asked = self._last_sign = now

    def heard(self, now: float) -> None:
        """A line came."""
        self._has_spoken = True
        self._last_sign = now

    def fell_mute(self, now: float) -> None:
        """It has closed its output, and can say nothing more."""
        self._is_mute = True
        self._last_sign = now

    def waits_for_us(self, question_id: str) -> None:
        """Until it is answered, its silence is ours."""
        self._questions.add(question_id)

    def answered(self, question_id: str, now: float) -> None:
        self._questions.discard(question_id)
        self._last_sign = now

    def concluded(self) -> None:
        self._has_concluded = True

    def goes_on(self) -> None:
        """It does something: if it has concluded, that was not the last word."""
        self._has_concluded = False

    def due(self) -> Due | None:
        """What ends it first, unless something happens; None: it has all the time there is."""
        found = [due for due in (self._start(), self._silence(), self._total()) if due is not None]
        return min(found, key=lambda due: due.at, default=None)

    def _start(self) -> Due | None:
        if self._has_spoken or self._first_sent is None:
            return None
        return Due(self._first_sent + self._limits.start_seconds, StopReason.NO_START)

    def _silence(self) -> Due | None:
        if self._last_sign is None:
            return None
        if self._has_concluded or self._is_mute:
            reason = None if self._has_concluded else StopReason.IDLE
            return Due(self._last_sign + self._limits.final_seconds, reason)
        if self._asked is None or not self._has_spoken or self._questions:
            return None
        return Due(self._last_sign + self._limits.idle_seconds, StopReason.IDLE)

    def _total(self) -> Due | None:
        if self._asked is None:
            return None
        return Due(self._asked + self._limits.total_seconds, StopReason.TOO_LONG)
