"""Into the logs and out to the viewers: committed before seen, in order, once, whatever fails."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable, Sequence
from concurrent.futures import Future
from dataclasses import dataclass, field
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hermes.core.errors import Fenced, Interrupted
from hermes.core.events import (
    Event,
    ReasoningDelta,
    SegmentEnd,
    TextDelta,
    ToolProgress,
)
from hermes.core.run_ports import NewEvent
from hermes.core.runs import LoggedEvent
from hermes.runs.live_logs import MOST_AHEAD, Following, LiveLogs
from hermes.runs.log_writer import LogWriter, OpenLog
from hermes.store.errors import LogGap, StoreClosed, StoreUnusable

WAIT = 5.0
FULL = StoreUnusable("runs.db", "cannot grow", "Free some disk space and try again")


@dataclass
class LateStore:
    """Commits when it is told to, or not at all."""

    committed: dict[str, list[LoggedEvent]] = field(default_factory=dict)
    fenced: set[str] = field(default_factory=set)
    under_way: list[tuple[Sequence[NewEvent], Future[None]]] = field(default_factory=list)
    later: list[Callable[[], None]] = field(default_factory=list)
    batches: list[list[NewEvent]] = field(default_factory=list)

    def append(self, events: Sequence[NewEvent]) -> Future[None]:
        future: Future[None] = Future()
        self.under_way.append((events, future))
        self.batches.append(list(events))
        return future

    def commit(self) -> bool:
        """The oldest batch that is under way, all or nothing; False when there is none."""
        if not self.under_way:
            return False
        events, future = self.under_way.pop(0)
        error = self._refusal(events)
        if error is not None:
            future.set_exception(error)
            return True
        for event in events:
            log = self.log(event.run_id)
            if event.seq == len(log) + 1:
                log.append(LoggedEvent(event.seq, event.at, event.event))
        future.set_result(None)
        return True

    def fail(self, error: BaseException) -> bool:
        if not self.under_way:
            return False
        self.under_way.pop(0)[1].set_exception(error)
        return True

    def mend(self) -> bool:
        """What was put off is done now."""
        waiting, self.later = self.later, []
        for work in waiting:
            work()
        return bool(waiting)

    def finish_all(self) -> None:
        while self.commit() or self.mend():
            pass

    def log(self, run_id: str) -> list[LoggedEvent]:
        return self.committed.setdefault(run_id, [])

    async def read(self, run_id: str, after: int, limit: int) -> list[LoggedEvent]:
        await asyncio.sleep(0)
        return self.log(run_id)[after : after + limit]

    def _refusal(self, events: Sequence[NewEvent]) -> BaseException | None:
        ends: dict[str, int] = {}
        for event in events:
            if event.run_id in self.fenced:
                return Fenced("Another process owns it.")
            end = ends.setdefault(event.run_id, len(self.log(event.run_id)))
            if event.seq > end + 1:
                return LogGap(event.run_id, event.seq, end + 1)
            ends[event.run_id] = max(end, event.seq)
        return None


@dataclass
class Setting:
    """A writer on a late store."""

    store: LateStore = field(default_factory=LateStore)
    failures: list[tuple[str, BaseException]] = field(default_factory=list)
    delivered: list[NewEvent] = field(default_factory=list)
    now: float = 0.0

    def __post_init__(self) -> None:
        self.writer = LogWriter(
            self.store.append,
            self.delivered.extend,
            clock=lambda: self.now,
            later=lambda _seconds, work: self.store.later.append(work),
        )

    def open(self, run_id: str) -> OpenLog:
        return OpenLog(run_id, 1, lambda error: self.failures.append((run_id, error)))

    def texts(self, run_id: str) -> list[str]:
        events = [logged.event for logged in self.store.log(run_id)]
        return [event.text for event in events if isinstance(event, TextDelta)]


def text(word: str) -> TextDelta:
    return TextDelta(word)


def test_the_first_event_is_on_its_way_at_once_and_the_rest_waits_together() -> None:
    setting = Setting()
    log = setting.open("a")
    for word in "xyz":
        setting.writer.put(log, text(word))
    assert [[event.event for event in batch] for batch in setting.store.batches] == [[text("x")]]
    setting.store.finish_all()
    assert setting.texts("a") == ["x", "yz"]


def test_thinking_and_text_are_never_mixed_and_segments_stay_apart() -> None:
    setting = Setting()
    log = setting.open("a")
    first: list[Event] = [SegmentEnd(), text("a"), ReasoningDelta("r"), ReasoningDelta("s")]
    for event in [*first, text("b"), SegmentEnd(), text("c"), text("d")]:
        setting.writer.put(log, event)
    setting.store.finish_all()
    assert [logged.event for logged in setting.store.log("a")] == [
        SegmentEnd(),
        text("a"),
        ReasoningDelta("rs"),
        text("b"),
        SegmentEnd(),
        text("cd"),
    ]


def test_nothing_is_delivered_before_it_is_committed() -> None:
    setting = Setting()
    log = setting.open("a")
    setting.writer.put(log, text("x"))
    barrier = setting.writer.flushed(log)
    assert (setting.delivered, barrier.done()) == ([], False)
    setting.store.commit()
    assert [event.event for event in setting.delivered] == [text("x")]
    assert barrier.result(0) is None


def test_a_barrier_waits_for_its_own_log_only_as_far_as_it_was_written() -> None:
    setting = Setting()
    one, other = setting.open("a"), setting.open("b")
    setting.writer.put(one, text("x"))
    early = setting.writer.flushed(one)
    setting.writer.put(one, SegmentEnd())
    late = setting.writer.flushed(one)
    assert setting.writer.flushed(other).done(), "it has written nothing"
    setting.store.commit()
    assert (early.done(), late.done()) == (True, False)
    setting.store.commit()
    assert late.result(0) is None


def test_a_full_disk_is_waited_for_and_nothing_is_written_twice() -> None:
    setting = Setting()
    log = setting.open("a")
    setting.writer.put(log, text("x"))
    setting.store.fail(FULL)
    setting.writer.put(log, text("y"))
    assert setting.store.under_way == [], "it is tried again only after a while"
    setting.store.finish_all()
    assert setting.texts("a") == ["x", "y"]
    assert setting.failures == []


def test_a_disk_that_stays_full_ends_the_log_and_its_barriers() -> None:
    setting = Setting()
    log = setting.open("a")
    setting.writer.put(log, text("x"))
    barrier = setting.writer.flushed(log)
    setting.store.fail(FULL)
    setting.now = 31.0
    setting.store.mend()
    setting.store.fail(FULL)
    with pytest.raises(Interrupted):
        barrier.result(0)
    assert setting.failures == [("a", FULL)]
    with pytest.raises(Interrupted):
        setting.writer.flushed(log).result(0)


def test_what_waits_of_a_log_that_failed_is_dropped_and_holds_nobody_up() -> None:
    """It would leave a hole, and be tried again and again while everybody else waits."""
    setting = Setting()
    log, other = setting.open("a"), setting.open("b")
    setting.writer.put(log, text("x"))
    setting.writer.put(log, text("y"))
    setting.store.fail(Fenced("Another process owns it."))
    setting.writer.put(other, text("z"))
    setting.store.finish_all()
    assert (setting.texts("a"), setting.texts("b")) == ([], ["z"])
    assert len(setting.failures) == 1


def test_one_log_that_cannot_be_written_does_not_harm_the_others_of_its_batch() -> None:
    setting = Setting()
    logs = {name: setting.open(name) for name in "abc"}
    setting.writer.put(logs["a"], text("first"))
    for name in "abc":
        setting.writer.put(logs[name], SegmentEnd())
    setting.store.fenced.add("b")
    barriers = {name: setting.writer.flushed(log) for name, log in logs.items()}
    setting.store.finish_all()
    assert [name for name, barrier in barriers.items() if barrier.exception(0)] == ["b"]
    assert [name for name, _ in setting.failures] == ["b"]
    assert len(setting.store.log("a")) == 2
    assert len(setting.store.log("c")) == 1


def test_an_error_that_waiting_does_not_mend_is_told_at_once() -> None:
    setting = Setting()
    log = setting.open("a")
    setting.writer.put(log, text("x"))
    setting.store.fail(TypeError("not JSON"))
    assert [name for name, _ in setting.failures] == ["a"]
    assert setting.store.later == []


def test_a_store_that_refuses_at_once_fails_any_number_of_logs() -> None:
    """As many as there are live runs when a store is closed under them."""
    failed: list[str] = []

    def closed(_events: Sequence[NewEvent]) -> Future[None]:
        raise StoreClosed("runs.db")

    held: Future[None] = Future()
    answers = iter([held])
    writer = LogWriter(lambda events: next(answers, None) or closed(events), lambda _events: None)
    first = OpenLog("first", 1, lambda _error: failed.append("first"))
    writer.put(first, text("x"))
    for number in range(3000):
        name = str(number)
        writer.put(OpenLog(name, 1, lambda _error, name=name: failed.append(name)), text("x"))
    held.set_result(None)
    assert failed == [str(number) for number in range(3000)]


def test_an_agent_that_was_left_behind_adds_nothing_to_a_closed_log() -> None:
    setting = Setting()
    log = setting.open("a")
    setting.writer.put(log, text("x"))
    setting.writer.put(log, text("y"))
    closed = setting.writer.close(log)
    setting.writer.put(log, text("late"))
    setting.store.finish_all()
    assert closed.result(0) is None
    assert setting.writer.last(log, SegmentEnd(), 0.0).seq == 3
    assert setting.texts("a") == ["x", "y"]


async def test_whoever_stops_waiting_for_a_barrier_holds_nobody_up() -> None:
    setting = Setting()
    log = setting.open("a")
    setting.writer.put(log, text("x"))
    waiting = asyncio.ensure_future(asyncio.wrap_future(setting.writer.flushed(log)))
    await asyncio.sleep(0)
    waiting.cancel()
    await asyncio.gather(waiting, return_exceptions=True)
    setting.store.finish_all()
    setting.writer.put(log, text("y"))
    setting.store.finish_all()
    assert setting.texts("a") == ["x", "y"]


def test_many_threads_keep_their_own_order_and_every_number_is_given_once() -> None:
    lock = threading.Lock()
    stored: dict[str, list[NewEvent]] = {}

    def append(events: Sequence[NewEvent]) -> Future[None]:
        future: Future[None] = Future()

        def commit() -> None:
            with lock:
                for event in events:
                    stored.setdefault(event.run_id, []).append(event)
            future.set_result(None)

        threading.Thread(target=commit).start()
        return future

    writer = LogWriter(append, lambda _events: None)
    logs = [OpenLog(name, 1, lambda _error: None) for name in "ab"]
    start = threading.Barrier(4)

    def produce(number: int) -> None:
        start.wait(WAIT)
        for count in range(100):
            writer.put(logs[number % 2], ToolProgress("tick", preview=f"{number} {count}"))
        writer.flushed(logs[number % 2]).result(WAIT)

    threads = [threading.Thread(target=produce, args=(number,)) for number in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(WAIT)
    for name, numbers in (("a", (0, 2)), ("b", (1, 3))):
        events = stored[name]
        assert [event.seq for event in events] == list(range(1, 201))
        for number in numbers:
            said = [e.event.preview for e in events if isinstance(e.event, ToolProgress)]
            mine = [each for each in said if each and each.startswith(f"{number} ")]
            assert mine == [f"{number} {count}" for count in range(100)]


# --- viewers ------------------------------------------------------------------------------------


@dataclass
class Watching:
    """A viewer at work, and what it has seen."""

    run_id: str
    after: int
    following: Following
    seen: list[LoggedEvent] = field(default_factory=list)
    task: asyncio.Task[None] | None = None

    def begin(self) -> None:
        async def watch() -> None:
            while True:
                self.seen += await self.following.take()

        self.task = asyncio.get_running_loop().create_task(watch())

    async def leave(self) -> None:
        assert self.task is not None
        self.task.cancel()
        await asyncio.gather(self.task, return_exceptions=True)
        self.following.close()


async def settle() -> None:
    for _ in range(12):
        await asyncio.sleep(0)


RUNS = st.sampled_from("abc")
EVENTS = st.one_of(
    st.text("xyz", min_size=1, max_size=3).map(TextDelta),
    st.text("rs", min_size=1, max_size=2).map(ReasoningDelta),
    st.just(SegmentEnd()),
)
STEPS = st.lists(
    st.one_of(
        st.tuples(st.just("put"), RUNS, EVENTS),
        st.tuples(st.just("put"), RUNS, EVENTS),
        st.tuples(st.just("commit")),
        st.tuples(st.just("full")),
        st.tuples(st.just("mend")),
        st.tuples(st.just("fence"), RUNS),
        st.tuples(st.just("barrier"), RUNS),
        st.tuples(st.just("join"), RUNS, st.integers(0, 4)),
        st.tuples(st.just("leave"), st.integers(0, 9)),
        st.tuples(st.just("look")),
    ),
    max_size=50,
)


def flat(events: Sequence[Event]) -> list[tuple[type, str]]:
    """A log without regard to how its text is cut into pieces."""
    said: list[tuple[type, str]] = []
    for event in events:
        words = event.text if isinstance(event, TextDelta | ReasoningDelta) else ""
        if words and said and said[-1][0] is type(event):
            said[-1] = (said[-1][0], said[-1][1] + words)
        else:
            said.append((type(event), words))
    return said


class Interleaving:
    """What a run of random steps must never break."""

    def __init__(self) -> None:
        self.store = LateStore()
        self.logs = LiveLogs()
        self.failures: list[str] = []
        self.writer = LogWriter(
            self.store.append,
            self.logs.deliver,
            clock=lambda: 0.0,
            later=lambda _seconds, work: self.store.later.append(work),
        )
        self.open = {
            name: OpenLog(name, 1, lambda _error, name=name: self.failures.append(name))
            for name in "abc"
        }
        self.said: dict[str, list[Event]] = {name: [] for name in "abc"}
        self.barriers: list[tuple[str, list[tuple[type, str]], Future[None]]] = []
        self.watching: list[Watching] = []

    async def step(self, step: tuple[Any, ...]) -> None:
        match step:
            case ("put", run_id, event):
                if self.open[run_id].failure is None:
                    self.said[run_id].append(event)
                self.writer.put(self.open[run_id], event)
            case ("commit",):
                self.store.commit()
            case ("full",):
                self.store.fail(FULL)
            case ("mend",):
                self.store.mend()
            case ("fence", run_id):
                self.store.fenced.add(run_id)
            case ("barrier", run_id):
                said = flat(self.said[run_id])
                self.barriers.append((run_id, said, self.writer.flushed(self.open[run_id])))
            case ("join", run_id, after):
                after = min(after, len(self.store.log(run_id)))
                following = Following(self.logs, self.store.read, run_id, after=after)
                self.watching.append(Watching(run_id, after, following))
                self.watching[-1].begin()
            case ("leave", number) if self.watching:
                await self.watching[number % len(self.watching)].leave()
            case _:
                await settle()
        self.check()

    def check(self) -> None:
        for each in self.watching:
            committed = self.store.log(each.run_id)[each.after :]
            assert each.seen == committed[: len(each.seen)], "a gap, or seen before committed"
        for run_id, said, barrier in self.barriers:
            if barrier.done() and barrier.exception() is None:
                kept = flat([logged.event for logged in self.store.log(run_id)])
                whole = "".join(words for _, words in kept)
                assert whole.startswith("".join(words for _, words in said))

    async def end(self) -> None:
        self.store.finish_all()
        await settle()
        self.check()
        for run_id, log in self.open.items():
            assert log.barriers == []
            if log.failure is None:
                kept = flat([logged.event for logged in self.store.log(run_id)])
                assert kept == flat(self.said[run_id])
        assert all(barrier.done() for _, _, barrier in self.barriers)
        assert len(self.failures) == len(set(self.failures))
        assert set(self.failures) <= self.store.fenced
        for each in self.watching:
            if each.task is not None and not each.task.done():
                assert each.seen == self.store.log(each.run_id)[each.after :]
            await each.leave()
        assert self.logs._viewers == {}


@given(STEPS)
@settings(max_examples=150, deadline=None)
def test_every_viewer_sees_a_gap_free_part_of_what_is_committed(
    steps: list[tuple[Any, ...]],
) -> None:
    async def play() -> None:
        play = Interleaving()
        for step in steps:
            await play.step(step)
        await play.end()

    asyncio.run(play())


async def test_a_viewer_that_does_not_read_costs_little_and_misses_nothing() -> None:
    store, logs = LateStore(), LiveLogs()
    following = Following(logs, store.read, "a", after=0)
    assert await following.look() == []
    count = MOST_AHEAD + 700
    for seq in range(1, count + 1):
        event = NewEvent("a", seq, 0.0, text(str(seq)))
        store.log("a").append(LoggedEvent(seq, 0.0, event.event))
        logs.pass_on([event])
    assert len(following._viewer._events) == MOST_AHEAD
    seen: list[LoggedEvent] = []
    while len(seen) < count:
        seen += await asyncio.wait_for(following.take(), WAIT)
    assert seen == store.log("a")
    following.close()


async def test_a_hint_makes_a_viewer_look_for_what_others_wrote() -> None:
    store, logs = LateStore(), LiveLogs()
    following = Following(logs, store.read, "a", after=0)
    taking = asyncio.create_task(following.take())
    await settle()
    written = LoggedEvent(1, 0.0, text("by another"))
    store.log("a").append(written)
    logs.hint("a")
    assert await asyncio.wait_for(taking, WAIT) == [written]
    following.close()


def test_events_for_a_loop_that_is_closed_harm_nobody() -> None:
    logs = LiveLogs()

    async def join() -> None:
        logs.join("a")

    asyncio.run(join())
    logs.deliver([NewEvent("a", 1, 0.0, text("x"))])
