"""What a route wants done in a run, and what it does with the answer."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Protocol

from hermes.core.runs import LoggedEvent, Run, RunStatus
from hermes.core.turn import TurnCall, TurnResult


@dataclass(frozen=True, slots=True, kw_only=True)
class Ending:
    """How a leg of a run ended: for good, or to wait for a decision."""

    result: TurnResult
    status: RunStatus
    at: float
    """Unix time, as the log will have it."""
    read_leg: Callable[[], Awaitable[list[LoggedEvent]]]
    """The committed events of the leg, but for the one that ends it."""


class Work(Protocol):
    """Made by a request, or made again from the input of a run that outlived its process."""

    @property
    def wants_text(self) -> bool:
        """Whether the answer is to be logged piece by piece, because somebody may watch."""

    async def wait(self, run: Run) -> None:
        """The run has to wait for others; whoever asks about it is told so."""

    async def call(self, run: Run) -> TurnCall:
        """What to ask the agent, as things stand now. Raises `ApiError` when that is impossible."""

    async def begin(self, run: Run) -> None:
        """The agent is about to begin; what the client is told of from now on is stored."""

    async def end(self, run: Run, ending: Ending) -> None:
        """Store the answer. The client sees the end of the run only after this."""
