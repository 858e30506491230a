"""Streams of every making are read to their end, and can be stopped from outside."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from types import SimpleNamespace
from typing import Any, Self
from unittest.mock import MagicMock

import pytest

from hermes.core.errors import Interrupted
from hermes.providers.streams import CancelScope, consume


class ManagedStream:
    """A stream as the SDKs make them."""

    def __init__(self, events: list[Any], **finals: Any) -> None:
        self.events = events
        self.was_exited = False
        for name, value in finals.items():
            setattr(self, name, lambda value=value: value)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.was_exited = True

    def __iter__(self) -> Iterator[Any]:
        return iter(self.events)


def read(stream: Any, scope: CancelScope | None = None) -> tuple[list[Any], Any]:
    events: list[Any] = []
    final = consume(stream, events.append, cancel=scope or CancelScope())
    return events, final


def test_a_plain_iterator_has_events_and_no_final_object() -> None:
    assert read(iter([1, 2])) == ([1, 2], None)


def test_a_generator_is_read() -> None:
    assert read(number for number in range(3)) == ([0, 1, 2], None)


def test_a_managed_stream_is_exited_and_asked_for_its_final_message() -> None:
    stream = ManagedStream([{"type": "message_stop"}], get_final_message="final")
    assert read(stream) == ([{"type": "message_stop"}], "final")
    assert stream.was_exited


def test_a_stream_of_response_events_is_asked_for_its_final_response() -> None:
    event = SimpleNamespace(type="response.completed")
    stream = ManagedStream([event], get_final_message="wrong", get_final_response="final")
    assert read(stream) == ([event], "final")


def test_a_managed_stream_without_a_final_object_gives_none() -> None:
    assert read(ManagedStream([{"choices": []}])) == ([{"choices": []}], None)


def test_a_mock_with_every_attribute_is_read_as_the_context_manager_it_plays() -> None:
    stream = MagicMock()
    stream.__enter__.return_value = stream
    stream.__exit__.return_value = False
    stream.__iter__.return_value = iter([SimpleNamespace(type="content_block_stop")])
    stream.get_final_message.return_value = "final"
    assert read(stream)[1] == "final"


def test_an_error_of_the_stream_comes_through_unchanged() -> None:
    def breaking() -> Iterator[int]:
        yield 1
        raise RuntimeError("broke")

    with pytest.raises(RuntimeError, match=r"^broke$"):
        read(breaking())


def test_cancel_between_events_ends_the_reading() -> None:
    scope = CancelScope()

    def events() -> Iterator[int]:
        yield 1
        scope.cancel()
        yield 2

    seen: list[int] = []
    with pytest.raises(Interrupted):
        consume(events(), seen.append, cancel=scope)
    assert seen == [1]


def test_cancel_closes_a_foreign_stream_another_thread_waits_in() -> None:
    closed, waiting = threading.Event(), threading.Event()

    class Hanging:
        def __iter__(self) -> Iterator[int]:
            waiting.set()
            assert closed.wait(5)
            raise OSError("torn away")
            yield 1

        def close(self) -> None:
            closed.set()
            raise ValueError("closed from the wrong thread")

    scope = CancelScope()
    threading.Thread(target=lambda: waiting.wait(5) and scope.cancel()).start()
    with pytest.raises(Interrupted):
        read(Hanging(), scope)


def test_a_cancelled_scope_refuses_the_next_stream() -> None:
    scope = CancelScope()
    scope.cancel()
    with pytest.raises(Interrupted):
        read(iter([1]), scope)


def test_attaching_to_a_cancelled_scope_cancels_at_once() -> None:
    scope, calls = CancelScope(), list[str]()
    scope.cancel()
    with scope.attach(lambda: calls.append("cancel")):
        assert calls == ["cancel"]


def test_what_is_no_longer_attached_is_left_alone() -> None:
    scope, calls = CancelScope(), list[str]()
    with scope.attach(lambda: calls.append("first")):
        pass
    with scope.attach(lambda: calls.append("second")):
        scope.cancel()
    assert calls == ["second"]
    assert scope.is_cancelled
    with pytest.raises(Interrupted):
        scope.raise_if_cancelled()
