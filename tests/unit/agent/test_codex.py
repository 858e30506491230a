"""The detour of the Responses dialect reads raw events up to the one that carries the response."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

from hermes.agent.codex import create_stream, failed_response
from hermes.core.errors import ProviderError
from hermes.providers.base import dialect_for
from hermes.providers.reply import ReplyBuilder
from hermes.providers.streams import CancelScope
from tests.unit.agent.calls import response, text_event


def created(events: list[Any]) -> tuple[Any, list[Any], dict[str, Any]]:
    """The final object, the events seen and the request made."""
    requests: list[dict[str, Any]] = []
    seen: list[Any] = []

    def create(**api_kwargs: Any) -> Any:
        requests.append(api_kwargs)
        return iter(events)

    client = SimpleNamespace(responses=SimpleNamespace(create=create))
    final = create_stream(client, {"model": "m"}, seen.append, scope=CancelScope())
    return final, seen, requests[0]


@pytest.mark.parametrize("kind", ["completed", "incomplete", "failed"])
def test_the_response_of_the_terminal_event_is_returned(kind: str) -> None:
    final = response("Hello.")
    events = [text_event("Hello."), {"type": f"response.{kind}", "response": final}]
    assert created(events) == (final, events, {"model": "m", "stream": True})


def test_events_may_be_objects() -> None:
    final = object()
    event = SimpleNamespace(type="response.completed", response=final)
    assert created([event])[0] is final


def test_the_response_of_an_opening_event_is_not_the_final_one() -> None:
    events = [{"type": "response.created", "response": response()}, text_event("Hel")]
    assert created(events)[0] is None


def test_a_failed_response_is_read_as_its_text_and_its_reason() -> None:
    shown: list[str] = []
    builder = ReplyBuilder(on_text=shown.append, on_reasoning=shown.append)
    with pytest.raises(ProviderError, match="The line is dead"):
        dialect_for("codex_responses").finish(failed_response("Half", "The line is dead."), builder)
    assert builder.text == "Half"
