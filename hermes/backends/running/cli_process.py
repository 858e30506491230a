"""One process of a CLI agent, and our side of the talk with it: pipes, clocks, and its end.

Knows nothing about any CLI (that is the `Peer`'s part) and nothing about who reads: whatever the
process prints is taken at once and told with `emit`, however slow anybody is. For one event loop.
"""

from __future__ import annotations

import asyncio
import signal
import time
from collections.abc import Callable, Iterable, Iterator
from functools import partial
from typing import assert_never

from hermes.backends import saying
from hermes.backends.drivers.base import Peer
from hermes.backends.jobs import Question
from hermes.backends.running import ladder
from hermes.backends.running.alarm import Alarm
from hermes.backends.running.child import Child, Order, Spawn, start_child
from hermes.backends.running.clocks import Clocks, Due
from hermes.backends.running.ladder import Rung
from hermes.backends.running.launch import Launch, job_environment, job_mark
from hermes.backends.running.lines import LineSplitter
from hermes.backends.running.plan_files import write_files
from hermes.backends.running.threads import in_thread
from hermes.backends.saying import Ending, Event, Exit, Step, StopReason

INTERRUPT_SECONDS = 1.0
"""For a CLI to stop by itself when it is told to in its own words."""
RUNGS = (Rung(signal.SIGINT, 1.5), Rung(signal.SIGTERM, 1.5))

Emit = Callable[[Event], None]


class CliProcess:
    """Made by `start`. Ends by itself or by `stop`; `ended` tells when all of it is gone."""

    def __init__(self, launch: Launch, peer: Peer, emit: Emit) -> None:
        self.asked_at: float | None = None
        self.first_line_at: float | None = None
        """Both as `time.monotonic` has it."""
        self._launch = launch
        self._peer = peer
        self._emit = emit
        self._clocks = Clocks(launch.clocks)
        self._alarm = Alarm(self._clocks, self._ring)
        self._lines = LineSplitter(launch.limits.line)
        self._printed = 0
        self._is_deaf = False
        """Whether what it prints is thrown away."""
        self._has_concluded = False
        self._is_let_go = False
        """Whether it was ended because it had nothing more to say."""
        self._stopped: StopReason | None = None
        self._fault: Exception | None = None
        self._must_end: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._child: Child
        self._life: asyncio.Task[Ending]

    @classmethod
    async def start(
        cls, launch: Launch, peer: Peer, emit: Emit, *, spawn: Spawn | None = None
    ) -> CliProcess:
        """Start it and greet it. Raises `CommandMissing` or `CommandFailed`.

        `emit` is called on this loop and should only note what it is told; if it raises, the
        process is ended, and `ended` raises that.
        """
        started = cls(launch, peer, emit)
        files = partial(write_files, launch.plan.files, launch.places)
        await in_thread(files, name="hermes-plan-files")
        order = Order(
            argv=launch.plan.argv,
            cwd=launch.plan.folder or launch.places.workspace,
            environment=job_environment(launch),
            mark=job_mark(launch.mark),
            secrets=launch.secrets,
        )
        started._begin(await start_child(order, spawn=spawn))
        return started

    def _begin(self, child: Child) -> None:
        self._child = child
        child.listen(self._hear)
        child.mute.add_done_callback(lambda _: self._fell_mute())
        self._life = asyncio.ensure_future(self._live())
        self._carry_out(self._peer.greet)

    # --- what others do with it ---------------------------------------------------------------

    def ask(self, question: Question) -> None:
        """The clocks begin to run."""
        self.asked_at = time.monotonic()
        self._clocks.asked(self.asked_at)
        self._carry_out(lambda: self._peer.ask(question))

    def answer(self, question_id: str, *, is_allowed: bool, message: str = "") -> None:
        """Answer a `PermissionAsked`."""
        self._clocks.answered(question_id, time.monotonic())
        self._carry_out(
            lambda: self._peer.answer(question_id, is_allowed=is_allowed, message=message)
        )

    def stop(self, reason: StopReason) -> None:
        """Have it end; returns at once. The first reason counts; one that has exited needs none."""
        if self.is_alive:
            self._stopped = reason
            self._must_end.set_result(None)

    async def ended(self) -> Ending:
        """What came of it, as soon as it and all it started are gone.

        Any number may wait; whoever is cancelled leaves the ending to itself.
        """
        return await asyncio.shield(self._life)

    @property
    def is_alive(self) -> bool:
        """Whether it can still be asked something."""
        return not self._child.exit.done() and not self._must_end.done()

    # --- its life -----------------------------------------------------------------------------

    async def _live(self) -> Ending:
        try:
            await ladder.first_of(self._child.exit, self._must_end)
            if not self._child.exit.done():
                await self._say_goodbye()
            await ladder.end(self._child, RUNGS)
        except asyncio.CancelledError:
            self._child.kill()  # the loop itself is ending: there is no time to be polite
            raise
        finally:
            self._alarm.silence()
        is_whole = self._take_rest()
        if self._fault is not None:
            raise self._fault
        return self._peer.finish(
            Exit(
                # An end that we gave it after its last word says nothing about how it did.
                code=0 if self._is_let_go else ladder.exit_code(self._child),
                stderr=self._child.errors(),
                stopped=self._stopped,
                last_line_is_whole=is_whole,
            )
        )

    async def _say_goodbye(self) -> None:
        """In its own words, where it has any: then its last ones tell what it has used."""
        if self._fault is not None or self._is_let_go:
            return
        is_at_work = self.asked_at is not None and not self._has_concluded
        words = self._peer.interrupt if is_at_work else self._peer.dismiss
        if self._carry_out(words):
            await ladder.has_exited(self._child, INTERRUPT_SECONDS)

    # --- what it says -------------------------------------------------------------------------

    def _hear(self, chunk: bytes) -> None:
        self._printed += len(chunk)
        if self._is_deaf:
            return
        if self._printed > self._launch.limits.total:
            self._is_deaf = True
            self.stop(StopReason.TOO_MUCH)
            # It may have printed this and exited before anybody looked.
            self._stopped = self._stopped or StopReason.TOO_MUCH
            return
        self._carry_out(lambda: self._meaning(self._lines.feed(chunk)))

    def _meaning(self, lines: Iterable[bytes | None]) -> Iterator[Event | Step]:
        for line in lines:
            now = time.monotonic()
            self.first_line_at = self.first_line_at or now
            self._clocks.heard(now)
            if line is None:
                limit = self._launch.limits.line
                yield saying.Told("cli_warning", f"A line of over {limit} bytes was left out.")
            else:
                yield from self._peer.read(line)

    def _take_rest(self) -> bool:
        """Whether there was none: its last line was whole."""
        if self._is_deaf or not self._lines.has_rest:
            return True
        self._carry_out(lambda: self._meaning([self._lines.rest()]))
        return False

    def _fell_mute(self) -> None:
        self._clocks.fell_mute(time.monotonic())
        self._wind()

    def _wind(self) -> None:
        if self.is_alive:
            self._alarm.wind()

    def _carry_out(self, words: Callable[[], Iterable[Event | Step]]) -> bool:
        """Do what the peer says; whether it said anything."""
        has_any = False
        try:
            for word in words():
                has_any = True
                self._do(word)
        except Exception as error:  # noqa: BLE001  (of a driver or a reader; `ended` raises it)
            self._fail(error)
        self._wind()
        return has_any

    def _do(self, word: Event | Step) -> None:
        match word:
            case saying.Write(data):
                self._clocks.sent(time.monotonic())
                self._child.input.write(data)
            case saying.CloseInput():
                self._clocks.sent(time.monotonic())
                self._child.input.finish()
            case saying.PermissionAsked():
                self._clocks.goes_on()
                self._clocks.waits_for_us(word.id)
                self._emit(word)
            case saying.Concluded():
                self._clocks.concluded()
                self._emit(word)
                self._dismiss()
            case saying.Told():
                self._emit(word)
            case (
                saying.Started()
                | saying.Said()
                | saying.MessageEnded()
                | saying.Thought()
                | saying.ToolCalled()
                | saying.ToolAnswered()
            ):
                self._clocks.goes_on()
                self._emit(word)
            case _:
                assert_never(word)

    def _dismiss(self) -> None:
        if not self._has_concluded:
            self._has_concluded = True
            for step in self._peer.dismiss():
                self._do(step)

    def _fail(self, error: Exception) -> None:
        self._is_deaf = True
        self._fault = self._fault or error
        if not self._must_end.done():
            self._must_end.set_result(None)

    def _ring(self, due: Due) -> None:
        if due.reason is not None:
            self.stop(due.reason)
        elif self.is_alive:
            self._is_let_go = True
            self._must_end.set_result(None)
