"""Runs that are not kept can be watched like those that are, while they are remembered."""

from __future__ import annotations

import asyncio

from hypothesis import given, settings
from hypothesis import strategies as st

from hermes.core.events import Event, Idle, RunStarted, SegmentEnd, TextDelta, TurnEnded
from hermes.core.runs import RunStatus
from hermes.core.turn import Outcome, TurnResult
from hermes.runs.live_run import Cause
from hermes.runs.passing import MOST_FINISHED, PassingRun, PassingRuns

WAIT = 5.0


def done(result: TurnResult | BaseException) -> asyncio.Future[TurnResult]:
    future: asyncio.Future[TurnResult] = asyncio.get_running_loop().create_future()
    if isinstance(result, TurnResult):
        future.set_result(result)
    else:
        future.set_exception(result)
    return future


async def watched(run: PassingRun, after: int = 0) -> list[Event]:
    seen: list[Event] = []
    async with asyncio.timeout(WAIT):
        async for burst in run.events(after):
            assert burst[0].seq == after + len(seen) + 1
            seen += [each.event for each in burst]
    return seen


STEPS = st.lists(
    st.one_of(
        st.text("ab", min_size=1, max_size=2).map(TextDelta),
        st.just(SegmentEnd()),
        st.just(Idle()),
        st.just("take"),
        st.just("join"),
    ),
    max_size=30,
)


@given(STEPS, st.booleans())
@settings(max_examples=80, deadline=None)
def test_whoever_joins_whenever_sees_the_end_of_the_same_sequence(
    steps: list[Event | str], reader_stays: bool
) -> None:
    async def play() -> None:
        run = PassingRuns().begin("chat", "me", "model")
        joined: list[tuple[int, asyncio.Task[list[Event]]]] = []
        said: list[Event] = []
        for step in steps:
            if step == "take" and not run.feed.empty():
                await run.feed.take()
            elif step == "join":
                after = min(len(said), len(joined))
                joined.append((after, asyncio.create_task(watched(run, after))))
            elif not isinstance(step, str):
                run.feed.put(step)
                said += [] if isinstance(step, Idle) else [step]
            await asyncio.sleep(0)
        result = TurnResult(text="x")
        run.task = done(result)
        run.feed.put(None)
        whole = await watched(run)
        while reader_stays and not run.feed.empty():
            await run.feed.take()
        if not reader_stays:
            run.end()  # as whoever gave it a reader does
        said = said or [TextDelta("x")]
        assert whole == [RunStarted(1), *said, TurnEnded(result, "completed")]
        assert await watched(run) == whole
        assert run.as_run().last_seq == len(whole)
        for after, task in joined:
            assert await task == whole[after:]

    asyncio.run(play())


async def test_a_whole_answer_that_never_came_is_an_end_too() -> None:
    """Its client left, or got an error: nobody sets a result then."""
    run = PassingRuns().begin("chat", "me", "model")
    run.end()
    assert run.as_run().status is RunStatus.CANCELLED
    assert isinstance((await watched(run))[-1], TurnEnded)


async def test_an_agent_that_raised_has_failed() -> None:
    run = PassingRuns().begin("chat", "me", "model")
    run.task = done(ValueError("Boo."))
    run.feed.put(None)
    shown = run.as_run()
    assert shown.status is RunStatus.FAILED
    assert (shown.error or {})["code"] == "agent_error"


async def test_a_question_that_nobody_stopped_stays_a_question() -> None:
    run = PassingRuns().begin("chat", "me", "model")
    run.task = done(TurnResult(text="May I?", outcome=Outcome.ASKING))
    run.feed.put(None)
    assert run.as_run().status is RunStatus.WAITING_FOR_APPROVAL


async def test_a_stop_reaches_the_agent_and_changes_nothing_afterwards() -> None:
    told: list[str] = []

    class Agent:
        def interrupt(self, reason: str) -> None:
            told.append(reason)

    run = PassingRuns().begin("chat", "me", "model")
    run.agent_ref[0] = Agent()
    run.stop()
    assert told == [Cause.STOPPED.value]
    run.result = TurnResult(outcome=Outcome.INTERRUPTED)
    run.end()
    assert run.as_run().status is RunStatus.CANCELLED
    other = PassingRuns().begin("chat", "me", "model")
    other.result = TurnResult(text="done")
    other.end()
    other.stop()
    assert (other.as_run().status, other.as_run().is_stop_requested) == (RunStatus.COMPLETED, False)


async def test_viewers_that_give_up_leave_nothing_behind() -> None:
    run = PassingRuns().begin("chat", "me", "model")
    for _ in range(20):
        await run.ended(0.0)
    assert run.feed._bells == []


async def test_only_the_owner_finds_a_run_and_only_the_last_few_are_remembered() -> None:
    runs = PassingRuns()
    many = [runs.begin("chat", "me", "model") for _ in range(MOST_FINISHED + 3)]
    for run in many:
        run.end()
    assert runs.get(many[-1].id, "somebody else") is None
    assert [runs.get(run.id, "me") for run in many[:3]] == [None] * 3
    assert runs.get(many[3].id, "me") is many[3]
    runs.forget(many[3].id)
    assert runs.get(many[3].id, "me") is None
