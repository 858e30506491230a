"""Events on their way into the logs: numbered, coalesced, committed, and only then shown.

There is at most one batch under way. What happens meanwhile waits for the next one, so an idle
writer commits an event at once and a busy one commits many together; pieces of text that wait
together become one. Nothing here touches a disk: batches are handed to the store's own thread.
"""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable, Sequence
from concurrent.futures import Future
from dataclasses import dataclass, field

from hermes.core.errors import Fenced, Interrupted
from hermes.core.events import Event, ReasoningDelta, TextDelta
from hermes.core.run_ports import NewEvent

logger = logging.getLogger(__name__)

RETRY_SECONDS = 0.5
GIVE_UP_SECONDS = 30.0

Append = Callable[[Sequence[NewEvent]], "Future[None]"]


@dataclass(slots=True, eq=False)
class OpenLog:
    """The end of one log, for as long as this process writes it."""

    run_id: str
    next_seq: int
    on_failure: Callable[[BaseException], None]
    """Called once, from any thread, when nothing more can be written."""
    failure: BaseException | None = None


@dataclass(slots=True)
class _Entry:
    """An event that waits, with the pieces of text that continued it meanwhile."""

    log: OpenLog
    at: float
    event: Event
    more: list[str] = field(default_factory=list)

    def absorbs(self, event: Event) -> bool:
        """Take in a piece of text that continues this one."""
        if event.__class__ is self.event.__class__ and isinstance(
            event, TextDelta | ReasoningDelta
        ):
            self.more.append(event.text)
            return True
        return False

    def numbered(self) -> NewEvent:
        event = self.event
        if self.more and isinstance(event, TextDelta | ReasoningDelta):
            event = event.__class__(event.text + "".join(self.more))
        return _numbered(self.log, self.at, event)


@dataclass(frozen=True, slots=True)
class _Batch:
    logs: tuple[OpenLog, ...]
    events: tuple[NewEvent, ...]
    entries: int
    deadline: float


class LogWriter:
    """The one way into the logs of this process's runs. Any thread may call."""

    def __init__(
        self,
        append: Append,
        deliver: Callable[[Sequence[NewEvent]], None],
        *,
        clock: Callable[[], float] = time.time,
        give_up_seconds: float = GIVE_UP_SECONDS,
    ) -> None:
        """`deliver` is called with committed events, in order, from the store's thread."""
        self._append = append
        self._deliver = deliver
        self._clock = clock
        self._give_up_seconds = give_up_seconds
        self._lock = threading.Lock()
        self._waiting: list[_Entry] = []
        self._newest: dict[OpenLog, _Entry] = {}
        """The newest waiting entry of each log: the one that text may be added to."""
        self._is_flushing = False
        self._taken = 0
        self._settled = 0
        self._barriers: list[tuple[int, OpenLog, Future[None]]] = []

    def put(self, log: OpenLog, event: Event) -> None:
        """Add an event to the end of a log. Never blocks; a log that failed takes nothing."""
        with self._lock:
            if log.failure is not None:
                return
            newest = self._newest.get(log)
            if newest is None or not newest.absorbs(event):
                entry = _Entry(log, self._clock(), event)
                self._waiting.append(entry)
                self._newest[log] = entry
            if self._is_flushing:
                return
            self._is_flushing = True
        self._flush()

    def flushed(self, log: OpenLog) -> Future[None]:
        """Done when everything that was put so far is committed.

        Fails with `Interrupted` when it will not be.
        """
        future: Future[None] = Future()
        with self._lock:
            wanted = self._taken + len(self._waiting)
            if log.failure is None and self._settled < wanted:
                self._barriers.append((wanted, log, future))
                return future
        _answer(future, log)
        return future

    def last(self, log: OpenLog, event: Event, at: float) -> NewEvent:
        """The event that ends a log or pauses it, numbered; whoever asks writes it."""
        return _numbered(log, at, event)

    def _flush(self) -> None:
        with self._lock:
            entries, self._waiting = self._waiting, []
            self._newest.clear()
            self._taken += len(entries)
            batch = _Batch(
                logs=tuple({id(entry.log): entry.log for entry in entries}.values()),
                events=tuple(entry.numbered() for entry in entries),
                entries=len(entries),
                deadline=self._clock() + self._give_up_seconds,
            )
        self._write(batch)

    def _write(self, batch: _Batch) -> None:
        try:
            written = self._append(batch.events)
        except Exception as error:  # noqa: BLE001  a store that is closed; told like any failure
            self._settle(batch, error)
            return
        written.add_done_callback(lambda done: self._settle(batch, done.exception()))

    def _settle(self, batch: _Batch, error: BaseException | None) -> None:
        if error is None:
            self._deliver(batch.events)
        elif isinstance(error, Fenced) or self._clock() >= batch.deadline:
            self._fail(batch.logs, error)
        else:
            # A full disk may get room again. What is there already is not written twice.
            logger.warning("run events not stored, trying again: %s", error)
            again = threading.Timer(RETRY_SECONDS, self._write, (batch,))
            again.daemon = True
            again.start()
            return
        with self._lock:
            self._settled += batch.entries
            passed = [each for each in self._barriers if self._is_past(each)]
            self._barriers = [each for each in self._barriers if each not in passed]
            self._is_flushing = bool(self._waiting)
            goes_on = self._is_flushing
        for _, log, future in passed:
            _answer(future, log)
        if goes_on:
            self._flush()

    def _is_past(self, barrier: tuple[int, OpenLog, Future[None]]) -> bool:
        wanted, log, _ = barrier
        return self._settled >= wanted or log.failure is not None

    def _fail(self, logs: Sequence[OpenLog], error: BaseException) -> None:
        with self._lock:
            fresh = [log for log in logs if log.failure is None]
            for log in fresh:
                log.failure = error
        for log in fresh:
            log.on_failure(error)


def _numbered(log: OpenLog, at: float, event: Event) -> NewEvent:
    seq, log.next_seq = log.next_seq, log.next_seq + 1
    return NewEvent(log.run_id, seq, at, event)


def _answer(future: Future[None], log: OpenLog) -> None:
    if log.failure is None:
        future.set_result(None)
    else:
        cut = Interrupted("What happens in this run cannot be stored.")
        cut.__cause__ = log.failure
        future.set_exception(cut)
