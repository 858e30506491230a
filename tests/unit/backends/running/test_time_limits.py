"""How the time of a process runs out, and when it does not."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

from hermes.backends.saying import CloseInput, Concluded, Exit, Said, StopReason, Told, Write
from hermes.settings.cli_settings import CliClocks
from tests.unit.backends.running.stubs import (
    ANSWERED,
    HI,
    StubPeer,
    asked,
    begin,
    end_of,
    stub,
    until,
)


async def stopped(launch: Any, peer: StubPeer) -> StopReason | None:
    process, _ = await begin(launch, peer)
    process.ask(HI)
    await end_of(process)
    assert peer.exit is not None
    return peer.exit.stopped


async def test_who_prints_nothing_after_its_start_is_stopped(tmp_path: Path, job_id: str) -> None:
    clocks = CliClocks(start_seconds=0.3)
    launch = stub(tmp_path, job_id, "time.sleep(600)", clocks=clocks)
    assert await stopped(launch, StubPeer()) is StopReason.NO_START


async def test_who_falls_silent_is_stopped(tmp_path: Path, job_id: str) -> None:
    clocks = CliClocks(idle_seconds=0.3)
    launch = stub(tmp_path, job_id, "tell('say x'); time.sleep(600)", clocks=clocks)
    assert await stopped(launch, StubPeer()) is StopReason.IDLE


async def test_who_never_stops_talking_is_stopped(tmp_path: Path, job_id: str) -> None:
    script = """
        while True:
            tell("say x")
            time.sleep(0.01)
    """
    launch = stub(tmp_path, job_id, script, clocks=CliClocks(total_seconds=1))
    assert await stopped(launch, StubPeer()) is StopReason.TOO_LONG


async def test_who_closes_its_output_and_lives_on_is_stopped(tmp_path: Path, job_id: str) -> None:
    script = "tell('say x'); os.close(1); time.sleep(600)"
    launch = stub(tmp_path, job_id, script, clocks=CliClocks(final_seconds=0.2))
    assert await stopped(launch, StubPeer()) is StopReason.IDLE


async def test_who_waits_for_a_permission_is_not_silent(tmp_path: Path, job_id: str) -> None:
    script = """
        input()
        tell("ask q")
        input()
        time.sleep(600)
    """
    peer = StubPeer(keeps_input_open=True)
    process, events = await begin(
        stub(tmp_path, job_id, script, clocks=CliClocks(idle_seconds=0.2)), peer
    )
    process.ask(HI)
    await until(lambda: asked("q") in events)
    await asyncio.sleep(0.5)
    assert process.is_alive
    process.answer("q", is_allowed=True)
    await end_of(process)
    assert peer.exit is not None and peer.exit.stopped is StopReason.IDLE


async def test_one_that_was_not_asked_anything_has_all_the_time(
    tmp_path: Path, job_id: str
) -> None:
    script = """
        tell("hello")
        tell("say " + input())
    """
    clocks = CliClocks(start_seconds=0.05)
    peer = StubPeer(greeting=[], keeps_input_open=True)
    process, events = await begin(stub(tmp_path, job_id, script, clocks=clocks), peer)
    await until(lambda: events)
    await asyncio.sleep(0.3)
    assert process.is_alive
    process.ask(HI)
    await end_of(process)
    assert events == [Told("unknown_line", "hello"), Said("hi")]


async def test_one_that_does_not_return_a_greeting_is_stopped(tmp_path: Path, job_id: str) -> None:
    peer = StubPeer(greeting=[Write(b"hello\n")])
    clocks = CliClocks(start_seconds=0.2)
    process, _ = await begin(stub(tmp_path, job_id, "time.sleep(600)", clocks=clocks), peer)
    await end_of(process)
    assert peer.exit is not None and peer.exit.stopped is StopReason.NO_START


async def test_who_has_answered_but_does_not_go_is_ended_without_blame(
    tmp_path: Path, job_id: str
) -> None:
    peer = StubPeer()
    launch = stub(
        tmp_path, job_id, "tell('done'); time.sleep(600)", clocks=CliClocks(final_seconds=0.2)
    )
    process, _ = await begin(launch, peer)
    process.ask(HI)
    assert await end_of(process) == ANSWERED
    assert peer.exit == Exit(code=0, stderr=peer.exit.stderr if peer.exit else "")


async def test_who_has_answered_is_told_to_go(tmp_path: Path, job_id: str) -> None:
    script = """
        input()
        tell("done")
        tell("say " + repr(sys.stdin.read()))
    """
    peer = StubPeer(keeps_input_open=True, dismissal=[Write(b"bye"), CloseInput()])
    process, events = await begin(stub(tmp_path, job_id, script), peer)
    process.ask(HI)
    assert await end_of(process) == ANSWERED
    assert events == [Concluded(), Said("'bye'")]


async def test_who_goes_on_after_its_answer_is_left_to_it(tmp_path: Path, job_id: str) -> None:
    script = """
        tell("done\\nsay more")
        time.sleep(0.6)
        tell("say and more")
        tell("done")
        time.sleep(600)
    """
    launch = stub(tmp_path, job_id, script, clocks=CliClocks(final_seconds=0.2))
    process, events = await begin(launch)
    process.ask(HI)
    assert await end_of(process) == ANSWERED
    assert events == [Concluded(), Said("more"), Said("and more"), Concluded()]
