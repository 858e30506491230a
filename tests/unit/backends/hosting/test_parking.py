"""Jobs that wait for a person: found by the call, given up after a while."""

from __future__ import annotations

import asyncio

from hermes.backends.hosting.job import HostedJob
from hermes.backends.hosting.parking import Parked, Parking
from hermes.backends.saying import PermissionAsked, StopReason


class Stops:
    """Jobs that only remember that they were stopped."""

    def __init__(self) -> None:
        self.stopped: list[str] = []
        self.news = asyncio.Event()

    def job(self, name: str) -> HostedJob:
        def on_stop(reason: StopReason) -> None:
            self.stopped.append(name)
            self.news.set()

        return HostedJob(name, on_stop)


def parked(job: HostedJob, *call_ids: str, session: str | None = None) -> Parked:
    questions = [
        PermissionAsked(id=f"q-{each}", call_id=each, tool="t", arguments={}, shown="", reason="")
        for each in call_ids
    ]
    return Parked(job=job, questions=questions, session=session)


async def test_a_job_is_found_by_any_of_its_calls_and_once_only() -> None:
    parking, stops = Parking(), Stops()
    parking.park(parked(stops.job("one"), "a", "b"), 60)
    parking.park(parked(stops.job("two"), "c"), 60)

    found = parking.take(["x", "b"])

    assert found is not None and found.job.id == "one"
    assert parking.take(["a"]) is None
    assert parking.take(["c"]) is not None
    assert stops.stopped == []
    parking.close()


async def test_a_job_nobody_comes_for_is_stopped_and_still_known() -> None:
    parking, stops = Parking(), Stops()
    parking.park(parked(stops.job("one"), "a"), 0)
    async with asyncio.timeout(5):
        await stops.news.wait()

    found = parking.take(["a"])

    assert found is not None and found.job.id == "one"
    parking.close()


async def test_whoever_needs_its_session_has_it_stopped() -> None:
    parking, stops = Parking(), Stops()
    parking.park(parked(stops.job("one"), "a", session="s"), 60)
    parking.park(parked(stops.job("two"), "b", session="other"), 60)

    parking.evict("s")
    async with asyncio.timeout(5):
        await stops.news.wait()

    assert stops.stopped == ["one"]
    parking.close()
