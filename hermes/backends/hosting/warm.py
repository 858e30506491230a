"""Processes that were started before anybody asked, so that the first word comes at once.

A warm process is fresh: it has said nothing, remembers nothing and has folders of its own. It
answers one job, like any other, and another one takes its place when that is over.
"""

from __future__ import annotations

import asyncio
import logging
import time
import uuid
from collections.abc import Callable
from dataclasses import dataclass

from hermes.backends.drivers.base import Driver
from hermes.backends.errors import CommandFailed
from hermes.backends.hosting.asking import Ask
from hermes.backends.hosting.catalogue import Catalogue
from hermes.backends.hosting.models import HostedModel
from hermes.backends.hosting.stage import Backstage, Stage
from hermes.backends.jobs import CliSession, Memory, Setup
from hermes.backends.saying import StopReason
from hermes.core.cli_agents import Examined
from hermes.core.ids import new_id

log = logging.getLogger(__name__)

FRESH_SECONDS = 1800.0
"""Then it is replaced: a login or a key may have changed meanwhile."""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Waiting:
    hosted: HostedModel
    stage: Stage
    can_be_told_late: bool
    since: float


class WarmPool:
    """Used on one event loop."""

    def __init__(
        self,
        catalogue: Catalogue,
        backstage: Backstage,
        wanted: Callable[[], list[HostedModel]],
    ) -> None:
        """`wanted`: the processes that should be waiting, as configured now."""
        self._catalogue = catalogue
        self._backstage = backstage
        self._wanted = wanted
        self._waiting: list[_Waiting] = []
        self._filling: asyncio.Task[None] | None = None
        self._is_closed = False

    def __len__(self) -> int:
        return len(self._waiting)

    def take(self, ask: Ask) -> Stage | None:
        """One that fits; whoever takes it ends and closes it."""
        for each in self._waiting:
            process = each.stage.process
            suits = each.hosted == ask.model and ask.suits_warm(
                can_be_told_late=each.can_be_told_late
            )
            if suits and process is not None and process.is_alive:
                self._waiting.remove(each)
                return each.stage
        return None

    def fill(self) -> None:
        """Start what is missing, one after the other, and end what is no longer wanted."""
        if self._filling is None and not self._is_closed:
            self._filling = asyncio.ensure_future(self._fill())
            self._filling.add_done_callback(self._filled)

    async def close(self) -> None:
        self._is_closed = True
        if self._filling is not None:
            await asyncio.wait({self._filling})
        waiting, self._waiting = self._waiting, []
        for each in waiting:
            await _end(each.stage)

    def _filled(self, task: asyncio.Task[None]) -> None:
        self._filling = None
        if not task.cancelled() and task.exception() is not None:
            log.error("no process of a CLI agent could be kept warm", exc_info=task.exception())

    async def _fill(self) -> None:
        missing = self._wanted()
        oldest = time.monotonic() - FRESH_SECONDS
        for each in list(self._waiting):
            process = each.stage.process
            is_fresh = process is not None and process.is_alive and each.since > oldest
            if is_fresh and each.hosted in missing:
                missing.remove(each.hosted)
            else:
                self._waiting.remove(each)
                await _end(each.stage)
        for hosted in missing:
            if self._is_closed:
                return
            await self._start(hosted)

    async def _start(self, hosted: HostedModel) -> None:
        find = self._catalogue.driver
        driver = await self._backstage.off_loop(lambda: find(hosted.agent))
        if isinstance(driver, Examined) or not driver.features.can_be_warm:
            return
        job_id = new_id("job_")
        memory = Memory(home_id=str(uuid.uuid4()), session=_new_session(driver))
        stage = Stage(self._backstage, hosted, memory)
        setup = Setup(
            job_id=job_id,
            model=hosted.model,
            profile=hosted.profile,
            session=memory.session,
            can_ask=True,
        )
        try:
            await stage.furnish(job_id)
            await stage.start(driver, setup, None)
        except (CommandFailed, OSError) as error:
            stage.forget_afterwards()
            await stage.close()
            log.warning("no process of %s could be kept warm: %s", hosted.name, error)
        else:
            self._waiting.append(
                _Waiting(
                    hosted=hosted,
                    stage=stage,
                    can_be_told_late=driver.features.late_system_prompt,
                    since=time.monotonic(),
                )
            )


def _new_session(driver: Driver) -> CliSession:
    return CliSession(id=str(uuid.uuid4()) if driver.features.chooses_session_ids else None)


async def _end(stage: Stage) -> None:
    stage.forget_afterwards()
    if stage.process is not None:
        stage.process.stop(StopReason.SHUTDOWN)
        await stage.process.ended()
    await stage.close()
