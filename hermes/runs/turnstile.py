"""Who may begin: one run per session, so many runs in all, each in the order in which it came.

Used on the event loop only. The store holds the same rule as a unique index; this is where runs
of this process wait without asking it again and again.
"""

from __future__ import annotations

import asyncio
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass, field

from hermes.core.errors import RateLimited
from hermes.runs.limits import Gate, Place


@dataclass(slots=True, eq=False)
class Ticket:
    """A run that wants to begin."""

    run_id: str
    owner: str
    session_id: str | None
    on_place: Callable[[int], None]
    """Called with the number of runs that come first whenever that changes, while it waits."""
    turn: asyncio.Future[None] = field(default_factory=asyncio.Future)
    place: int = 0


class Turnstile:
    """Lets runs begin in turn."""

    def __init__(self, gate: Gate, *, max_waiting: int) -> None:
        self._gate = gate
        self._max_waiting = max_waiting
        self._running: dict[str, Place] = {}
        self._at_work: dict[str, str] = {}
        """Session → the run it is at work on, also while that run waits for a decision."""
        self._held: dict[str, str] = {}
        """The same the other way round."""
        self._waiting: OrderedDict[str, Ticket] = OrderedDict()

    def refuse_when_full(self) -> None:
        """Raises `RateLimited` when so many wait that one more would not be served in time."""
        if len(self._waiting) >= self._max_waiting:
            raise RateLimited(
                f"{self._max_waiting} runs are waiting already (the operator's setting is "
                "runs.max_queued); try again later.",
                code="queue_full",
                headers={"Retry-After": "10"},
            )

    def hold(self, session_id: str, run_id: str) -> None:
        """A session is at work on a run that does not run now: it waits for a decision."""
        self._at_work[session_id] = run_id
        self._held[run_id] = session_id

    def must_wait(self, ticket: Ticket) -> bool:
        """Whether a run could not begin at once."""
        if not self._gate.has_room_for(ticket.owner):
            return True
        session_id = ticket.session_id
        if session_id is None or self._goes_on(ticket):
            return False
        return session_id in self._at_work or any(
            other.session_id == session_id for other in self._waiting.values()
        )

    async def enter(self, ticket: Ticket, *, at_front: bool = False) -> None:
        """Wait until the run may begin. Whoever is cancelled gives its place up."""
        self._waiting[ticket.run_id] = ticket
        if at_front:
            self._waiting.move_to_end(ticket.run_id, last=False)
        self.admit()
        try:
            await ticket.turn
        except asyncio.CancelledError:
            self.leave(ticket.run_id)
            raise

    def pause(self, run_id: str) -> None:
        """The run stops for a decision: others may run meanwhile, but not in its session."""
        self._give_back(run_id)
        self.admit()

    def leave(self, run_id: str) -> None:
        """The run is over, or gives up."""
        self._waiting.pop(run_id, None)
        self._give_back(run_id)
        session_id = self._held.pop(run_id, None)
        if session_id is not None and self._at_work.get(session_id) == run_id:
            del self._at_work[session_id]
        self.admit()

    def place(self, run_id: str) -> int | None:
        """How many runs come before a waiting one; None when it does not wait."""
        ticket = self._waiting.get(run_id)
        return None if ticket is None else ticket.place

    def _give_back(self, run_id: str) -> None:
        place = self._running.pop(run_id, None)
        if place is not None:
            place.leave()

    def admit(self) -> None:
        """Let in whoever may begin, and tell the others where they stand."""
        if not self._waiting:
            return  # as nearly always: every turn of the gateway that ends comes by here
        passed_over: dict[str, int] = {}
        """How many earlier runs of a session still wait."""
        ahead = 0
        for ticket in list(self._waiting.values()):
            before = self._before_in_session(ticket, passed_over)
            if before == 0 and self._gate.has_room_for(ticket.owner):
                self._begin(ticket)
                continue
            ahead += 1
            if ticket.session_id is not None and not self._goes_on(ticket):
                passed_over[ticket.session_id] = passed_over.get(ticket.session_id, 0) + 1
            _tell(ticket, before or ahead)

    def _before_in_session(self, ticket: Ticket, passed_over: dict[str, int]) -> int:
        if ticket.session_id is None or self._goes_on(ticket):
            return 0
        return passed_over.get(ticket.session_id, 0) + (ticket.session_id in self._at_work)

    def _goes_on(self, ticket: Ticket) -> bool:
        """Whether its session is at work on it already: the others wait for it, not it for them."""
        return ticket.run_id in self._held

    def _begin(self, ticket: Ticket) -> None:
        del self._waiting[ticket.run_id]
        self._running[ticket.run_id] = self._gate.taken(ticket.owner)
        if ticket.session_id is not None:
            self.hold(ticket.session_id, ticket.run_id)
        if not ticket.turn.done():
            ticket.turn.set_result(None)


def _tell(ticket: Ticket, place: int) -> None:
    if ticket.place != place:
        ticket.place = place
        ticket.on_place(place)
