"""An engine on a real store in memory, with agents and works that do what the test says."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from concurrent.futures import Future
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from itertools import count
from typing import Any

from hermes.core.errors import ApiError
from hermes.core.events import Event
from hermes.core.run_ports import RunStore
from hermes.core.runs import LoggedEvent, NewRun, Run
from hermes.core.turn import TurnCall, TurnResult
from hermes.runs.engine import Begun, Runs
from hermes.runs.feed import Feed
from hermes.runs.limits import Gate
from hermes.runs.threads import Threads
from hermes.runs.turns import AgentRef
from hermes.runs.work import Ending
from hermes.settings.model import RunSettings
from hermes.store.process_runs import ProcessRunStore

WAIT = 10.0


@dataclass
class FakeWork:
    """Asks for a fixed turn, and remembers what it was told."""

    wants_text: bool = True
    told: list[str] = field(default_factory=list)
    endings: list[Ending] = field(default_factory=list)
    failing: Mapping[str, BaseException] = field(default_factory=dict)
    """Which step raises what."""
    held: Mapping[str, asyncio.Event] = field(default_factory=dict)
    """Which step waits for what."""

    async def wait(self, run: Run) -> None:
        await self._step("wait")

    async def call(self, run: Run) -> TurnCall:
        await self._step("call")
        return TurnCall(user_message="Hello")

    async def begin(self, run: Run) -> None:
        await self._step("begin")

    async def end(self, run: Run, ending: Ending) -> None:
        await self._step("end")
        self.endings.append(ending)

    async def _step(self, name: str) -> None:
        self.told.append(name)
        if name in self.held:
            await self.held[name].wait()
        if name in self.failing:
            raise self.failing[name]


@dataclass
class FakeAgent:
    """Emits these events and ends like this; with `gate` it waits before it ends."""

    result: TurnResult = field(default_factory=lambda: TurnResult(text="Hello there"))
    events: tuple[Event, ...] = ()
    error: BaseException | None = None
    gate: asyncio.Event | None = None
    heeds_interrupt: bool = True
    heeds_cancel: bool = True
    interrupted: list[str] = field(default_factory=list)

    def interrupt(self, reason: str) -> None:
        self.interrupted.append(reason)
        if self.heeds_interrupt and self.gate is not None:
            self.gate.set()

    async def answer(self, feed: Feed) -> TurnResult:
        for event in self.events:
            feed.put(event)
        while self.gate is not None and not self.gate.is_set():
            try:
                await self.gate.wait()
            except asyncio.CancelledError:
                if self.heeds_cancel:
                    raise
        if self.error is not None:
            raise self.error
        return self.result


class BrokenStore:
    """A real store of which some calls raise instead; as often as they are told to."""

    def __init__(self, store: RunStore) -> None:
        self.store = store
        self.failing: dict[str, list[BaseException]] = {}
        self.is_late: set[str] = set()
        """Calls whose failure comes with their future."""

    def __getattr__(self, name: str) -> Any:
        real = getattr(self.store, name)
        if not self.failing.get(name):
            return real

        def fail(*_args: Any, **_keywords: Any) -> Future[None]:
            error = self.failing[name].pop(0)
            if name not in self.is_late:
                raise error
            future: Future[None] = Future()
            future.set_exception(error)
            return future

        return fail


@dataclass
class Engine:
    """The engine under test and its surroundings."""

    runs: Runs
    gate: Gate
    store: BrokenStore
    calls: list[TurnCall] = field(default_factory=list)
    agents: list[FakeAgent] = field(default_factory=list)
    """Used up from the front; then each turn has an agent that just answers."""
    is_closing: bool = False
    _ids: Any = field(default_factory=lambda: count(1))

    async def run_turn(self, call: TurnCall, feed: Feed | None, ref: AgentRef) -> TurnResult:
        assert feed is not None
        self.calls.append(call)
        agent = self.agents.pop(0) if self.agents else FakeAgent()
        ref[0] = agent
        return await agent.answer(feed)

    async def submit(self, work: FakeWork | None = None, **wanted: Any) -> Begun:
        fields: dict[str, Any] = {"id": f"run_{next(self._ids)}", "kind": "chat", "owner": "me"}
        return await self.runs.submit(NewRun(**{**fields, **wanted}), work or FakeWork())

    async def ended(self, begun: Begun) -> Run:
        """The run as it is stored when its leg is over."""
        assert begun.live is not None
        await asyncio.wait_for(asyncio.wait([begun.live.leg]), WAIT)
        return self.stored(begun.run.id)

    def stored(self, run_id: str) -> Run:
        run = self.store.store.get(run_id)
        assert run is not None
        return run

    def log(self, run_id: str) -> list[LoggedEvent]:
        return self.store.store.read(run_id)

    def events(self, run_id: str) -> list[Event]:
        return [logged.event for logged in self.log(run_id)]

    async def watched(self, run_id: str, ends: type) -> list[LoggedEvent]:
        """What somebody sees who watches until an event of this kind."""
        following = self.runs.follow(run_id, after=0)
        seen: list[LoggedEvent] = []
        try:
            while not seen or not isinstance(seen[-1].event, ends):
                seen += await asyncio.wait_for(following.take(), WAIT)
        finally:
            following.close()
        return [each for each in seen if each.seq]


@asynccontextmanager
async def engine(*, room: int = 100, close: bool = True, **settings: Any) -> AsyncIterator[Engine]:
    process, storage = ProcessRunStore(None), Threads("storage", 4)
    store = BrokenStore(process.registered())
    gate = Gate(room, lambda _owner: 0)
    made: list[Engine] = []

    async def run_turn(call: TurnCall, feed: Feed | None, ref: AgentRef) -> TurnResult:
        return await made[0].run_turn(call, feed, ref)

    runs = Runs(
        store=lambda: store,
        storage=storage,
        run_turn=run_turn,
        settings=RunSettings(**settings),
        gate=gate,
        is_closing=lambda: made[0].is_closing,
    )
    made.append(Engine(runs=runs, gate=gate, store=store))
    try:
        yield made[0]
    finally:
        if close:
            await runs.close(within=1.0)
        process.close()
        storage.close()


async def until(is_so: Callable[[], bool]) -> None:
    """Let everybody work until something is so."""
    async with asyncio.timeout(WAIT):
        while not is_so():
            await asyncio.sleep(0.002)


async def outcome_of(waiting: Awaitable[TurnResult]) -> TurnResult | ApiError:
    try:
        return await asyncio.wait_for(waiting, WAIT)
    except ApiError as error:
        return error
