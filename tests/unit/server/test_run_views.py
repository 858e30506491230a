"""Watching a kept run: what is seen, what came of it, and what leaving means."""

from __future__ import annotations

import asyncio

import pytest

from hermes.core.errors import InvalidRequest
from hermes.core.events import RunQueued, RunStarted, TextDelta
from hermes.core.runs import CANCEL, RunStatus
from hermes.core.turn import Outcome, TurnResult
from hermes.runs.engine import Begun
from hermes.runs.feed import Item
from hermes.server.run_views import RunSource, leg_result, source_of
from tests.unit.runs.fakes import WAIT, FakeAgent, FakeWork, engine, until


async def seen_by(source: RunSource) -> list[Item]:
    seen: list[Item] = []
    while not seen or seen[-1] is not None:
        seen += await asyncio.wait_for(source.take(), WAIT)
    source.view.close()
    return [each for each in seen if not isinstance(each, RunQueued)]


async def test_a_leg_is_seen_the_same_while_it_happens_and_afterwards() -> None:
    async with engine() as under:
        words = tuple(TextDelta(f"{number} ") for number in range(20))
        under.agents = [FakeAgent(events=words, result=TurnResult(text="All of it"))]
        begun = await under.submit()
        source = await source_of(under.runs, begun)
        live = await seen_by(source)
        again = await source_of(under.runs, Begun(run=begun.run, live=None))
        assert await seen_by(again) == live
        assert live[0] == RunStarted(1)
        assert again.result.result() == source.result.result()
        assert source.result.result().text == "All of it"


async def test_a_run_that_cannot_begin_is_refused_to_the_stream_and_to_who_waits() -> None:
    async with engine() as under:
        refusal = InvalidRequest("No.")
        begun = await under.submit(FakeWork(failing={"call": refusal}))
        with pytest.raises(InvalidRequest):
            await asyncio.wait_for(source_of(under.runs, begun), WAIT)
        with pytest.raises(InvalidRequest):
            await asyncio.wait_for(leg_result(under.runs, begun), WAIT)


@pytest.mark.parametrize("watch", [source_of, leg_result])
async def test_a_client_that_leaves_before_there_is_anything_to_see_has_left(watch) -> None:  # type: ignore[no-untyped-def]
    async with engine() as under:
        release = asyncio.Event()
        work = FakeWork(held={"call": release})
        begun = await under.submit(work, disconnect=CANCEL)
        watching = asyncio.create_task(watch(under.runs, begun))
        await until(lambda: "call" in work.told)
        watching.cancel()
        await asyncio.gather(watching, return_exceptions=True)
        await until(lambda: begun.live is not None and begun.live.cause is not None)
        release.set()
        assert (await under.ended(begun)).status is RunStatus.CANCELLED
        assert under.calls == []


async def test_a_leg_without_an_end_wakes_its_reader_with_the_error() -> None:
    async with engine() as under:
        under.agents = [
            FakeAgent(gate=asyncio.Event(), result=TurnResult(outcome=Outcome.INTERRUPTED))
        ]
        begun = await under.submit()
        source = await source_of(under.runs, begun)
        reading = asyncio.create_task(seen_by(source))
        await until(lambda: begun.live is not None and begun.live.agent_ref != [None])
        assert begun.live is not None
        begun.live.has_failed(InvalidRequest("Gone."))
        assert (await asyncio.wait_for(reading, WAIT))[-1] is None
        with pytest.raises(InvalidRequest):
            source.result.result()
