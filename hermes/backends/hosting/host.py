"""Hosts the CLI agents of one gateway: takes questions, keeps their jobs, ends what is left."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Collection, Sequence

from hermes.backends.drivers.known import kind_of
from hermes.backends.hosting.asking import Ask
from hermes.backends.hosting.carrying import Carrier, House
from hermes.backends.hosting.catalogue import Catalogue
from hermes.backends.hosting.job import HostedJob
from hermes.backends.hosting.models import HostedModel, hosted_model
from hermes.backends.hosting.parking import Parked, Parking
from hermes.backends.hosting.queue import JobQueue, QueueLimits, QueueStates
from hermes.backends.hosting.session_locks import SessionLocks
from hermes.backends.hosting.stage import Backstage
from hermes.backends.hosting.warm import WarmPool
from hermes.backends.saying import PermissionAsked, StopReason
from hermes.backends.workspaces.workspaces import Workspaces
from hermes.settings.cli_settings import CliSettings

log = logging.getLogger(__name__)


class Host:
    """Made without an event loop; used on one."""

    def __init__(
        self,
        settings: Callable[[], CliSettings],
        catalogue: Catalogue,
        backstage: Backstage,
        workspaces: Workspaces,
    ) -> None:
        self._settings = settings
        self._backstage = backstage
        self._parking = Parking()
        self._warm = WarmPool(catalogue, backstage, lambda: _to_be_warm(settings()))
        self._house = House(
            catalogue=catalogue,
            backstage=backstage,
            workspaces=workspaces,
            queue=JobQueue(_limits(settings())),
            locks=SessionLocks(),
            parking=self._parking,
            warm=self._warm,
        )
        self._carried: dict[asyncio.Task[None], Carrier] = {}

    def begin(self, ask: Ask) -> HostedJob:
        """Take a question; what becomes of it is told by the job."""
        carrier = Carrier(self._house, ask)
        task = asyncio.ensure_future(carrier.carry())
        self._carried[task] = carrier
        task.add_done_callback(self._carried.pop)
        return carrier.job

    def park(self, job: HostedJob, questions: Sequence[PermissionAsked], agent: str) -> None:
        """Keep a job whose CLI waits for a decision, until somebody comes with it."""
        session = None if job.memory is None else (agent, job.memory.home_id)
        parked = Parked(job=job, questions=questions, session=session)
        self._parking.park(parked, self._settings().park_seconds)

    def unpark(self, call_ids: Sequence[str]) -> Parked | None:
        return self._parking.take(call_ids)

    def states(self) -> QueueStates:
        """How many jobs are at work, and how many wait."""
        return self._house.queue.states()

    def warm_up(self) -> None:
        """For the start: have processes waiting, where that is wanted."""
        self._warm.fill()

    def recover(self, kept: Collection[tuple[str, str]]) -> None:
        """For the start: end what a killed gateway has left running, and remove its folders.

        `kept`: the agents and homes that are still needed. May block.
        """
        self._backstage.journal.sweep_stale(self._rescue)
        for agent, home_id in self._backstage.folders.sessions():
            if (agent, home_id) not in kept:
                self.forget(agent, home_id)

    def _rescue(self, job_id: str) -> None:
        """What a killed job had done in its copy of a repository is on no branch yet."""
        folder = self._backstage.folders.workspace(job_id)
        try:
            kept = self._house.workspaces.rescue(folder, job_id)
        except OSError:
            log.exception("the work of a killed job could not be kept", extra={"job_id": job_id})
            return
        if kept is not None:
            log.warning("the work of a killed job is in %s", kept, extra={"job_id": job_id})

    def forget(self, agent: str, home_id: str) -> None:
        """Remove what a CLI remembers of a conversation that nobody goes on with. May block."""
        self._backstage.folders.remove_session(agent, home_id)

    async def close(self) -> None:
        """End every job; returns when nothing of any of them is left."""
        for carrier in list(self._carried.values()):
            carrier.stop(StopReason.SHUTDOWN)
        if self._carried:
            await asyncio.wait(set(self._carried))
        self._parking.close()
        await self._warm.close()


def _limits(settings: CliSettings) -> QueueLimits:
    return QueueLimits(
        max_running=settings.max_running,
        max_queued=settings.max_queued,
        queue_seconds=settings.queue_seconds,
        max_running_of={agent.name: agent.max_running for agent in settings.agents},
    )


def _to_be_warm(settings: CliSettings) -> list[HostedModel]:
    wanted: list[HostedModel] = []
    for agent in settings.agents:
        hosted = hosted_model(settings, kind_of, agent.name) if agent.warm else None
        if hosted is not None:
            wanted += [hosted] * agent.warm
    return wanted
