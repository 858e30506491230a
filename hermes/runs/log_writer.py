"""Events on their way into the logs: numbered, coalesced, committed, and only then shown.

There is at most one batch under way. What happens meanwhile waits for the next one, so an idle
writer commits an event at once and a busy one commits many together; pieces of text that wait
together become one. Nothing here touches a disk: batches are handed to the store's own thread.
"""

from __future__ import annotations

import logging
import threading
import time
from collections import deque
from collections.abc import Callable, Sequence
from concurrent.futures import Future
from dataclasses import dataclass, field
from functools import partial

from hermes.core.errors import Interrupted
from hermes.core.events import Event, ReasoningDelta, TextDelta
from hermes.core.run_ports import NewEvent
from hermes.store.errors import StoreUnusable

logger = logging.getLogger(__name__)

RETRY_SECONDS = 0.5
GIVE_UP_SECONDS = 30.0

Append = Callable[[Sequence[NewEvent]], "Future[None]"]
Later = Callable[[float, Callable[[], None]], None]


@dataclass(slots=True, eq=False)
class OpenLog:
    """The end of one log, for as long as this process writes it."""

    run_id: str
    next_seq: int
    on_failure: Callable[[BaseException], None]
    """Called once, from any thread, when nothing more can be written. Must not raise."""
    failure: BaseException | None = None
    is_closed: bool = False
    """Whether the run is over for this process: what an agent left behind still says is lost."""
    entered: int = 0
    settled: int = 0
    """How many entries were put, and how many of these were committed or given up."""
    barriers: list[tuple[int, Future[None]]] = field(default_factory=list)


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
    parts: dict[OpenLog, list[NewEvent]]
    """What each log gets; together they are one commit."""
    deadline: float

    @property
    def events(self) -> list[NewEvent]:
        return [event for events in self.parts.values() for event in events]

    def split(self) -> list[_Batch]:
        return [_Batch({log: events}, self.deadline) for log, events in self.parts.items()]


class LogWriter:
    """The one way into the logs of this process's runs. Any thread may call."""

    def __init__(
        self,
        append: Append,
        deliver: Callable[[Sequence[NewEvent]], None],
        *,
        clock: Callable[[], float] = time.time,
        give_up_seconds: float = GIVE_UP_SECONDS,
        later: Later | None = None,
    ) -> None:
        """`deliver` is called with committed events, in order, from the store's thread.

        `later` has something done after so many seconds, in a thread of its own by default.
        """
        self._append = append
        self._deliver = deliver
        self._clock = clock
        self._give_up_seconds = give_up_seconds
        self._later = later or _in_a_thread
        self._lock = threading.Lock()
        self._waiting: list[_Entry] = []
        self._newest: dict[OpenLog, _Entry] = {}
        """The newest waiting entry of each log: the one that text may be added to."""
        self._batches: deque[_Batch] = deque()
        """What has its numbers already and comes before everything that waits."""
        self._is_writing = False

    def put(self, log: OpenLog, event: Event, *, is_held: bool = False) -> None:
        """Add an event to the end of a log. Never blocks; one that failed or is closed is left.

        `is_held`: more follows at once, so that this need not be committed alone; whoever says so
        calls `flush`.
        """
        with self._lock:
            if log.failure is not None or log.is_closed:
                return
            newest = self._newest.get(log)
            if newest is None or not newest.absorbs(event):
                entry = _Entry(log, self._clock(), event)
                self._waiting.append(entry)
                self._newest[log] = entry
                log.entered += 1
            if self._is_writing or is_held:
                return
            self._is_writing = True
        self._write_on()

    def flush(self) -> None:
        """Begin to commit what was held back, if that has not begun."""
        with self._lock:
            if self._is_writing or not self._waiting:
                return
            self._is_writing = True
        self._write_on()

    def flushed(self, log: OpenLog) -> Future[None]:
        """Done when everything that was put so far is committed.

        Fails with `Interrupted` when it will not be. Whoever waits for it may be cancelled, the
        future itself cannot.
        """
        future: Future[None] = Future()
        future.set_running_or_notify_cancel()
        with self._lock:
            is_pending = log.failure is None and log.settled < log.entered
            if is_pending:
                log.barriers.append((log.entered, future))
        if is_pending:
            self.flush()
        else:
            _answer(future, log)
        return future

    def close(self, log: OpenLog) -> Future[None]:
        """Take nothing more for this log. Done, or failed, like `flushed`."""
        with self._lock:
            log.is_closed = True
        return self.flushed(log)

    def last(self, log: OpenLog, event: Event, at: float) -> NewEvent:
        """The event that ends a closed log or pauses it, numbered; whoever asks writes it."""
        with self._lock:
            return _numbered(log, at, event)

    def _write_on(self) -> None:
        """Write batch after batch, until one is under way, to be tried again, or the last."""
        while (batch := self._next()) is not None:
            written = self._begun(batch)
            if not written.done():
                written.add_done_callback(partial(self._written, batch))
                return
            if not self._settled(batch, written.exception()):
                return

    def _next(self) -> _Batch | None:
        with self._lock:
            if self._batches:
                return self._batches.popleft()
            entries, self._waiting = self._waiting, []
            self._newest.clear()
            parts: dict[OpenLog, list[NewEvent]] = {}
            for entry in entries:
                if entry.log.failure is None:
                    parts.setdefault(entry.log, []).append(entry.numbered())
            self._is_writing = bool(parts)
            return _Batch(parts, self._clock() + self._give_up_seconds) if parts else None

    def _begun(self, batch: _Batch) -> Future[None]:
        try:
            return self._append(batch.events)
        except Exception as error:  # noqa: BLE001  a store that is closed; told like any failure
            failed: Future[None] = Future()
            failed.set_exception(error)
            return failed

    def _written(self, batch: _Batch, written: Future[None]) -> None:
        if self._settled(batch, written.exception()):
            self._write_on()

    def _settled(self, batch: _Batch, error: BaseException | None) -> bool:
        """Tell everybody what became of a batch; False when that is not known yet."""
        if error is None:
            self._deliver(batch.events)
        elif len(batch.parts) > 1:
            # It may be the fault of one log; the others are not to suffer for it.
            with self._lock:
                self._batches.extend(batch.split())
            return True
        elif _may_mend(error) and self._clock() < batch.deadline:
            # A full disk may get room again. What is there already is not written twice.
            logger.warning("run events not stored, trying again: %s", error)
            self._try_later(batch)
            return False
        else:
            self._fail(batch.parts, error)
        self._pass_barriers(batch)
        return True

    def _try_later(self, batch: _Batch) -> None:
        def again() -> None:
            with self._lock:
                self._batches.appendleft(batch)
            self._write_on()

        self._later(RETRY_SECONDS, again)

    def _pass_barriers(self, batch: _Batch) -> None:
        passed: list[tuple[OpenLog, Future[None]]] = []
        with self._lock:
            for log, events in batch.parts.items():
                log.settled += len(events)
                waiting, log.barriers = log.barriers, []
                for wanted, future in waiting:
                    if log.settled >= wanted or log.failure is not None:
                        passed.append((log, future))
                    else:
                        log.barriers.append((wanted, future))
        for log, future in passed:
            _answer(future, log)

    def _fail(self, logs: dict[OpenLog, list[NewEvent]], error: BaseException) -> None:
        for log in logs:
            with self._lock:
                is_first, log.failure = log.failure is None, log.failure or error
            if is_first:
                log.on_failure(error)


def _in_a_thread(seconds: float, work: Callable[[], None]) -> None:
    timer = threading.Timer(seconds, work)
    timer.daemon = True
    timer.start()


def _may_mend(error: BaseException) -> bool:
    """Whether waiting may help: a full disk, a locked file; not a log that is another's now."""
    return isinstance(error, StoreUnusable | OSError)


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
