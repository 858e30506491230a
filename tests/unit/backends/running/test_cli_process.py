"""A process and the talk with it: what it is given, what is heard of it, how its time runs out."""

from __future__ import annotations

import asyncio
import os
import stat
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from hermes.backends.errors import CommandFailed, CommandMissing
from hermes.backends.jobs import Plan, Question
from hermes.backends.running.cli_process import CliProcess
from hermes.backends.running.launch import OutputLimits
from hermes.backends.saying import (
    Concluded,
    EndKind,
    Event,
    Exit,
    Said,
    StopReason,
    Told,
)
from tests.unit.backends.processes import announced, is_alive
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


async def test_what_it_is_asked_and_what_it_says(tmp_path: Path, job_id: str) -> None:
    script = """
        tell("say " + sys.stdin.read().strip())
        tell("?")
        tell("done")
    """
    process, events = await begin(stub(tmp_path, job_id, script))
    process.ask(Question(text="hello"))
    assert await end_of(process) == ANSWERED
    assert events == [Said("hello"), Told("unknown_line", "?"), Concluded()]
    assert not process.is_alive
    assert process.asked_at is not None and process.first_line_at is not None
    assert process.asked_at <= process.first_line_at


async def test_its_environment_is_what_it_was_given_its_places_and_its_mark(
    tmp_path: Path, job_id: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("API_BEARER_TOKEN", "secret")
    script = "tell(f'say {sorted(os.environ.items())} {os.getcwd()}')"
    launch = stub(tmp_path, job_id, script)
    extra = {"TMPDIR": "/elsewhere", "HERMES_JOB": "forged", "LC_ALL": "C.UTF-8"}
    plan = Plan(argv=launch.plan.argv, environment=extra)
    process, events = await begin(replace(launch, plan=plan))
    process.ask(HI)
    await end_of(process)
    expected = {
        "HERMES_JOB": job_id,
        "HOME": str(launch.places.home),
        "LC_ALL": "C.UTF-8",
        "PATH": launch.environment["PATH"],
        "TMPDIR": "/elsewhere",
    }
    assert events == [Said(f"{sorted(expected.items())} {launch.places.workspace}")]


async def test_it_starts_where_its_plan_says(tmp_path: Path, job_id: str) -> None:
    launch = stub(tmp_path, job_id, "tell(f'say {os.getcwd()}')")
    plan = replace(launch.plan, folder=launch.places.scratch)
    process, events = await begin(replace(launch, plan=plan))
    process.ask(HI)
    await end_of(process)
    assert events == [Said(str(launch.places.scratch))]


async def test_it_inherits_nothing_that_is_open_here(tmp_path: Path, job_id: str) -> None:
    with (tmp_path / "open").open("w") as file:
        os.set_inheritable(file.fileno(), True)
        script = "names = os.listdir('/proc/self/fd'); tell('say ' + ' '.join(sorted(names)))"
        process, events = await begin(stub(tmp_path, job_id, script))
        process.ask(HI)
        await end_of(process)
    assert events == [Said("0 1 2 3")]  # the last one is the folder it looks into


async def test_the_files_of_the_plan_are_there_and_private(tmp_path: Path, job_id: str) -> None:
    launch = stub(tmp_path, job_id, "tell('say ' + open(os.environ['HOME'] + '/a/b').read())")
    path = launch.places.home / "a" / "b"
    plan = Plan(argv=launch.plan.argv, files={path: b"content"})
    for _ in range(2):  # a home may be used again
        process, events = await begin(replace(launch, plan=plan))
        process.ask(HI)
        await end_of(process)
        assert events == [Said("content")]
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert stat.S_IMODE(path.parent.stat().st_mode) == 0o700


async def test_a_link_in_a_used_home_does_not_lead_out_of_it(tmp_path: Path, job_id: str) -> None:
    launch = stub(tmp_path, job_id, "")
    (tmp_path / "outside").mkdir()
    (launch.places.home / "a").symlink_to(tmp_path / "outside")
    plan = Plan(argv=launch.plan.argv, files={launch.places.home / "a" / "b": b"content"})
    with pytest.raises(CommandFailed, match="leads out"):
        await begin(replace(launch, plan=plan))
    assert list((tmp_path / "outside").iterdir()) == []


async def test_a_command_that_is_not_there_is_named(tmp_path: Path, job_id: str) -> None:
    launch = stub(tmp_path, job_id, "", plan=Plan(argv=("no-such-cli",)))
    with pytest.raises(CommandMissing, match="no-such-cli was not found"):
        await begin(launch)


@pytest.mark.parametrize(
    ("argument", "why"), [("x" * 200_000, "Argument list too long"), ("a\0b", "null byte")]
)
async def test_a_command_line_that_no_system_takes_is_an_error(
    tmp_path: Path, job_id: str, argument: str, why: str
) -> None:
    launch = stub(tmp_path, job_id, "", plan=Plan(argv=(sys.executable, argument)))
    with pytest.raises(CommandFailed, match=why):
        await begin(launch)


async def test_a_crash_is_told_with_its_last_words_but_no_secret(
    tmp_path: Path, job_id: str
) -> None:
    peer = StubPeer()
    script = "sys.exit('no good: the key is tops3cret')"
    process, _ = await begin(stub(tmp_path, job_id, script, secrets=("tops3cret",)), peer)
    process.ask(HI)
    assert (await end_of(process)).kind is EndKind.FAILED
    assert peer.exit == Exit(code=1, stderr="no good: the key is ***\n")


async def test_an_answer_to_a_process_that_is_gone_is_dropped(tmp_path: Path, job_id: str) -> None:
    process, _ = await begin(stub(tmp_path, job_id, ""))
    assert await end_of(process) == ANSWERED
    process.ask(HI)
    process.answer("q", is_allowed=True)
    process.stop(StopReason.ASKED)
    assert await end_of(process) == ANSWERED


async def test_a_secret_that_the_cut_goes_through_is_not_shown(tmp_path: Path, job_id: str) -> None:
    secret = "".join(f"secret{number}," for number in range(10))
    peer = StubPeer()
    # However the cut falls, it falls into a secret.
    script = f"sys.stderr.write('{secret}' * 3000 + 'end')"
    process, _ = await begin(stub(tmp_path, job_id, script, secrets=(secret,)), peer)
    await end_of(process)
    assert peer.exit is not None
    assert "secret" not in peer.exit.stderr
    assert peer.exit.stderr.endswith("***end")


async def test_garbage_is_passed_on_as_it_is(tmp_path: Path, job_id: str) -> None:
    peer = StubPeer()
    garbage = bytes(range(256)).replace(b"\n", b"") * 50
    script = f"sys.stdout.buffer.write({garbage!r} + b'\\n\\n\\n')"
    process, _ = await begin(stub(tmp_path, job_id, script), peer)
    process.ask(HI)
    await end_of(process)
    assert peer.lines == [garbage, b"", b""]


async def test_a_last_line_without_an_end_is_read_and_told_apart(
    tmp_path: Path, job_id: str
) -> None:
    peer = StubPeer()
    process, events = await begin(stub(tmp_path, job_id, "sys.stdout.write('say a\\nsay b')"), peer)
    process.ask(HI)
    await end_of(process)
    assert events == [Said("a"), Said("b")]
    assert peer.exit == Exit(code=0, last_line_is_whole=False)


async def test_a_line_of_five_megabytes_arrives_whole(tmp_path: Path, job_id: str) -> None:
    process, events = await begin(stub(tmp_path, job_id, "tell('say ' + 'x' * 5_000_000)"))
    process.ask(HI)
    await end_of(process)
    assert events == [Said("x" * 5_000_000)]


async def test_a_line_over_the_limit_is_left_out_and_the_rest_goes_on(
    tmp_path: Path, job_id: str
) -> None:
    script = "tell('say ' + 'x' * 3_000_000); tell('say after')"
    launch = stub(tmp_path, job_id, script, limits=OutputLimits(line=1_000_000))
    process, events = await begin(launch)
    process.ask(HI)
    assert await end_of(process) == ANSWERED
    assert events == [
        Told("cli_warning", "A line of over 1000000 bytes was left out."),
        Said("after"),
    ]


async def test_a_flood_is_stopped_and_nothing_more_of_it_is_told(
    tmp_path: Path, job_id: str
) -> None:
    peer = StubPeer()
    script = """
        signal.signal(signal.SIGINT, signal.SIG_DFL)
        while True:
            sys.stdout.write("say x" + "\\n")
    """
    launch = stub(tmp_path, job_id, script, limits=OutputLimits(total=200_000))
    process, events = await begin(launch, peer)
    process.ask(HI)
    await end_of(process)
    assert peer.exit is not None and peer.exit.stopped is StopReason.TOO_MUCH
    assert len(events) * len("say x\n") <= 200_000


async def test_too_much_is_too_much_also_of_one_who_is_gone_already(
    tmp_path: Path, job_id: str
) -> None:
    peer = StubPeer()
    launch = stub(tmp_path, job_id, "tell('x' * 500_000)", limits=OutputLimits(total=200_000))
    process, _ = await begin(launch, peer)
    process.ask(HI)
    await end_of(process)
    assert peer.exit is not None and peer.exit.stopped is StopReason.TOO_MUCH


async def test_a_flood_of_errors_holds_up_nothing(tmp_path: Path, job_id: str) -> None:
    peer = StubPeer()
    script = "sys.stderr.write('e' * 3_000_000 + 'the end'); tell('say done')"
    process, events = await begin(stub(tmp_path, job_id, script), peer)
    process.ask(HI)
    assert await end_of(process) == ANSWERED
    assert events == [Said("done")]
    assert peer.exit is not None
    assert peer.exit.stderr == "e" * (64 * 1024 - 7) + "the end"


async def test_a_megabyte_is_out_of_its_hands_at_once_however_busy_we_are(
    tmp_path: Path, job_id: str
) -> None:
    """A CLI that exits without waiting for its pipe to empty loses nothing up to that."""
    script = """
        os.set_blocking(1, False)
        os.write(1, b"say " + b"x" * 1_000_000 + b"\\n")
        os._exit(0)
    """
    process, events = await begin(stub(tmp_path, job_id, script))
    process.ask(HI)
    await end_of(process)
    assert events == [Said("x" * 1_000_000)]


async def test_two_megabytes_are_asked_and_read(tmp_path: Path, job_id: str) -> None:
    process, events = await begin(stub(tmp_path, job_id, "tell(f'say {len(sys.stdin.read())}')"))
    process.ask(Question(text="x" * 2_000_000))
    await end_of(process)
    assert events == [Said("2000001")]


async def test_a_question_that_is_never_read_holds_up_nothing(tmp_path: Path, job_id: str) -> None:
    process, events = await begin(stub(tmp_path, job_id, "tell('say no thanks')"))
    process.ask(Question(text="x" * 2_000_000))
    assert await end_of(process) == ANSWERED
    assert events == [Said("no thanks")]


async def test_a_closed_input_is_no_trouble(tmp_path: Path, job_id: str) -> None:
    script = """
        os.close(0)
        tell("ask q")
        time.sleep(0.1)
        tell("done")
    """
    process, events = await begin(stub(tmp_path, job_id, script), StubPeer(keeps_input_open=True))
    await until(lambda: events)
    process.answer("q", is_allowed=True)
    process.answer("q", is_allowed=True)
    assert await end_of(process) == ANSWERED


async def test_a_permission_is_asked_for_and_given(tmp_path: Path, job_id: str) -> None:
    script = """
        input()
        tell("ask q1")
        tell("say " + input())
    """
    process, events = await begin(stub(tmp_path, job_id, script), StubPeer(keeps_input_open=True))
    process.ask(HI)
    await until(lambda: asked("q1") in events)
    process.answer("q1", is_allowed=False, message="because")
    await end_of(process)
    assert events == [asked("q1"), Said("q1 no because")]


# --- what goes wrong on our side ------------------------------------------------------------------


async def test_a_reader_that_raises_ends_the_process_and_is_heard(
    tmp_path: Path, job_id: str
) -> None:
    def fails(event: Event) -> None:
        raise LookupError(event)

    launch = stub(tmp_path, job_id, "announce(os.getpid()); tell('say x\\nsay y'); time.sleep(600)")
    process = await CliProcess.start(launch, StubPeer(), fails)
    process.ask(HI)
    with pytest.raises(LookupError, match="text='x'"):
        await end_of(process)
    [pid] = await announced(launch.places.workspace / "pids")
    assert not is_alive(pid)


async def test_a_peer_that_raises_ends_the_process_and_is_heard(
    tmp_path: Path, job_id: str
) -> None:
    class Broken(StubPeer):
        def ask(self, question: Question) -> Any:
            raise LookupError(question)

    process, _ = await begin(stub(tmp_path, job_id, "time.sleep(600)"), Broken())
    process.ask(HI)
    with pytest.raises(LookupError):
        await end_of(process)


async def test_who_waits_for_the_end_may_leave(tmp_path: Path, job_id: str) -> None:
    process, _ = await begin(stub(tmp_path, job_id, "tell('say ' + input())"))
    waiter = asyncio.ensure_future(process.ended())
    await asyncio.sleep(0)
    waiter.cancel()
    process.ask(HI)
    assert await end_of(process) == ANSWERED
    assert waiter.cancelled()
