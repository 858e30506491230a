"""Lets a thread that may block wait for a coroutine, and leave it when nobody waits any more."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine
from typing import Any, TypeVar

from hermes.core.errors import Interrupted
from hermes.core.web import IsStopped

_LOOK_EVERY = 0.1

Result = TypeVar("Result")


def wait_for(work: Coroutine[Any, Any, Result], is_stopped: IsStopped) -> Result:
    """Run it on a loop of its own in this thread. Never on a thread that has a loop already."""
    loop = asyncio.new_event_loop()
    try:
        return loop.run_until_complete(_unless_stopped(work, is_stopped))
    finally:
        loop.run_until_complete(loop.shutdown_asyncgens())
        # Unlike `asyncio.run` this does not wait for a name server that never answers.
        loop.close()


async def _unless_stopped(work: Coroutine[Any, Any, Result], is_stopped: IsStopped) -> Result:
    task = asyncio.ensure_future(work)
    while not is_stopped():
        done, _ = await asyncio.wait({task}, timeout=_LOOK_EVERY)
        if done:
            return task.result()
    task.cancel()
    await asyncio.wait({task})
    raise Interrupted("The turn was stopped.")
