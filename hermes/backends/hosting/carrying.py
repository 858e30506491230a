"""Carries one job from the line it stands in to the last trace of it.

A job belongs to the host, not to the request that asked for it: whoever loses interest calls
`stop`, and the job ends in order. Nothing here is ever cancelled but waiting.
"""

from __future__ import annotations

import asyncio
import logging
import os
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass, replace
from pathlib import Path

from hermes.backends.drivers.base import Driver
from hermes.backends.errors import CommandFailed, QueueFull, QueueTimeout
from hermes.backends.hosting.asking import Ask, failed, never_began, unusable
from hermes.backends.hosting.catalogue import Catalogue
from hermes.backends.hosting.job import Begun, HostedJob, Kept, Waiting
from hermes.backends.hosting.kept_work import told_about
from hermes.backends.hosting.parking import Parking
from hermes.backends.hosting.queue import JobQueue
from hermes.backends.hosting.session_locks import SessionLocks
from hermes.backends.hosting.stage import Backstage, Stage
from hermes.backends.hosting.warm import WarmPool
from hermes.backends.jobs import Question
from hermes.backends.saying import Ending, StopReason, Told
from hermes.backends.workspaces.reports import WorkspaceProblem
from hermes.backends.workspaces.workspace import WorkDone, Workspace
from hermes.backends.workspaces.workspaces import Workspaces
from hermes.core.cli_agents import Examined, Profile
from hermes.core.ids import new_id

log = logging.getLogger(__name__)

SUMMARY_LENGTH = 72

_ROOT = (
    "The profile 'full' lets a CLI agent do whatever the gateway's user may do, and that user is "
    "root here. Run the gateway as another user, or lower cli.agents.{name}.profile."
)
_UNPROMISED = (
    "'{name}', as it is installed, cannot be kept to the profile '{wanted}', but to: {kept}. Ask "
    "for a lower one of those ({name}@…); the operator can choose one with "
    "cli.agents.{name}.profile, or update the CLI."
)


@dataclass(frozen=True, slots=True, kw_only=True)
class House:
    """What all jobs of a host share."""

    catalogue: Catalogue
    backstage: Backstage
    workspaces: Workspaces
    queue: JobQueue
    locks: SessionLocks
    parking: Parking
    warm: WarmPool


class Carrier:
    """One job. Made and used on the host's event loop."""

    def __init__(self, house: House, ask: Ask) -> None:
        self._house = house
        self._ask = ask
        self._stopping: StopReason | None = None
        self._waiting: asyncio.Task[None] | None = None
        """The task of this job, while it may be cancelled."""
        self._stage: Stage | None = None
        self.job = HostedJob(new_id("job_"), self.stop)

    def stop(self, reason: StopReason) -> None:
        if self._stopping is None:
            self._stopping = reason
        if self._waiting is not None:
            self._waiting.cancel()
        elif self._stage is not None and self._stage.process is not None:
            self._stage.process.stop(self._stopping)

    async def carry(self) -> None:
        """To the end, whatever happens; `job.ending` says how it ended."""
        self.job.end(await self._ending())

    async def _ending(self) -> Ending:
        try:
            return await self._carried()
        except QueueFull as full:
            return failed("cli_queue_full", str(full), retry_after=full.retry_after)
        except QueueTimeout as late:
            return failed("cli_queue_timeout", str(late), retry_after=late.retry_after)
        except WorkspaceProblem as problem:
            name = self._ask.model.agent.name
            return failed(
                "cli_workspace_failed", f"The workspace of '{name}' is not ready: {problem}"
            )
        except CommandFailed as error:
            return failed("cli_unavailable", f"The CLI agent could not be started: {error}.")
        except asyncio.CancelledError:
            if self._stopping is None:
                raise  # the loop itself is closing
            return never_began(self._stopping)
        except Exception as error:  # the job must end for whoever waits for it
            log.exception("a CLI job broke", extra={"job_id": self.job.id})
            return failed("agent_error", f"The CLI agent could not be set up: {error}.")

    async def _carried(self) -> Ending:
        name = self._ask.model.agent.name
        if self._ask.model.profile is Profile.FULL and os.geteuid() == 0:
            return failed("cli_profile_refused", _ROOT.format(name=name))
        async with self._session_to_itself(name), self._place(name):
            self.job.tell(Begun())
            driver = await self._house.backstage.off_loop(
                lambda: self._house.catalogue.driver(self._ask.model.agent)
            )
            if isinstance(driver, Examined):
                return unusable(name, driver)
            if self._ask.model.profile not in driver.features.profiles:
                return self._unpromised(driver)
            return await self._worked(driver)

    def _unpromised(self, driver: Driver) -> Ending:
        wanted, name = self._ask.model.profile.value, self._ask.model.agent.name
        kept = ", ".join(each.value for each in Profile if each in driver.features.profiles)
        words = _UNPROMISED.format(name=name, wanted=wanted, kept=kept or "none")
        return failed("cli_profile_refused", words)

    @asynccontextmanager
    async def _session_to_itself(self, name: str) -> AsyncIterator[None]:
        memory = self._ask.memory
        key = None if memory is None else (name, memory.home_id)
        held = self._house.locks.held(key, on_wait=lambda: self._house.parking.evict(key))
        with self._cancellable():
            await held.__aenter__()
        try:
            yield
        finally:
            await held.__aexit__(None, None, None)

    @asynccontextmanager
    async def _place(self, name: str) -> AsyncIterator[None]:
        place = self._house.queue.place(name, on_wait=lambda at: self.job.tell(Waiting(at)))
        with self._cancellable():
            await place.__aenter__()
        try:
            yield
        finally:
            await place.__aexit__(None, None, None)

    async def _worked(self, driver: Driver) -> Ending:
        stage = self._house.warm.take(self._ask)
        if stage is not None:
            return await self._with_warm(stage)
        stage = Stage(self._house.backstage, self._ask.model, self._ask.memory)
        try:
            folder = await stage.furnish(self.job.id)
            async with self._workspace(folder) as workspace:
                stage.move_to(workspace.path)
                if self._stopping is not None:
                    return never_began(self._stopping)
                setup = self._ask.setup(self.job.id)
                await stage.start(driver, setup, self._ask.question, self._ask.budget)
                ending = await self._conversed(stage, self._ask.question)
                await self._keep_work(workspace, ending)
                return ending
        finally:
            await stage.close()

    async def _with_warm(self, stage: Stage) -> Ending:
        try:
            if self._ask.memory is None:
                stage.forget_afterwards()
            question = replace(self._ask.question, system_prompt=self._ask.system_prompt)
            return await self._conversed(stage, question)
        finally:
            await stage.close()
            self._house.warm.fill()

    async def _conversed(self, stage: Stage, question: Question) -> Ending:
        """Ask, and pass on what is said until nothing is left of the process and its children."""
        process = stage.process
        assert process is not None, "the stage has a process"
        self._stage = stage
        self.job.memory = stage.memory
        self.job.listens(
            lambda asked, is_allowed, message: process.answer(
                asked, is_allowed=is_allowed, message=message
            )
        )
        stage.listen(self.job.tell)
        process.ask(question)
        if self._stopping is not None:
            process.stop(self._stopping)
        return stage.told(await process.ended())

    @asynccontextmanager
    async def _workspace(self, folder: Path) -> AsyncIterator[Workspace]:
        settings = self._ask.model.agent.workspace
        with self._cancellable():
            workspace = await self._house.workspaces.prepare(
                settings, job_id=self.job.id, folder=folder
            )
        try:
            if workspace.warning:
                self.job.tell(Told("cli_workspace", workspace.warning))
            yield workspace
        finally:
            await self._house.workspaces.release(workspace)

    async def _keep_work(self, workspace: Workspace, ending: Ending) -> None:
        """Also of a job that failed or was stopped: what it did is in the folder, and that goes."""
        if workspace.mode == "none":
            return
        report = await self._house.workspaces.conclude(
            workspace,
            WorkDone(
                job_id=self.job.id,
                run_id=self._ask.run_id,
                model=self._ask.model.name,
                usage=ending.usage,
                summary=_summary(ending.text),
            ),
        )
        told = told_about(report)
        if told is not None:
            self.job.tell(Kept(told))

    @contextmanager
    def _cancellable(self) -> Iterator[None]:
        """Inside the block a stop ends the waiting at once."""
        if self._stopping is not None:
            raise asyncio.CancelledError
        self._waiting = asyncio.current_task()
        try:
            yield
        finally:
            self._waiting = None


def _summary(text: str) -> str:
    first = next((line.strip() for line in text.splitlines() if line.strip()), "")
    return first if len(first) <= SUMMARY_LENGTH else first[: SUMMARY_LENGTH - 1] + "…"
