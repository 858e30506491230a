"""The laws of a log: whatever producers wish for, only lawful logs come out."""

from __future__ import annotations

from typing import Any, get_args

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hermes.core.events import (
    Event,
    Idle,
    Laws,
    Notice,
    ReasoningDelta,
    SegmentEnd,
    TextDelta,
    ToolFinished,
    ToolProgress,
    ToolStarted,
    TurnEnded,
    is_internal,
)
from hermes.core.turn import Outcome, TurnResult

call_ids = st.sampled_from(["a", "b", "c"])
wishes = st.lists(
    st.one_of(
        st.builds(TextDelta, st.sampled_from(["", "x", "yz"])),
        st.builds(ReasoningDelta, st.sampled_from(["", "hm"])),
        st.just(SegmentEnd()),
        st.builds(ToolStarted, call_ids, st.just("ls"), st.just({})),
        st.just(ToolProgress("tool.output")),
        st.builds(ToolFinished, call_ids, st.just("ls"), st.just({}), st.just("ok")),
        st.just(Notice("provider_retry", "Again.")),
        st.just(Idle()),
        st.builds(TurnEnded, st.builds(TurnResult, outcome=st.sampled_from(Outcome))),
    ),
    max_size=40,
)


def admitted(events: list[Event]) -> list[Event]:
    laws = Laws()
    return [event for event in events if laws.admits(event)]


@given(wishes)
def test_nothing_follows_the_end_of_a_turn_and_it_comes_once(events: list[Event]) -> None:
    log = admitted(events)
    ends = [index for index, event in enumerate(log) if isinstance(event, TurnEnded)]
    was_wished_for = any(isinstance(event, TurnEnded) for event in events)
    assert ends == ([len(log) - 1] if was_wished_for else [])


@given(wishes)
def test_every_tool_that_finished_had_started_and_finished_once(events: list[Event]) -> None:
    running: set[str] = set()
    for event in admitted(events):
        if isinstance(event, ToolStarted):
            assert event.call_id not in running
            running.add(event.call_id)
        elif isinstance(event, ToolFinished):
            assert event.call_id in running
            running.remove(event.call_id)


@given(wishes)
def test_no_empty_piece_of_text_enters_a_log(events: list[Event]) -> None:
    assert TextDelta("") not in admitted(events)


@given(wishes)
def test_what_was_admitted_once_is_lawful_and_admitted_again(events: list[Event]) -> None:
    log = admitted(events)
    assert admitted(log) == log


@given(wishes)
def test_the_laws_only_ever_drop_text_tools_and_what_comes_too_late(events: list[Event]) -> None:
    """Everything else that happens before the end stays, in its order."""
    end = next((i for i, event in enumerate(events) if isinstance(event, TurnEnded)), len(events))
    judged = (TextDelta, ToolStarted, ToolFinished)
    harmless = [event for event in events[: end + 1] if not isinstance(event, judged)]
    assert [event for event in admitted(events) if not isinstance(event, judged)] == harmless


def test_a_call_id_may_be_used_again_once_its_tool_is_done() -> None:
    started, finished = ToolStarted("a", "ls", {}), ToolFinished("a", "ls", {}, "ok")
    assert admitted([started, finished, started, finished]) == [started, finished] * 2


def test_a_second_start_under_an_open_call_id_is_dropped() -> None:
    started = ToolStarted("a", "ls", {})
    assert admitted([started, started]) == [started]


def test_two_logs_do_not_share_their_laws() -> None:
    ended = TurnEnded(TurnResult())
    assert admitted([ended]) == [ended]
    assert admitted([ended]) == [ended]


@pytest.mark.parametrize("kind", get_args(Event))
def test_an_event_cannot_be_changed(kind: Any) -> None:
    assert kind.__dataclass_params__.frozen
    assert not hasattr(object.__new__(kind), "__dict__")


@pytest.mark.parametrize(
    ("name", "hidden"), [("_thinking", True), ("terminal", False), ("a_b", False)]
)
def test_a_leading_underscore_makes_a_tool_internal(name: str, hidden: bool) -> None:
    assert is_internal(name) is hidden
