"""Who comes first is served first, nobody is forgotten, and nobody is let in too many."""

from __future__ import annotations

import asyncio
from collections import Counter
from contextlib import AsyncExitStack
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hermes.backends.errors import NotAdmitted, QueueFull, QueueTimeout
from hermes.backends.hosting.queue import JobQueue, Load, QueueLimits, QueueStates


def limits(**changes: Any) -> QueueLimits:
    fields: dict[str, Any] = {"max_running": 2, "max_queued": 10, "queue_seconds": 30}
    return QueueLimits(**(fields | changes))


class Job:
    """Somebody who wants a place, and keeps it until told to go."""

    def __init__(self, queue: JobQueue, agent: str = "a") -> None:
        self.agent = agent
        self.places: list[int] = []
        self.is_running = False
        self.leave = asyncio.Event()
        self.task = asyncio.ensure_future(self._live(queue))
        # Somebody knows what came of it, also where a test does not ask.
        self.task.add_done_callback(lambda task: task.cancelled() or task.exception())

    async def _live(self, queue: JobQueue) -> None:
        async with queue.place(self.agent, on_wait=self.places.append):
            self.is_running = True
            try:
                await self.leave.wait()
            finally:
                self.is_running = False

    async def end(self) -> None:
        self.leave.set()
        await self.task


async def settled() -> None:
    """After a few rounds of the loop everybody knows what there is to know."""
    for _ in range(5):
        await asyncio.sleep(0)


def running(jobs: list[Job]) -> list[bool]:
    return [job.is_running for job in jobs]


async def end_all(jobs: list[Job]) -> None:
    for job in jobs:
        job.task.cancel()
    await asyncio.gather(*(job.task for job in jobs), return_exceptions=True)


async def test_the_first_run_and_the_others_follow_in_their_order() -> None:
    queue = JobQueue(limits())
    jobs = [Job(queue) for _ in range(4)]
    await settled()
    assert running(jobs) == [True, True, False, False]
    await jobs[1].end()
    await settled()
    assert running(jobs) == [True, False, True, False]
    await jobs[0].end()
    await jobs[2].end()
    await settled()
    assert running(jobs) == [False, False, False, True]
    await jobs[3].end()
    assert queue.states().together == Load(running=0, queued=0, max_running=2)


async def test_everybody_knows_his_place_and_when_it_changes() -> None:
    queue = JobQueue(limits(max_running=1))
    jobs = [Job(queue) for _ in range(4)]
    await settled()
    jobs[2].task.cancel()
    await settled()
    await jobs[0].end()
    await settled()
    assert [job.places for job in jobs] == [[], [1], [2], [3, 2, 1]]
    await end_all(jobs)


async def test_an_agent_at_its_own_limit_holds_up_nobody_else() -> None:
    queue = JobQueue(limits(max_running=3, max_running_of={"a": 1}))
    jobs = [Job(queue, agent) for agent in "aaabb"]
    await settled()
    assert running(jobs) == [True, False, False, True, True]
    assert queue.states() == QueueStates(
        together=Load(running=3, queued=2, max_running=3),
        agents={
            "a": Load(running=1, queued=2, max_running=1),
            "b": Load(running=2, queued=0, max_running=3),
        },
    )
    await end_all(jobs)


async def test_who_finds_no_place_to_wait_in_is_told_when_to_come_back() -> None:
    queue = JobQueue(limits(max_running=1, max_queued=1))
    jobs = [Job(queue) for _ in range(2)]
    await settled()
    with pytest.raises(QueueFull) as refused:
        async with queue.place("a"):
            pass
    assert refused.value.retry_after == 1
    await end_all(jobs)


async def test_without_a_queue_there_is_room_or_there_is_none() -> None:
    queue = JobQueue(limits(max_running=1, max_queued=0))
    async with queue.place("a"):
        with pytest.raises(QueueFull):
            await Job(queue).task
    async with queue.place("a"):
        pass


async def test_who_waits_too_long_gives_up_and_is_forgotten() -> None:
    queue = JobQueue(limits(max_running=1, queue_seconds=0.01))
    first = Job(queue)
    await settled()
    with pytest.raises(QueueTimeout):
        await Job(queue).task
    assert queue.states().together.queued == 0
    await first.end()
    assert queue.states().together.running == 0


async def test_one_who_is_cancelled_as_he_is_let_in_passes_the_place_on() -> None:
    queue = JobQueue(limits(max_running=1))
    jobs = [Job(queue) for _ in range(3)]
    await settled()
    jobs[0].leave.set()
    await asyncio.sleep(0)  # now the place is the second one's, who does not know it yet
    jobs[1].task.cancel()
    await settled()
    assert running(jobs) == [False, False, True]
    await end_all(jobs)
    assert queue.states().together == Load(running=0, queued=0, max_running=1)


async def test_one_whose_callback_fails_is_out_and_nobody_else() -> None:
    queue = JobQueue(limits(max_running=1))
    jobs = [Job(queue)]
    await settled()

    def fails(place: int) -> None:
        raise LookupError(place)

    with pytest.raises(LookupError):
        async with queue.place("a", on_wait=fails):
            pass
    jobs.append(Job(queue))
    await jobs[0].end()
    await settled()
    assert jobs[1].is_running
    await end_all(jobs)


async def test_a_place_is_free_again_also_after_an_error() -> None:
    queue = JobQueue(limits())
    with pytest.raises(LookupError):
        async with queue.place("a"):
            raise LookupError
    assert queue.states().together.running == 0


@pytest.mark.parametrize(("seconds", "expected"), [(0.1, 1), (5, 10), (3600, 60)])
async def test_when_to_come_back_is_guessed_from_what_jobs_take(
    seconds: float, expected: int
) -> None:
    times = iter([0.0, seconds, 0.0, 0.0, 0.0])
    queue = JobQueue(limits(max_running=1, max_queued=1), now=lambda: next(times))
    async with queue.place("a"):
        pass
    async with AsyncExitStack() as stack:
        await stack.enter_async_context(queue.place("a"))
        waiting = Job(queue)
        await settled()
        with pytest.raises(QueueFull) as refused:
            await stack.enter_async_context(queue.place("a"))
        assert refused.value.retry_after == expected
        await end_all([waiting])


# --- laws, whatever happens -----------------------------------------------------------------------

STEPS = st.lists(
    st.tuples(
        st.sampled_from(["come", "leave", "cancel", "leave and cancel", "settle"]),
        st.sampled_from("ab"),
        st.integers(0, 30),
    ),
    max_size=40,
)


@given(steps=STEPS, most=st.integers(1, 3), of_a=st.integers(1, 3), queued=st.integers(0, 4))
def test_whoever_comes_and_goes_the_laws_hold(
    steps: list[tuple[str, str, int]], most: int, of_a: int, queued: int
) -> None:
    rules = limits(max_running=most, max_queued=queued, max_running_of={"a": of_a})
    asyncio.run(play(rules, steps))


async def play(rules: QueueLimits, steps: list[tuple[str, str, int]]) -> None:
    queue = JobQueue(rules)
    jobs: list[Job] = []
    for step, agent, number in steps:
        present = [job for job in jobs if not job.task.done()]
        chosen = present[number % len(present)] if present else None
        if step == "come":
            jobs.append(Job(queue, agent))
            await asyncio.sleep(0)
        elif step == "settle":
            await settled()
            check_that_nobody_waits_who_could_run(rules, jobs)
        elif chosen is not None:
            if "leave" in step:
                chosen.leave.set()
            if step == "leave and cancel":
                await asyncio.sleep(0)
            if "cancel" in step:
                chosen.task.cancel()
        check_that_nobody_is_too_many(rules, jobs)
    await settled()
    check_that_nobody_waits_who_could_run(rules, jobs)
    await end_all(jobs)
    assert queue.states().together == Load(running=0, queued=0, max_running=rules.max_running)
    for job in jobs:
        assert job.task.cancelled() or isinstance(job.task.exception(), NotAdmitted | None)


def counted(jobs: list[Job]) -> Counter[str]:
    return Counter(job.agent for job in jobs if job.is_running)


def check_that_nobody_is_too_many(rules: QueueLimits, jobs: list[Job]) -> None:
    count = counted(jobs)
    assert count.total() <= rules.max_running
    assert count["a"] <= rules.max_running_of["a"]


def check_that_nobody_waits_who_could_run(rules: QueueLimits, jobs: list[Job]) -> None:
    count = counted(jobs)
    for job in jobs:
        if job.task.done() or job.is_running:
            continue
        is_agent_full = job.agent == "a" and count["a"] >= rules.max_running_of["a"]
        assert is_agent_full or count.total() >= rules.max_running


def test_among_equals_nobody_is_passed_by() -> None:
    async def main() -> None:
        queue = JobQueue(limits(max_running=1, max_queued=50, max_running_of={"a": 1}))
        order: list[int] = []

        async def job(number: int) -> None:
            async with queue.place("ab"[number % 2]):
                order.append(number)
                await asyncio.sleep(0)

        async with asyncio.TaskGroup() as group:
            for number in range(50):
                group.create_task(job(number))
        assert order == list(range(50))

    asyncio.run(main())
