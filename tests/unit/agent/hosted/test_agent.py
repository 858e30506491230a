"""A hosted agent whose turn breaks leaves no job behind."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import pytest

from hermes.agent.hosted.agent import HostedAgent
from hermes.agent.hosted.seams import HostedSeams
from hermes.backends.drivers.base import Features
from hermes.backends.hosting.asking import Ask
from hermes.backends.hosting.job import Begun, HostedJob
from hermes.backends.hosting.models import HostedModel
from hermes.backends.saying import Ending, EndKind, Said, StopReason
from hermes.core.cli_agents import Examined, Profile, Readiness
from hermes.core.errors import Interrupted
from hermes.core.metrics import UNMETERED
from hermes.core.turn import Outcome, TurnParameters, TurnResult
from hermes.fibers import run_in_fiber
from hermes.runs.allowance import Allowance
from hermes.settings.cli_settings import CliAgentSettings
from hermes.settings.model import ApprovalSettings
from hermes.store.cli_sessions import CliSessionStore

MODEL = HostedModel(
    agent=CliAgentSettings(name="claude", driver="claude", command=("claude",)),
    model="haiku",
    profile=Profile.CHAT,
)


class Jobs:
    """A host whose jobs say something and then wait to be stopped."""

    def __init__(self) -> None:
        self.job: HostedJob | None = None
        self.stopped: list[StopReason] = []

    def begin(self, ask: Ask) -> HostedJob:
        def stop(reason: StopReason) -> None:
            self.stopped.append(reason)
            job.end(Ending(kind=EndKind.STOPPED, error=reason.value))

        self.job = job = HostedJob("job_1", stop)
        job.tell(Begun())
        job.tell(Said("Half an ans"))
        return job


class Driver:
    features = Features()


def agent(jobs: Jobs, tmp_path: Path, **changes: Any) -> HostedAgent:
    fields: dict[str, Any] = {
        "host": jobs,
        "driver": Driver,
        "memories": CliSessionStore(lambda: tmp_path / "cli.db"),
        "model": MODEL,
        "system_prompt": None,
        "session_id": None,
        "run_id": None,
        "parameters": TurnParameters(),
        "approvals": ApprovalSettings(),
        "emit": lambda event: None,
        "record": lambda message, used: None,
        "link": None,
        "allowance": Allowance(),
        "priced": lambda usage: usage,
        "meter": UNMETERED,
    }
    seams = HostedSeams(**{**fields, **changes})
    return HostedAgent(seams, lambda result, session_id: {"result": result}, "s1")


async def run(hosted: HostedAgent) -> TurnResult:
    async def off_loop(work: Any) -> Any:
        return await asyncio.to_thread(work)

    answer = await run_in_fiber(
        lambda: hosted.run_conversation("Hi"), off_loop, lambda: hosted.interrupt("left")
    )
    result: TurnResult = answer["result"]
    return result


async def test_an_interrupt_ends_the_job_and_keeps_what_was_said(tmp_path: Path) -> None:
    jobs = Jobs()
    hosted = agent(jobs, tmp_path)
    asyncio.get_running_loop().call_later(0.05, hosted.interrupt, "Stopped.")
    result = await run(hosted)

    assert (result.outcome, result.text) == (Outcome.INTERRUPTED, "Half an ans")
    assert jobs.stopped


async def test_one_that_was_interrupted_before_it_began_is_stopped_at_once(tmp_path: Path) -> None:
    jobs = Jobs()
    hosted = agent(jobs, tmp_path)
    hosted.interrupt("Stopped.")

    assert (await run(hosted)).outcome is Outcome.INTERRUPTED


async def test_a_log_that_cannot_be_written_ends_the_job(tmp_path: Path) -> None:
    def record(message: Any, used: Any) -> None:
        raise Interrupted("The run's log cannot be written.")

    jobs = Jobs()
    result = await run(agent(jobs, tmp_path, record=record))
    await asyncio.sleep(0)

    assert result.outcome is Outcome.INTERRUPTED
    assert jobs.stopped


async def test_a_reader_that_breaks_ends_the_job(tmp_path: Path) -> None:
    def emit(event: Any) -> None:
        raise RuntimeError("broken")

    jobs = Jobs()
    with pytest.raises(RuntimeError, match="broken"):
        await run(agent(jobs, tmp_path, emit=emit))
    await asyncio.sleep(0)

    assert jobs.stopped


async def test_a_cli_that_cannot_be_used_is_a_failed_turn(tmp_path: Path) -> None:
    missing = Examined(readiness=Readiness.NOT_FOUND, detail="it is not there", fix="install it")
    result = await run(agent(Jobs(), tmp_path, driver=lambda: missing))

    assert result.outcome is Outcome.FAILED
    assert result.failure is not None and result.failure.code == "cli_unavailable"
    assert "install it" in str(result.error)
