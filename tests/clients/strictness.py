"""Holds what the OpenAI SDK received against the SDK's own types, strictly.

The SDK itself builds its objects without looking; a client in another language may look.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, TypeVar

from openai import BaseModel
from openai.types.responses import Response, ResponseStreamEvent
from pydantic import TypeAdapter

Checked = TypeVar("Checked", bound=BaseModel)

_EVENT: TypeAdapter[Any] = TypeAdapter(ResponseStreamEvent)

_CLOSES = {
    "response.output_text.delta": "response.output_text.done",
    "response.content_part.added": "response.content_part.done",
    "response.output_item.added": "response.output_item.done",
}
_LAST = {"response.completed", "response.incomplete", "response.failed"}


def strict(value: Checked) -> Checked:
    """`value` again, if every field has the type the SDK promises."""
    type(value).model_validate_json(_as_sent(value), strict=True)
    return value


def strict_events(events: Iterable[Any]) -> list[Any]:
    """A whole Responses stream, if each event is right and all of them are in order."""
    seen = list(events)
    for event in seen:
        _EVENT.validate_json(_as_sent(event), strict=True)
    kinds = [event.type for event in seen]
    assert [event.sequence_number for event in seen] == list(range(len(seen)))
    assert kinds[:2] == ["response.created", "response.in_progress"]
    assert kinds[-1] in _LAST
    _each_opened_once_and_closed(seen)
    _ends_with_what_was_streamed(seen)
    return seen


def _each_opened_once_and_closed(events: list[Any]) -> None:
    added = [event.item.id for event in events if event.type == "response.output_item.added"]
    done = [event.item.id for event in events if event.type == "response.output_item.done"]
    assert added == done
    assert len(set(added)) == len(added)
    kinds = [event.type for event in events]
    for opening, closing in _CLOSES.items():
        if opening in kinds:
            assert kinds.index(opening) < kinds.index(closing)


def _ends_with_what_was_streamed(events: list[Any]) -> None:
    final: Response = events[-1].response
    done = [event.item for event in events if event.type == "response.output_item.done"]
    assert [item.to_dict() for item in final.output] == [item.to_dict() for item in done]
    assert {event.response.id for event in (events[0], events[1], events[-1])} == {final.id}


def _as_sent(value: BaseModel) -> str:
    return value.to_json(exclude_unset=True, warnings=False)
