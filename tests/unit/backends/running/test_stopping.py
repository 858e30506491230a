"""However a process is ended, and whatever it does about it: nothing of it is left."""

from __future__ import annotations

import asyncio
import signal
import threading
from pathlib import Path

import pytest

from hermes.backends.running import cli_process
from hermes.backends.running.cli_process import CliProcess
from hermes.backends.running.ladder import Rung
from hermes.backends.running.launch import Launch
from hermes.backends.saying import CloseInput, Concluded, Exit, Said, StopReason, Write
from hermes.processes.ending import POLITE_SECONDS
from tests.unit.backends.processes import WAIT_SECONDS, announced, is_alive
from tests.unit.backends.running.stubs import HI, StubPeer, stub

QUICK = (Rung(signal.SIGINT, 0.3), Rung(signal.SIGTERM, 0.3))

STUBBORN = """
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
"""
CHILDREN = {
    "in its group": "subprocess.Popen(SLEEPER)",
    "in a session of its own": "subprocess.Popen(SLEEPER, start_new_session=True)",
    "without its mark": "subprocess.Popen(SLEEPER, env={})",
    "in a session of its own, without its mark": (
        "subprocess.Popen(SLEEPER, start_new_session=True, env={})"
    ),
    "as stubborn as can be": (
        "subprocess.Popen([sys.executable, '-c', 'import signal, time;"
        " [signal.signal(n, signal.SIG_IGN) for n in (2, 15)]; time.sleep(600)'],"
        " start_new_session=True)"
    ),
}


async def running(launch: Launch, peer: StubPeer) -> tuple[CliProcess, list[int]]:
    """A process that was asked something, and the numbers that it has announced."""
    process = await CliProcess.start(launch, peer, lambda _event: None)
    process.ask(HI)
    return process, await announced(launch.places.workspace / "pids")


async def end(process: CliProcess, reason: StopReason = StopReason.ASKED) -> None:
    process.stop(reason)
    assert not process.is_alive
    async with asyncio.timeout(WAIT_SECONDS):
        await process.ended()


@pytest.mark.parametrize("child", CHILDREN.values(), ids=CHILDREN.keys())
@pytest.mark.parametrize("parent", ["", STUBBORN], ids=["obedient", "stubborn"])
async def test_a_stop_ends_the_process_and_its_child(
    tmp_path: Path, job_id: str, monkeypatch: pytest.MonkeyPatch, parent: str, child: str
) -> None:
    monkeypatch.setattr(cli_process, "RUNGS", QUICK)
    peer = StubPeer()
    script = f"{parent}\n    announce(os.getpid(), {child}.pid)\n    time.sleep(600)"
    process, pids = await running(stub(tmp_path, job_id, script), peer)
    await end(process)
    assert not any(map(is_alive, pids))
    assert peer.exit is not None and peer.exit.stopped is StopReason.ASKED


@pytest.mark.parametrize(
    "child", [child for name, child in CHILDREN.items() if "session of its own, with" not in name]
)
async def test_what_a_process_leaves_at_its_own_end_is_ended_too(
    tmp_path: Path, job_id: str, child: str
) -> None:
    peer = StubPeer()
    script = f"announce({child}.pid); tell('say x')"
    process, pids = await running(stub(tmp_path, job_id, script), peer)
    async with asyncio.timeout(WAIT_SECONDS):
        await process.ended()
    assert not any(map(is_alive, pids))
    assert peer.exit == Exit(code=0)


async def test_the_most_stubborn_is_killed(tmp_path: Path, job_id: str) -> None:
    child = CHILDREN["as stubborn as can be"]
    script = f"{STUBBORN}\n    announce(os.getpid(), {child}.pid)\n    time.sleep(600)"
    peer = StubPeer(interruption=[Write(b"please stop\n")], keeps_input_open=True)
    process, pids = await running(stub(tmp_path, job_id, script), peer)
    await end(process)
    assert not any(map(is_alive, pids))
    assert peer.exit is not None and peer.exit.code == -signal.SIGKILL


def test_all_that_waiting_leaves_time_to_be_done_within_six_seconds() -> None:
    patience = sum(rung.seconds for rung in cli_process.RUNGS)
    assert cli_process.INTERRUPT_SECONDS + patience + POLITE_SECONDS < 5


async def test_the_first_signal_is_the_one_that_a_terminal_would_send(
    tmp_path: Path, job_id: str
) -> None:
    script = """
        try:
            announce(os.getpid())
            time.sleep(600)
        except KeyboardInterrupt:
            tell("say last words")
            sys.exit(130)
    """
    peer = StubPeer()
    process, _ = await running(stub(tmp_path, job_id, script), peer)
    await end(process)
    assert peer.lines == [b"say last words"]
    assert peer.exit == Exit(code=130, stopped=StopReason.ASKED)


async def test_who_can_be_told_in_words_is_told_before_any_signal(
    tmp_path: Path, job_id: str
) -> None:
    script = """
        input()
        announce(os.getpid())
        tell("say " + input())
        tell("done")
        sys.stdin.read()
        tell("say bye")
    """
    peer = StubPeer(
        keeps_input_open=True, interruption=[Write(b"stop\n")], dismissal=[CloseInput()]
    )
    process, _ = await running(stub(tmp_path, job_id, script), peer)
    await end(process)
    assert peer.lines == [b"say stop", b"done", b"say bye"]
    assert peer.exit == Exit(code=0, stopped=StopReason.ASKED)


async def test_one_that_was_never_asked_is_sent_away_in_words(tmp_path: Path, job_id: str) -> None:
    peer = StubPeer(dismissal=[CloseInput()], interruption=[Write(b"stop\n")])
    launch = stub(tmp_path, job_id, "tell('say ' + repr(sys.stdin.read()))")
    process = await CliProcess.start(launch, peer, lambda _event: None)
    await end(process, StopReason.SHUTDOWN)
    assert peer.lines == [b"say ''"]
    assert peer.exit == Exit(code=0, stopped=StopReason.SHUTDOWN)


async def test_the_first_reason_counts(tmp_path: Path, job_id: str) -> None:
    peer = StubPeer()
    process, _ = await running(
        stub(tmp_path, job_id, "announce(os.getpid()); time.sleep(600)"), peer
    )
    process.stop(StopReason.SHUTDOWN)
    await end(process, StopReason.ASKED)
    assert peer.exit is not None and peer.exit.stopped is StopReason.SHUTDOWN


async def test_what_it_still_says_is_heard(tmp_path: Path, job_id: str) -> None:
    script = """
        def last(*_):
            tell("say " + "x" * 500_000)
            tell("done")
            os._exit(0)
        signal.signal(signal.SIGINT, last)
        announce(os.getpid())
        time.sleep(600)
    """
    events = []
    launch = stub(tmp_path, job_id, script)
    process = await CliProcess.start(launch, StubPeer(), events.append)
    process.ask(HI)
    await announced(launch.places.workspace / "pids")
    await end(process)
    assert events == [Said("x" * 500_000), Concluded()]


async def test_a_stop_waits_for_no_thread_of_anybody_else(tmp_path: Path, job_id: str) -> None:
    loop, release = asyncio.get_running_loop(), threading.Event()
    blocked = [loop.run_in_executor(None, release.wait, WAIT_SECONDS) for _ in range(64)]
    try:
        script = "announce(os.getpid()); time.sleep(600)"
        process, pids = await running(stub(tmp_path, job_id, script), StubPeer())
        await end(process)
        assert not any(map(is_alive, pids))
        assert not any(each.done() for each in blocked)
    finally:
        release.set()
        await asyncio.gather(*blocked)


async def test_who_is_cancelled_while_it_starts_leaves_nothing(tmp_path: Path, job_id: str) -> None:
    launch = stub(tmp_path, job_id, "time.sleep(600)")
    begun = asyncio.Event()

    async def spawn(*argv: str, **options: object) -> object:
        process = await asyncio.create_subprocess_exec(*argv, **options)  # type: ignore[arg-type]
        begun.set()
        await asyncio.sleep(0.05)
        return process

    starting = asyncio.ensure_future(
        CliProcess.start(launch, StubPeer(), lambda _event: None, spawn=spawn)
    )
    await begun.wait()
    starting.cancel()
    with pytest.raises(asyncio.CancelledError):
        await starting
    await asyncio.sleep(0.3)  # the fixture looks whether anything is left


def test_a_loop_that_ends_takes_its_processes_along(tmp_path: Path, job_id: str) -> None:
    child = CHILDREN["in a session of its own"]
    script = f"announce(os.getpid(), {child}.pid); time.sleep(600)"
    launch = stub(tmp_path, job_id, script)

    async def main() -> list[int]:
        _, pids = await running(launch, StubPeer())
        return pids

    pids = asyncio.run(main())
    assert not any(map(is_alive, pids))
