"""Every event goes into a log and comes out of it as the same value."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any, get_args

import pytest
from hypothesis import given

from hermes.core import event_json
from hermes.core.event_json import PASSING, event_from_json, event_to_json
from hermes.core.events import (
    ApprovalDecided,
    Event,
    Idle,
    Notice,
    ReasoningDelta,
    TextDelta,
    ToolProgress,
    TurnEnded,
    TurnPaused,
)
from hermes.core.turn import TurnResult
from tests.unit.core import values


def written_and_read(data: dict[str, Any]) -> dict[str, Any]:
    # Not escaped, as the stores do it: two lone surrogates in a row would become one character.
    read: dict[str, Any] = json.loads(json.dumps(data, ensure_ascii=False))
    return read


def without_messages(event: Event) -> Event:
    if isinstance(event, (TurnEnded, TurnPaused)):
        return replace(event, result=replace(event.result, messages=()))
    return event


@given(values.events)
def test_an_event_comes_back_as_it_was_but_for_the_messages_of_its_result(event: Event) -> None:
    kind, data = event_to_json(event)
    assert event_from_json(kind, written_and_read(data)) == without_messages(event)


@given(values.ends)
def test_the_messages_of_an_end_are_not_written_twice(event: TurnEnded) -> None:
    assert "messages" not in event_to_json(event)[1]["result"]


def test_whatever_can_happen_has_a_type_but_idle() -> None:
    assert set(event_json._KINDS) == set(get_args(Event)) - {Idle}
    with pytest.raises(ValueError, match="not kept"):
        event_to_json(Idle())


@pytest.mark.parametrize(
    ("event", "kind"),
    [
        (TextDelta("a"), "text.delta"),
        (ReasoningDelta("a"), "reasoning.delta"),
        (ToolProgress("tool.output"), "tool.progress"),
    ],
)
def test_what_only_matters_while_a_turn_is_watched_is_marked(event: Event, kind: str) -> None:
    assert event_to_json(event)[0] == kind
    assert kind in PASSING


def test_what_a_newer_version_added_is_ignored_and_what_an_older_one_lacks_has_its_default() -> (
    None
):
    assert event_from_json("notice", {"code": "a", "message": "b", "colour": "red"}) == Notice(
        "a", "b"
    )
    assert event_from_json("tool.progress", {"kind": "k"}) == ToolProgress("k")
    ended = event_from_json("run.ended", {"result": {"text": "done", "mood": "good"}})
    assert ended == TurnEnded(TurnResult(text="done"))


def test_a_type_of_a_newer_version_is_not_taken_for_something_else() -> None:
    with pytest.raises(KeyError):
        event_from_json("weather.changed", {})


def test_a_decision_is_written_as_its_word() -> None:
    data = {"approval_id": "a", "call_id": "c", "decision": "deny", "by": "timeout"}
    event = event_from_json("approval.decided", data)
    assert isinstance(event, ApprovalDecided)
    assert event_to_json(event) == ("approval.decided", data)
