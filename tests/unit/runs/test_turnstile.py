"""Who may begin: one run per session, in order, never too many, and nobody waits for ever."""

from __future__ import annotations

import asyncio

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule

from hermes.core.errors import RateLimited
from hermes.runs.limits import Gate, Place
from hermes.runs.turnstile import Ticket, Turnstile

WAIT = 5.0
SESSIONS = st.sampled_from([None, "s", "t", "u"])


def open_to(count: int, *, max_waiting: int = 100) -> tuple[Turnstile, Gate]:
    gate = Gate(count, lambda _owner: 0)
    turnstile = Turnstile(gate, max_waiting=max_waiting)
    gate.on_room = turnstile.admit
    return turnstile, gate


def ticket(run_id: str, session_id: str | None = None, places: list[int] | None = None) -> Ticket:
    told: list[int] = [] if places is None else places
    return Ticket(run_id, "me", session_id, told.append)


async def entering(turnstile: Turnstile, wanted: Ticket, *, at_front: bool = False) -> bool:
    """Whether it may begin at once; otherwise it goes on waiting beside the test."""
    await asyncio.wait(
        [asyncio.ensure_future(turnstile.enter(wanted, at_front=at_front))], timeout=0
    )
    return wanted.turn.done()


async def test_a_session_is_at_work_on_one_run_and_the_next_begins_when_it_leaves() -> None:
    turnstile, _ = open_to(10)
    first, second, other = ticket("1", "s"), ticket("2", "s"), ticket("3", "t")
    assert [await entering(turnstile, each) for each in (first, second, other)] == [
        True,
        False,
        True,
    ]
    assert turnstile.place("2") == 1
    turnstile.leave("1")
    assert second.turn.done()
    assert turnstile.place("2") is None


async def test_a_run_that_waits_for_a_decision_keeps_its_session_but_not_its_place() -> None:
    turnstile, gate = open_to(1)
    assert await entering(turnstile, ticket("1", "s"))
    same, other = ticket("2", "s"), ticket("3", "t")
    await entering(turnstile, same)
    await entering(turnstile, other)
    turnstile.pause("1")
    assert (same.turn.done(), other.turn.done(), len(gate)) == (False, True, 1)
    again = ticket("1", "s")
    assert not await entering(turnstile, again), "there is no place"
    turnstile.leave("3")
    assert again.turn.done()
    turnstile.leave("1")
    assert same.turn.done()


async def test_whoever_is_cancelled_gives_its_place_and_its_session_back() -> None:
    turnstile, gate = open_to(1)
    waiting = asyncio.ensure_future(turnstile.enter(ticket("1", "s")))
    await asyncio.sleep(0)
    assert waiting.done()
    blocked = asyncio.ensure_future(turnstile.enter(ticket("2", "s")))
    third = ticket("3", "s")
    await asyncio.sleep(0)
    await entering(turnstile, third)
    blocked.cancel()
    await asyncio.gather(blocked, return_exceptions=True)
    assert turnstile.place("3") == 1
    turnstile.leave("1")
    assert third.turn.done()
    turnstile.leave("3")
    assert len(gate) == 0


async def test_one_that_is_let_in_and_cancelled_in_the_same_moment_holds_nobody_up() -> None:
    turnstile, gate = open_to(1)
    await entering(turnstile, ticket("1", "s"))
    unlucky = asyncio.ensure_future(turnstile.enter(ticket("2", "s")))
    await asyncio.sleep(0)
    turnstile.leave("1")  # lets the other one in, which has not noticed yet
    unlucky.cancel()
    await asyncio.gather(unlucky, return_exceptions=True)
    assert len(gate) == 0
    assert await entering(turnstile, ticket("3", "s"))


async def test_an_urgent_run_comes_before_those_that_wait() -> None:
    turnstile, _ = open_to(1)
    await entering(turnstile, ticket("1", "s"))
    patient, urgent = ticket("2", "s"), ticket("3", "s")
    await entering(turnstile, patient)
    await entering(turnstile, urgent, at_front=True)
    assert (turnstile.place("3"), turnstile.place("2")) == (1, 2)
    turnstile.leave("1")
    assert (urgent.turn.done(), patient.turn.done()) == (True, False)


async def test_those_who_wait_are_told_whenever_their_place_changes() -> None:
    turnstile, _ = open_to(1)
    places: list[int] = []
    await entering(turnstile, ticket("1"))
    await entering(turnstile, ticket("2"))
    await entering(turnstile, ticket("3", None, places))
    turnstile.leave("1")
    assert places == [2, 1]


async def test_a_place_that_others_give_back_is_used_at_once() -> None:
    """Turns that run from memory share the gate and know nothing of those who wait."""
    turnstile, gate = open_to(1)
    place = gate.entered("somebody")
    waiting = ticket("1")
    assert not await entering(turnstile, waiting)
    place.leave()
    assert waiting.turn.done()


async def test_too_many_that_wait_are_refused_with_the_setting_that_says_so() -> None:
    turnstile, _ = open_to(1, max_waiting=1)
    turnstile.refuse_when_full()
    await entering(turnstile, ticket("1"))
    await entering(turnstile, ticket("2"))
    with pytest.raises(RateLimited, match=r"runs\.max_queued") as caught:
        turnstile.refuse_when_full()
    assert caught.value.code == "queue_full"


def test_leaving_twice_or_without_having_come_changes_nothing() -> None:
    turnstile, gate = open_to(1)
    turnstile.hold("s", "1")
    for run_id in ("1", "1", "nobody"):
        turnstile.leave(run_id)
    assert len(gate) == 0


class TurnstileMachine(RuleBasedStateMachine):
    """Random comings and goings against a list of who came when."""

    @initialize(room=st.integers(1, 3))
    def begin(self, room: int) -> None:
        self.loop = asyncio.new_event_loop()
        self.room = room
        self.turnstile, self.gate = open_to(room)
        self.count = 0
        self.sessions: dict[str, str | None] = {}
        self.tasks: dict[str, asyncio.Task[None]] = {}
        self.waiting: list[str] = []
        self.running: list[str] = []
        self.paused: list[str] = []
        self.resumed: set[str] = set()
        self.others: list[Place] = []
        self.told: dict[str, int] = {}

    def teardown(self) -> None:
        if not hasattr(self, "loop"):
            return
        for place in self.others:
            place.leave()
        for run_id in [*self.paused, *self.running]:
            self.turnstile.leave(run_id)
        while self.waiting:  # nobody starves
            self._settle()
            begun = [each for each in self.waiting if self.tasks[each].done()]
            assert begun, "nobody is at work, and somebody waits"
            for run_id in begun:
                self.waiting.remove(run_id)
                self.turnstile.leave(run_id)
        assert len(self.gate) == 0
        assert not self.turnstile._at_work
        assert not self.turnstile._held
        self.loop.close()

    def _settle(self) -> None:
        self.loop.run_until_complete(asyncio.sleep(0))

    def _come(self, run_id: str) -> None:
        async def enter() -> None:
            def tell(place: int) -> None:
                self.told[run_id] = place

            wanted = Ticket(run_id, "me", self.sessions[run_id], tell)
            await self.turnstile.enter(wanted)

        self.told.pop(run_id, None)
        self.tasks[run_id] = self.loop.create_task(enter())
        self.waiting.append(run_id)
        self._update()

    def _update(self) -> None:
        self._settle()
        self._settle()
        for run_id in list(self.waiting):
            if self.tasks[run_id].done():
                self.waiting.remove(run_id)
                self.resumed.discard(run_id)
                self.running.append(run_id)

    @rule(session=SESSIONS)
    def ask(self, session: str | None) -> None:
        self.count += 1
        run_id = f"run{self.count}"
        self.sessions[run_id] = session
        self._come(run_id)

    @precondition(lambda self: self.running)
    @rule(number=st.integers(0, 9))
    def end(self, number: int) -> None:
        run_id = self.running.pop(number % len(self.running))
        self.turnstile.leave(run_id)
        self._update()

    @precondition(lambda self: self.running)
    @rule(number=st.integers(0, 9))
    def pause(self, number: int) -> None:
        run_id = self.running.pop(number % len(self.running))
        self.turnstile.pause(run_id)
        self.paused.append(run_id)
        self._update()

    @precondition(lambda self: self.paused)
    @rule(number=st.integers(0, 9))
    def go_on(self, number: int) -> None:
        run_id = self.paused.pop(number % len(self.paused))
        self.resumed.add(run_id)
        self._come(run_id)

    @precondition(lambda self: self.waiting)
    @rule(number=st.integers(0, 9))
    def give_up(self, number: int) -> None:
        run_id = self.waiting.pop(number % len(self.waiting))
        self.tasks[run_id].cancel()
        self.resumed.discard(run_id)
        self._update()

    @precondition(lambda self: not self.gate.is_full)
    @rule()
    def run_from_memory(self) -> None:
        self.others.append(self.gate.entered("me"))

    @precondition(lambda self: self.others)
    @rule()
    def end_from_memory(self) -> None:
        self.others.pop().leave()
        self._update()

    @invariant()
    def never_too_many(self) -> None:
        if hasattr(self, "gate"):
            assert len(self.gate) == len(self.running) + len(self.others) <= self.room

    @invariant()
    def one_per_session(self) -> None:
        if hasattr(self, "gate"):
            held = [*self.running, *self.paused, *self.resumed]
            busy = [self.sessions[each] for each in held]
            named = [each for each in busy if each is not None]
            assert len(named) == len(set(named))

    @invariant()
    def whoever_could_begin_has_begun(self) -> None:
        """So order is kept: with room, only those wait whose session is at work."""
        if not hasattr(self, "gate") or self.gate.is_full:
            return
        busy = self._busy_sessions()
        assert all(self.sessions[each] in busy for each in self.waiting)
        assert not self.resumed, "what goes on waits for a place only"

    def _busy_sessions(self) -> set[str | None]:
        held = [*self.running, *self.paused, *self.resumed]
        return {self.sessions[each] for each in held} - {None}

    @invariant()
    def places_are_true(self) -> None:
        if not hasattr(self, "gate"):
            return
        before = dict.fromkeys(self._busy_sessions(), 1)
        for ahead, run_id in enumerate(self.waiting, start=1):
            session, mine = self.sessions[run_id], 0
            if session is not None and run_id not in self.resumed:
                mine = before.get(session, 0)
                before[session] = mine + 1
            assert self.turnstile.place(run_id) == (mine or ahead) == self.told[run_id]


TurnstileMachine.TestCase.settings = settings(max_examples=60, deadline=None)
TestTurnstile = TurnstileMachine.TestCase
