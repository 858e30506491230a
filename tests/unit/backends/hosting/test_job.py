"""What a job tells whoever asked for it."""

from __future__ import annotations

import asyncio
import threading

from hermes.backends.hosting.job import Begun, HostedJob
from hermes.backends.saying import Ending, EndKind, Said, StopReason


def a_job() -> HostedJob:
    return HostedJob("job_1", lambda reason: None)


async def test_news_come_in_order_and_nothing_means_the_end() -> None:
    job = a_job()
    job.tell(Begun())
    job.tell(Said("a"))
    assert await job.more() == [Begun(), Said("a")]

    job.tell(Said("b"))
    job.end(Ending(kind=EndKind.ANSWERED, text="ab"))
    assert await job.more() == [Said("b")]
    assert await job.more() == []
    assert job.ending is not None and job.ending.text == "ab"


async def test_whoever_is_cut_short_while_waiting_misses_nothing() -> None:
    job = a_job()
    waiting = asyncio.create_task(job.more())
    await asyncio.sleep(0)
    waiting.cancel()
    await asyncio.wait({waiting})

    job.tell(Said("a"))
    assert await job.more() == [Said("a")]


async def test_the_first_ending_holds() -> None:
    job = a_job()
    job.end(Ending(kind=EndKind.STOPPED))
    job.end(Ending(kind=EndKind.FAILED))

    assert job.ending is not None and job.ending.kind is EndKind.STOPPED


async def test_it_can_be_stopped_from_any_thread() -> None:
    stopped = asyncio.Event()
    job = HostedJob("job_1", lambda reason: stopped.set())
    thread = threading.Thread(target=job.stop, args=(StopReason.ASKED,))
    thread.start()
    async with asyncio.timeout(5):
        await stopped.wait()
    thread.join()


async def test_an_answer_before_there_is_a_process_goes_nowhere() -> None:
    job, heard = a_job(), []
    job.answer("q", is_allowed=True)
    job.listens(lambda *answer: heard.append(answer))
    job.answer("q", is_allowed=False, message="no")

    assert heard == [("q", False, "no")]


async def test_a_job_that_was_asked_to_end_is_known_to_be_ending() -> None:
    job = a_job()
    assert not job.is_stopping

    job.stop()

    assert job.is_stopping
    assert job.ending is None


async def test_whoever_only_wants_to_know_how_it_ended_need_not_listen() -> None:
    job, ending = a_job(), Ending(kind=EndKind.STOPPED)
    waiting = asyncio.ensure_future(job.over())
    job.tell(Begun())
    await asyncio.sleep(0)
    job.tell(Said("nobody hears this"))
    job.end(ending)

    assert await asyncio.wait_for(waiting, 5) is ending
    assert await asyncio.wait_for(job.over(), 5) is ending
