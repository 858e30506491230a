"""How long the agent waits before it asks a provider again."""

from __future__ import annotations

from dataclasses import dataclass
from random import SystemRandom


@dataclass(frozen=True, slots=True, kw_only=True)
class Patience:
    """Tests have less of it."""

    first_wait: float = 0.5
    """Doubled with every further try."""
    longest_wait: float = 60.0
    """A provider that asks for more is not waited for."""
    worth_waiting: float = 5.0
    """The same where somebody else can be asked instead."""

    def pause(
        self, attempt: int, retry_after: float | None, *, has_alternative: bool
    ) -> float | None:
        """Seconds to wait after this failed attempt, counted from 1; None: it is not worth it."""
        longest = self.worth_waiting if has_alternative else self.longest_wait
        if retry_after is not None:
            return retry_after if retry_after <= longest else None
        # Jitter: those who failed together must not all come back together.
        # Not the generator that everybody shares: it is not ours to move on, from any thread.
        jitter = SystemRandom().uniform(0.75, 1.25)
        return min(self.first_wait * 2.0 ** (attempt - 1) * jitter, longest)
