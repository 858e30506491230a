"""How many turns may run at once."""

from __future__ import annotations

import asyncio

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hermes.core.errors import RateLimited
from hermes.runs.limits import Gate, Place


def test_one_turn_too_many_is_refused_with_the_setting_that_says_so() -> None:
    gate = Gate(2, lambda _owner: 0)
    with gate.entered("a"), gate.entered("b"):
        with pytest.raises(RateLimited) as caught:
            gate.entered("c")
        assert (caught.value.status, caught.value.code) == (429, "too_many_runs")
        assert int(caught.value.headers["Retry-After"]) > 0
        assert "`runs.max_concurrent`" in caught.value.message
    with gate.entered("c"):
        assert len(gate) == 1


def test_a_key_at_its_limit_leaves_room_for_the_others() -> None:
    gate = Gate(10, lambda owner: {"small": 1}.get(owner, 0))
    with gate.entered("small"), gate.entered("large"), gate.entered("large"):
        with pytest.raises(RateLimited, match=r"Your key has 1 turns at work.*runs.max_per_key"):
            gate.entered("small")
        assert len(gate) == 3


def test_a_limit_that_was_lowered_holds_for_the_next_turn() -> None:
    limits = {"a": 2}
    gate = Gate(10, lambda owner: limits[owner])
    with gate.entered("a"):
        limits["a"] = 1
        with pytest.raises(RateLimited):
            gate.entered("a")


def test_a_place_that_is_given_back_twice_is_given_back_once() -> None:
    gate = Gate(3, lambda _owner: 0)
    with gate.entered("a"):
        place = gate.entered("a")
        place.leave()
        place.leave()
        assert len(gate) == 1


async def test_cancelled_turns_give_their_places_back() -> None:
    gate = Gate(100, lambda _owner: 0)

    async def turn(owner: str) -> None:
        with gate.entered(owner):
            await asyncio.Event().wait()

    turns = [asyncio.create_task(turn(f"owner-{number % 3}")) for number in range(50)]
    await asyncio.sleep(0)
    assert len(gate) == 50
    for task in turns:
        task.cancel()
    await asyncio.gather(*turns, return_exceptions=True)
    assert len(gate) == 0


@given(st.lists(st.one_of(st.sampled_from("abc"), st.integers(0, 30)), max_size=60))
def test_the_gate_counts_exactly_whoever_comes_and_goes(moves: list[str | int]) -> None:
    limits = {"a": 1, "b": 3, "c": 0}
    gate = Gate(4, lambda owner: limits[owner])
    inside: list[tuple[str, Place]] = []
    for move in moves:
        if isinstance(move, int):
            if inside:
                inside.pop(move % len(inside))[1].leave()
        else:
            theirs = sum(owner == move for owner, _ in inside)
            has_room = len(inside) < 4 and not 0 < limits[move] <= theirs
            if has_room:
                inside.append((move, gate.entered(move)))
            else:
                with pytest.raises(RateLimited):
                    gate.entered(move)
        assert len(gate) == len(inside)
