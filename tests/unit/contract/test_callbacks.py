"""Every event has its callback and every callback its event: both ways mean the same."""

from __future__ import annotations

from typing import Any, get_args

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hermes.contract.callbacks import (
    NO_CALLBACKS,
    Callbacks,
    callbacks_for,
    fire,
    item_to_event,
)
from hermes.core.events import (
    ApprovalDecided,
    ApprovalRequested,
    CommandRan,
    Delegated,
    Event,
    FilesChanged,
    Idle,
    MessageKept,
    Notice,
    ReasoningDelta,
    RunQueued,
    RunStarted,
    SegmentEnd,
    SteerAccepted,
    Steered,
    TextDelta,
    ToolFinished,
    ToolProgress,
    ToolStarted,
    TurnEnded,
    TurnPaused,
)
from hermes.core.turn import TurnResult

texts = st.text(max_size=5)
arguments = st.dictionaries(texts, st.integers() | texts, max_size=2)
events_with_callback = st.one_of(
    st.builds(TextDelta, texts),
    st.builds(ReasoningDelta, texts),
    st.just(SegmentEnd()),
    st.builds(ToolStarted, texts, texts, arguments),
    st.builds(ToolProgress, texts, st.none() | texts, st.none() | texts),
    st.builds(ToolFinished, texts, texts, arguments, texts),
    st.builds(Notice, texts, texts),
)


@given(events_with_callback)
def test_an_event_comes_back_from_its_callback_unchanged(event: Event) -> None:
    emitted: list[Event] = []
    fire(event, callbacks_for(emitted.append))
    assert emitted == [event]


@given(st.lists(events_with_callback))
def test_a_whole_log_comes_back_in_order(log: list[Event]) -> None:
    emitted: list[Event] = []
    callbacks = callbacks_for(emitted.append)
    for event in log:
        fire(event, callbacks)
    assert emitted == log


@pytest.mark.parametrize("event", [Idle(), TurnEnded(TurnResult())])
def test_what_belongs_to_a_viewer_or_to_the_result_has_no_callback(event: Event) -> None:
    emitted: list[Event] = []
    fire(event, callbacks_for(emitted.append))
    assert emitted == []


@given(events_with_callback)
def test_a_missing_callback_is_simply_not_called(event: Event) -> None:
    fire(event, Callbacks())


def test_the_calls_have_exactly_the_contracts_shape() -> None:
    calls: list[tuple[str, tuple[Any, ...], dict[str, Any]]] = []

    def note(name: str) -> Any:
        return lambda *args, **kwargs: calls.append((name, args, kwargs))

    callbacks = Callbacks(**{name: note(name) for name in NO_CALLBACKS})
    for event in (
        TextDelta("hi"),
        SegmentEnd(),
        ReasoningDelta("hm"),
        ToolStarted("c1", "ls", {"path": "."}),
        ToolProgress("tool.output", "ls", "a line"),
        ToolFinished("c1", "ls", {"path": "."}, "a.txt"),
        Notice("provider_retry", "Again."),
    ):
        fire(event, callbacks)
    assert calls == [
        ("stream_delta_callback", ("hi",), {}),
        ("stream_delta_callback", (None,), {}),
        ("reasoning_callback", ("hm",), {}),
        ("tool_start_callback", ("c1", "ls", {"path": "."}), {}),
        ("tool_progress_callback", ("tool.output",), {"tool_name": "ls", "preview": "a line"}),
        ("tool_complete_callback", ("c1", "ls", {"path": "."}, "a.txt"), {}),
        ("notice_callback", ("provider_retry", "Again."), {}),
    ]


def test_an_agent_may_say_more_about_progress_than_we_understand() -> None:
    emitted: list[Event] = []
    on_progress = callbacks_for(emitted.append).tool_progress_callback
    assert on_progress is not None
    on_progress("tool.started", "ls", ".", {"path": "."}, duration=3)
    assert emitted == [ToolProgress("tool.started", "ls", ".")]


@given(events_with_callback)
def test_an_event_in_a_queue_is_itself(event: Event) -> None:
    assert item_to_event(event) is event


def test_a_text_in_a_queue_is_a_piece_of_the_answer() -> None:
    assert item_to_event("hi") == TextDelta("hi")


@pytest.mark.parametrize("item", [("__tool__", "ls"), 7, object(), b"bytes"])
def test_a_strange_item_in_a_queue_becomes_a_notice_and_ends_nothing(item: object) -> None:
    event = item_to_event(item)
    assert isinstance(event, Notice)
    assert type(item).__name__ in event.message


def test_every_kind_of_event_is_either_called_back_or_known_not_to_be() -> None:
    """A new member of the union has to be given its place in the table."""
    table = {TextDelta, SegmentEnd, ReasoningDelta, ToolStarted, ToolProgress, ToolFinished, Notice}
    passed_on = {MessageKept, ApprovalRequested, ApprovalDecided, Steered}
    passed_on |= {FilesChanged, CommandRan, Delegated}
    silent = {Idle, RunQueued, RunStarted, SteerAccepted, TurnPaused, TurnEnded}
    assert table | passed_on | silent == set(get_args(Event))
