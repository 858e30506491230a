"""A store is opened once, by whoever needs it first, and done without when it cannot be."""

from __future__ import annotations

import logging
import threading
from typing import Any

import pytest

from hermes.contract.opening import Opener, close_stores

WAIT = 5.0


class Shelf:
    """Where the opened thing is kept between calls."""

    def __init__(self) -> None:
        self.store: Any = None
        self.opened = 0

    def open_new(self) -> Any:
        self.opened += 1
        self.store = object()
        return self.store


class FakeStore:
    def __init__(self) -> None:
        self.closed = 0

    def close(self) -> None:
        self.closed += 1


def test_what_is_there_already_is_used() -> None:
    shelf = Shelf()
    shelf.store = "kept"
    assert Opener().opened(lambda: shelf.store, shelf.open_new) == "kept"
    assert shelf.opened == 0


def test_many_threads_open_one_store() -> None:
    shelf, opener = Shelf(), Opener()
    together = threading.Barrier(8)
    seen: list[Any] = []

    def need() -> None:
        together.wait(WAIT)
        seen.append(opener.opened(lambda: shelf.store, shelf.open_new))

    threads = [threading.Thread(target=need) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(WAIT)
    assert shelf.opened == 1
    assert seen == [shelf.store] * 8


def test_a_failure_is_logged_done_without_and_tried_again(
    caplog: pytest.LogCaptureFixture,
) -> None:
    shelf, opener = Shelf(), Opener()

    def broken() -> Any:
        raise OSError("disk is full")

    with caplog.at_level(logging.ERROR):
        assert opener.opened(lambda: shelf.store, broken) is None
    [record] = caplog.records
    assert record.exc_info is not None
    assert opener.opened(lambda: shelf.store, shelf.open_new) is shelf.store


def test_closing_skips_what_was_never_opened() -> None:
    store = FakeStore()
    close_stores(None, store, None)
    assert store.closed == 1
