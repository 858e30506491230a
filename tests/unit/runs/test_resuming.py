"""What a log says about a turn that was begun before."""

from __future__ import annotations

import pytest

from hermes.core.approvals import Decision
from hermes.core.events import (
    ApprovalDecided,
    Delegated,
    Event,
    MessageKept,
    Notice,
    RunStarted,
    SegmentEnd,
    SteerAccepted,
    Steered,
    TextDelta,
    ToolStarted,
    TurnPaused,
)
from hermes.core.run_link import Steer
from hermes.core.runs import LoggedEvent
from hermes.core.turn import Outcome, TurnResult, Usage
from hermes.runs.resuming import restart_of, resumption_of, unheard_in

USER = MessageKept({"role": "user", "content": "Hi"})
SAID = MessageKept({"role": "assistant", "content": "One two"})


def log(*events: Event) -> list[LoggedEvent]:
    return [LoggedEvent(seq, 1.0, event) for seq, event in enumerate(events, 1)]


@pytest.mark.parametrize(
    "events",
    [
        [],
        [RunStarted(1), USER],
        [USER, TextDelta("One two"), SAID],
        [USER, TextDelta("I look."), SegmentEnd(), ToolStarted("c1", "terminal", {})],
    ],
)
def test_what_was_said_to_its_end_is_not_told_to_begin_again(events: list[Event]) -> None:
    assert restart_of(log(*events)) == []


def test_a_step_that_was_cut_off_in_its_words_is_told_to_begin_again() -> None:
    told = restart_of(log(RunStarted(1), USER, TextDelta("One "), TextDelta("tw")))

    assert told[0] == SegmentEnd()
    assert isinstance(told[1], Notice)
    assert told[1].code == "step_restarted"


def test_it_is_told_once_per_cut() -> None:
    cut = log(USER, TextDelta("One "))
    again = [*(each.event for each in cut), *restart_of(cut), RunStarted(2)]

    assert restart_of(log(*again)) == []
    assert len(restart_of(log(*again, TextDelta("One ")))) == 2


def test_a_turn_of_which_nothing_was_kept_begins_as_if_for_the_first_time() -> None:
    assert resumption_of(log(RunStarted(1)), ()) is None


def test_begun_tools_and_messages_are_known_to_whoever_goes_on() -> None:
    found = resumption_of(log(USER, SAID, ToolStarted("c1", "terminal", {})), ())

    assert found is not None
    assert (found.steps, found.started) == (2, frozenset({"c1"}))


def test_only_what_the_agent_was_not_told_is_said_to_it_again() -> None:
    accepted = [SteerAccepted("s1", "Left"), SteerAccepted("s2", "Right")]

    assert unheard_in(log(*accepted, Steered("s1", "Left"))) == [Steer("s2", "Right")]


def test_what_was_used_before_is_what_the_log_told_last() -> None:
    first, second = Usage(total_tokens=5), Usage(total_tokens=9)
    before = log(RunStarted(1), USER, MessageKept(SAID.message, first))
    resumed = resumption_of(before, ())
    assert resumed is not None
    assert (resumed.usage, resumed.calls) == (first, 1)

    paused = TurnPaused(TurnResult(outcome=Outcome.ASKING, usage=second))
    nested = Delegated("c1", MessageKept(SAID.message))
    resumed = resumption_of([*before, *log(nested, paused)], ())
    assert resumed is not None
    assert (resumed.usage, resumed.calls) == (second, 2)


def test_the_time_between_two_legs_is_not_time_at_work() -> None:
    paused = TurnPaused(TurnResult(outcome=Outcome.ASKING))
    told: list[tuple[float, Event]] = [
        (10.0, RunStarted(1)),
        (11.0, USER),
        (13.0, paused),
        (90.0, ApprovalDecided("a1", "c1", Decision.ONCE, "client")),
        (91.0, RunStarted(2)),
        (93.5, SAID),
    ]
    resumed = resumption_of(
        [LoggedEvent(seq, at, event) for seq, (at, event) in enumerate(told)], ()
    )
    assert resumed is not None
    assert resumed.seconds == 3.0 + 2.5
