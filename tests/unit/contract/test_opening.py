"""A store is opened once, by whoever needs it first, and done without when it cannot be."""

from __future__ import annotations

import logging
import threading
from typing import Any

import pytest

from hermes.contract.opening import Opener, close_all

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


def test_whoever_comes_while_the_store_is_being_opened_waits_for_it() -> None:
    shelf, opener = Shelf(), Opener()
    opening, opening_again, go = threading.Event(), threading.Event(), threading.Event()
    seen: list[Any] = []

    def open_slowly() -> Any:
        (opening_again if opening.is_set() else opening).set()
        assert go.wait(WAIT)
        return shelf.open_new()

    def need() -> None:
        seen.append(opener.opened(lambda: shelf.store, open_slowly))

    threads = [threading.Thread(target=need) for _ in range(2)]
    threads[0].start()
    assert opening.wait(WAIT)
    threads[1].start()
    assert not opening_again.wait(0.05)
    go.set()
    for thread in threads:
        thread.join(WAIT)
    assert shelf.opened == 1
    assert seen == [shelf.store] * 2


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
    close_all(None, store, None)
    assert store.closed == 1
