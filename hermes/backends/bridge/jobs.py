"""Jobs that go on after their request was answered: begun, looked after, remembered for a while."""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Awaitable, Callable

from hermes.backends.bridge.execute import ExecuteRequest
from hermes.backends.bridge.outcome import Outcome
from hermes.backends.bridge.records import Job, JobStatus, Records
from hermes.backends.bridge.running import Listener
from hermes.backends.bridge.turns import Ticket
from hermes.backends.errors import CommandFailed
from hermes.core.ids import new_id

logger = logging.getLogger(__name__)

Run = Callable[[str, Listener], Awaitable[Outcome]]
"""Runs the job of this id. Raises `CommandFailed`."""


class Jobs:
    """All jobs of a bridge."""

    def __init__(self) -> None:
        self.records = Records()
        self._tasks: set[asyncio.Task[Outcome]] = set()

    def begin(
        self, request: ExecuteRequest, ticket: Ticket, run: Run, *, queue_seconds: float
    ) -> Job:
        """Takes over the ticket, and gives it back when the job is over."""
        job = Job(
            id=new_id("job_"),
            errand=request.errand,
            metadata=request.metadata,
            status=JobStatus.QUEUED if ticket.is_waiting else JobStatus.RUNNING,
            created_at=time.time(),
        )
        task = asyncio.ensure_future(_work(job, ticket, run, queue_seconds))
        self._tasks.add(task)
        # Not in the task itself: one that is cancelled before its first step would never get there.
        task.add_done_callback(lambda task: self._over(job, ticket, task))
        return job

    async def close(self) -> None:
        """End all of them; their processes are gone when it returns."""
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)

    def _over(self, job: Job, ticket: Ticket, task: asyncio.Task[Outcome]) -> None:
        self._tasks.discard(task)
        ticket.give_back()
        job.finished_at = time.time()
        job.status, job.error = _end_of(task)


async def _work(job: Job, ticket: Ticket, run: Run, queue_seconds: float) -> Outcome:
    await ticket.turn(queue_seconds)
    job.status = JobStatus.RUNNING
    job.started_at = time.time()
    job.outcome = await run(job.id, Listener(line=job.output.add))
    return job.outcome


def _end_of(task: asyncio.Task[Outcome]) -> tuple[JobStatus, str | None]:
    if task.cancelled():
        return JobStatus.ERROR, "the bridge was stopped before the job was done"
    error = task.exception()
    match error:
        case None:
            return _status_of(task.result())
        case TimeoutError():
            return JobStatus.ERROR, "its turn did not come in time (QUEUE_TIMEOUT_SECONDS)"
        case CommandFailed():
            return JobStatus.ERROR, str(error)
        case _:
            logger.error("A job broke", exc_info=error)
            return JobStatus.ERROR, "this is a fault of the bridge; its log has the trace"


def _status_of(outcome: Outcome) -> tuple[JobStatus, str | None]:
    problem = outcome.problem(time_variable="EXECUTE_TIMEOUT_SECONDS")
    if problem is None:
        return JobStatus.COMPLETED, None
    return JobStatus.TIMEOUT if outcome.has_timed_out else JobStatus.FAILED, problem
