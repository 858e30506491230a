"""What ties an agent at work to the run it works for. The agent's side of a run."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol


@dataclass(frozen=True, slots=True)
class Steer:
    """Something a person says to an agent while it works."""

    id: str
    text: str


class RunLink(Protocol):
    """Called from the agent's thread or fiber."""

    @property
    def run_id(self) -> str: ...

    def barrier(self) -> None:
        """Return when everything the agent emitted so far would survive the death of the process.

        Never blocks an event loop: in a fiber it steps aside. Raises `Interrupted` when that cannot
        be promised, because another process has taken the run over or the store cannot be written.
        """

    def take_steers(self) -> list[Steer]:
        """What people said since the last time, in order."""

    def end_steering(self) -> list[Steer]:
        """Like `take_steers`; when it returns nothing, nothing is accepted from now on."""
