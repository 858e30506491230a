"""Jobs that somebody may still ask about: those that run, and those that ended a while ago."""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from enum import Enum
from typing import Any

from hermes.backends.bridge.claude import Errand
from hermes.backends.bridge.outcome import Outcome

MAX_RECORDS = 100
"""Finished ones beyond that are forgotten, the oldest first."""
MAX_OUTPUT_BYTES = 256 * 1024


class JobStatus(Enum):
    """How far a job is."""

    QUEUED = "queued"
    RUNNING = "running"
    COMPLETED = "completed"
    FAILED = "failed"
    """The CLI ended without an answer."""
    TIMEOUT = "timeout"
    """It took too long and was ended."""
    ERROR = "error"
    """It could not be run, or was ended because the bridge was."""

    @property
    def is_final(self) -> bool:
        return self not in (JobStatus.QUEUED, JobStatus.RUNNING)


class OutputTail:
    """The last lines of what a process printed."""

    def __init__(self, limit: int = MAX_OUTPUT_BYTES) -> None:
        self._limit = limit
        self._lines: deque[bytes] = deque()
        self._size = 0

    def add(self, line: bytes) -> None:
        # The end of a line that is too long alone.
        kept = line[-self._limit :]
        self._lines.append(kept)
        self._size += len(kept)
        while self._size > self._limit:
            self._size -= len(self._lines.popleft())

    @property
    def lines(self) -> list[str]:
        return [line.decode(errors="replace") for line in self._lines]


@dataclass(slots=True, kw_only=True)
class Job:
    """One job and all that is known of it."""

    id: str
    errand: Errand
    metadata: Mapping[str, Any] | None
    status: JobStatus
    created_at: float
    """As `time.time` has it, like the other two."""
    started_at: float | None = None
    finished_at: float | None = None
    output: OutputTail = field(default_factory=OutputTail)
    outcome: Outcome | None = None
    error: str | None = None


class Records:
    """Jobs by their ids."""

    def __init__(
        self, *, max_records: int = MAX_RECORDS, clock: Callable[[], float] = time.time
    ) -> None:
        self._max_records = max_records
        self._clock = clock
        self._jobs: dict[str, Job] = {}

    def add(self, job: Job, ttl_seconds: float) -> None:
        self._forget(ttl_seconds, spare=self._max_records - 1)
        self._jobs[job.id] = job

    def get(self, job_id: str, ttl_seconds: float) -> Job | None:
        self._forget(ttl_seconds, spare=self._max_records)
        return self._jobs.get(job_id)

    def _forget(self, ttl_seconds: float, *, spare: int) -> None:
        latest = self._clock() - ttl_seconds
        finished = [job for job in self._jobs.values() if job.finished_at is not None]
        finished.sort(key=lambda job: job.finished_at or 0.0)
        excess = len(self._jobs) - spare
        for at, job in enumerate(finished):
            if at < excess or (job.finished_at or 0.0) < latest:
                del self._jobs[job.id]
