"""What is counted about a gateway at work, as a port. Who counts, and who shows it, is elsewhere.

Labels are names from the configuration, kinds and statuses; never text from a request, and never
a secret.
"""

from __future__ import annotations

from typing import Protocol

from hermes.core.turn import Usage


class Meter(Protocol):
    """Every call takes microseconds and may come from any thread."""

    def model_called(self, provider: str, model: str, outcome: str, seconds: float) -> None:
        """One request to a provider is over: `ok`, `interrupted`, or the kind of its failure."""

    def tokens_used(self, provider: str, model: str, usage: Usage) -> None:
        """What a provider said a reply has cost."""

    def remedy_tried(self, provider: str, model: str, remedy: str, failure: str) -> None:
        """What is done now about a failed request to this provider."""

    def tool_called(self, name: str, outcome: str, seconds: float) -> None:
        """A tool has run: `ok`, `problem` or `crash`. Its name is one that exists, or `unknown`."""

    def turn_ended(self, outcome: str) -> None:
        """An agent is done with a turn, or with a leg of it."""

    def run_ended(self, status: str) -> None:
        """A run that is kept is over."""

    def request_answered(self, method: str, route: str, status: int) -> None:
        """The HTTP answer has been sent, a stream to its end."""


class Unmetered:
    """Counts nothing."""

    def model_called(self, provider: str, model: str, outcome: str, seconds: float) -> None:
        return

    def tokens_used(self, provider: str, model: str, usage: Usage) -> None:
        return

    def remedy_tried(self, provider: str, model: str, remedy: str, failure: str) -> None:
        return

    def tool_called(self, name: str, outcome: str, seconds: float) -> None:
        return

    def turn_ended(self, outcome: str) -> None:
        return

    def run_ended(self, status: str) -> None:
        return

    def request_answered(self, method: str, route: str, status: int) -> None:
        return


UNMETERED = Unmetered()
