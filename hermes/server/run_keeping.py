"""What has to be done from time to time: questions that nobody answered, logs that grew old."""

from __future__ import annotations

import asyncio
import logging
import time

from hermes.core.approvals import Decision
from hermes.core.run_ports import Waiting
from hermes.core.runs import RunStatus
from hermes.server.asking import let_go_on, take_decision
from hermes.server.chat_work import KIND as CHAT
from hermes.server.deeds import sweep_deeds
from hermes.server.run_work import work_for
from hermes.server.seams import Seams

log = logging.getLogger(__name__)

LOOK_SECONDS = 5.0
SWEEP_SECONDS = 600.0
HEARTBEAT_SECONDS = 5.0


async def keep_runs(seams: Seams) -> None:
    """Until it is cancelled."""
    swept = 0.0
    while True:
        try:
            await deny_unanswered(seams, time.time())
            await _heed_heartbeat(seams)
            if time.monotonic() - swept > SWEEP_SECONDS:
                swept = time.monotonic()
                await seams.runs.in_store(lambda store: store.sweep(time.time()))
                await sweep_deeds(seams)
        except Exception:  # the store may be full or locked; the next look may succeed
            log.exception("runs not kept in order")
        await asyncio.sleep(LOOK_SECONDS)


async def _heed_heartbeat(seams: Seams) -> None:
    """Keep this process's lease while it has work, and stop what another was asked to stop."""
    if not seams.runs.is_busy:
        return
    for run_id in await seams.runs.in_store(lambda store: store.heartbeat()):
        live = seams.runs.live(run_id)
        if live is not None and live.cause is None:
            await seams.runs.stop(run_id)


async def deny_unanswered(seams: Seams, now: float) -> None:
    """A question that nobody answered in time is answered with no."""
    for waiting in await seams.runs.in_store(lambda store: store.expired_approvals(now)):
        await take_decision(seams, waiting, Decision.DENY, by="timeout")
        if _has_a_reader(waiting):
            await let_go_on(seams, waiting, work_for(seams, waiting.run), by="timeout")
        elif waiting.run.status is RunStatus.WAITING_FOR_APPROVAL:
            await seams.runs.stop(waiting.run.id)


def _has_a_reader(waiting: Waiting) -> bool:
    """Whether anybody will ever see the rest; a chat that keeps its own history will not."""
    run = waiting.run
    return run.kind != CHAT or run.session_id is not None
