"""A note for each job that runs, so that none outlives a killed gateway for long.

What a job starts carries its id (`HERMES_JOB`); who comes after a gateway that died ends whatever
carries the ids of its notes, and removes the folders of those jobs.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable

from hermes.backends.running.folders import JobFolders
from hermes.backends.running.launch import job_mark
from hermes.processes.ending import sweep
from hermes.processes.marks import Mark, marked
from hermes.processes.notes import Notes

_log = logging.getLogger(__name__)


class JobJournal:
    """Everything here blocks. Safe to use from any thread, and by several gateways with one root.

    A job is noted before it has a folder, and forgotten after its folder is gone.
    """

    def __init__(self, folders: JobFolders) -> None:
        self._folders = folders
        self._notes = Notes(lambda: folders.root / "running")

    def note(self, job_id: str) -> None:
        """This gateway looks after the job now. Raises `OSError`: then it must not be started."""
        self._notes.write(job_id)

    def forget(self, job_id: str) -> None:
        self._notes.remove(job_id)

    def sweep_stale(self, rescue: Callable[[str], None] = lambda job_id: None) -> int:
        """End what dead gateways have left running, and tidy up; how many processes that were.

        `rescue` is told of each job before its folder goes.
        """
        # In this order: a folder whose job ends meanwhile is taken for an abandoned one, and
        # removing it twice does no harm. The other way round a new job's would be.
        with_folders = self._folders.job_ids()
        orphaned = self._notes.orphaned()
        abandoned = {*orphaned, *with_folders} - (set(self._notes.names()) - set(orphaned))
        ended = self._end(orphaned)
        for job_id in abandoned:
            rescue(job_id)
            self._folders.remove(job_id)
            self.forget(job_id)
        if ended:
            _log.warning("ended what a killed gateway had left running", extra={"processes": ended})
        return ended

    def _end(self, job_ids: Iterable[str]) -> int:
        marks = [mark for job_id in job_ids for mark in self._marks(job_id)]
        return sweep(lambda: marked(marks)).found if marks else 0

    def _marks(self, job_id: str) -> tuple[Mark, Mark]:
        """The helpers of Codex's sandbox have of their environment no more than TMPDIR."""
        return job_mark(job_id), Mark("TMPDIR", str(self._folders.scratch(job_id)))
