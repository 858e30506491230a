"""One process of ours, its pipes and all it has started; what it says is somebody else's business.

Own session, nothing inherited but what the order names, both outputs emptied always.
"""

from __future__ import annotations

import asyncio
import logging
import signal
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Protocol

from hermes.backends.errors import CommandFailed, CommandMissing
from hermes.backends.running.lines import STDERR_TAIL, Tail
from hermes.backends.running.pipes import OUTPUT_PIPE_SIZE, Descriptors, InputPipe, OutputPipe
from hermes.backends.running.spawning import Spawned, spawn_process
from hermes.backends.running.stand_in import StandIn
from hermes.backends.running.threads import in_thread
from hermes.processes.family import Family
from hermes.processes.marks import Mark
from hermes.settings.redaction import Mask

DRAIN_SECONDS = 1.0
"""For the pipes to close once all processes are gone; one that got away may hold them."""

_log = logging.getLogger(__name__)

Spawn = Callable[..., Awaitable[Any]]
"""Called as `asyncio.create_subprocess_exec` is."""
Take = Callable[[bytes], None]


@dataclass(frozen=True, slots=True, kw_only=True)
class Order:
    """What to start."""

    argv: tuple[str, ...]
    cwd: Path
    environment: Mapping[str, str] = field(repr=False)
    """All of it, the mark included."""
    mark: Mark
    secrets: tuple[str, ...] = field(default=(), repr=False)


class Input(Protocol):
    """Where a process reads; nothing here waits or raises."""

    def write(self, data: bytes) -> None: ...
    def finish(self) -> None: ...


class Child(Protocol):
    """A process that was started. Everything here belongs to one event loop."""

    @property
    def input(self) -> Input: ...

    def listen(self, take: Take) -> None:
        """Called once: `take` gets its output from the beginning on, and must not raise."""

    @property
    def exit(self) -> asyncio.Future[int | None]:
        """Done when it has exited itself; what it started may go on."""

    @property
    def mute(self) -> asyncio.Future[None]:
        """Done when its output has ended."""

    def signal(self, number: signal.Signals) -> None:
        """To it and its group; nothing happens once it has exited."""

    async def look_around(self) -> None:
        """Remember who comes from it, before its end makes them orphans."""

    async def clear(self) -> None:
        """After its exit: end what it has left, and take the rest of its output."""

    def kill(self) -> None:
        """End everything at once. Blocks for a moment: for when the loop itself is ending."""

    def errors(self) -> str:
        """The end of its standard error, without secrets."""


async def start_child(order: Order, *, spawn: Spawn | None = None) -> Child:
    """Raises `CommandFailed`. Who is cancelled meanwhile leaves no process behind."""
    opening = asyncio.ensure_future(_open(order, spawn or spawn_process))
    try:
        return await asyncio.shield(opening)
    except asyncio.CancelledError:
        opening.add_done_callback(_kill_unwanted)
        raise


def _kill_unwanted(opening: asyncio.Future[Child]) -> None:
    if not opening.cancelled() and opening.exception() is None:
        opening.result().kill()


async def _open(order: Order, spawn: Spawn) -> Child:
    program = order.argv[0]
    try:
        return await _spawn(order, spawn)
    except FileNotFoundError as error:
        if not order.cwd.is_dir():
            raise CommandMissing(f"{program} has no folder to work in: {order.cwd}") from error
        raise CommandMissing(f"{program} was not found") from error
    except OSError as error:
        raise CommandFailed(f"{program} could not be started: {error.strerror}") from error
    except ValueError as error:  # a NUL in an argument or a variable
        raise CommandFailed(f"{program} could not be started: {error}") from error


async def _spawn(order: Order, spawn: Spawn) -> Child:
    with Descriptors() as descriptors:
        their_input, our_input = descriptors.pipe()
        our_output, their_output = descriptors.pipe(OUTPUT_PIPE_SIZE)
        our_errors, their_errors = descriptors.pipe()
        process = await spawn(
            *order.argv,
            stdin=their_input,
            stdout=their_output,
            stderr=their_errors,
            cwd=order.cwd,
            env=dict(order.environment),
            start_new_session=True,
        )
        # With descriptors of ours, a process has no stream of its own.
        if process.stdout is not None:
            return StandIn(process)
        return RealChild(
            process,
            order,
            input_=InputPipe(descriptors.take(our_input)),
            output=OutputPipe(descriptors.take(our_output)),
            errors=OutputPipe(descriptors.take(our_errors)),
        )


class RealChild:
    """A `Child` that is a process."""

    def __init__(
        self,
        process: asyncio.subprocess.Process | Spawned,
        order: Order,
        *,
        input_: InputPipe,
        output: OutputPipe,
        errors: OutputPipe,
    ) -> None:
        self.input = input_
        self.exit: asyncio.Future[int | None] = asyncio.ensure_future(process.wait())
        self.mute = output.ended
        self._output = output
        self._errors = errors
        self._tail = Tail(STDERR_TAIL)
        self._secrets = order.secrets
        self._family = Family(process.pid, order.mark)
        errors.listen(self._tail.add)

    def listen(self, take: Take) -> None:
        self._output.listen(take)

    def signal(self, number: signal.Signals) -> None:
        if not self.exit.done():
            self._family.signal_group(number)

    async def look_around(self) -> None:
        await in_thread(self._family.members, name="hermes-sweep")

    async def clear(self) -> None:
        swept = await in_thread(self._family.end, name="hermes-sweep")
        if swept.left:
            _log.error("processes could not be ended", extra={"processes": swept.left})
        await asyncio.wait({self._output.ended, self._errors.ended}, timeout=DRAIN_SECONDS)
        self._close()

    def kill(self) -> None:
        self.signal(signal.SIGKILL)
        self._family.end(polite_seconds=0)
        self._close()

    def errors(self) -> str:
        masked = Mask(self._secrets).over(self._tail.text())
        # The cut may have gone through a secret, and what is left of it looks like nothing.
        longest = max(map(len, self._secrets), default=0)
        return masked[longest:] if self._tail.is_cut else masked

    def _close(self) -> None:
        self.input.close()
        self._output.close()
        self._errors.close()
