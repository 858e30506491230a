"""How a process is ended: with growing emphasis, and then everything it has left."""

from __future__ import annotations

import asyncio
import signal
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from hermes.backends.running.child import Child

KILL_SECONDS = 1.0
"""For a killed process to vanish; only a hanging kernel call takes longer."""


@dataclass(frozen=True, slots=True)
class Rung:
    """A signal, and how long to wait for what it does."""

    number: signal.Signals
    seconds: float


async def end(child: Child, rungs: Sequence[Rung]) -> None:
    """When this returns the process and all it started are gone, and its output is taken.

    One that has exited by itself is only cleared away. Not to be cancelled.
    """
    if not child.exit.done():
        await _climb(child, rungs)
    await child.clear()


async def _climb(child: Child, rungs: Sequence[Rung]) -> None:
    for rung in (*rungs, Rung(signal.SIGKILL, KILL_SECONDS)):
        await child.look_around()
        child.signal(rung.number)
        if await has_exited(child, rung.seconds):
            return


async def first_of(*futures: asyncio.Future[Any]) -> None:
    """Returns when one of them is done, whatever came of it."""
    await asyncio.wait(futures, return_when=asyncio.FIRST_COMPLETED)


async def has_exited(child: Child, seconds: float) -> bool:
    """Whether it is gone within this time."""
    await asyncio.wait({child.exit}, timeout=seconds)
    return child.exit.done()


def exit_code(child: Child) -> int | None:
    """Of a child that was ended; None: it could not be."""
    return None if child.exit.cancelled() or not child.exit.done() else child.exit.result()
