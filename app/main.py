"""The door of the bridge: OpenAI's chat completions and jobs, done by the `claude` CLI.

Serve it with `hermes bridge` or `uvicorn app.main:app`. Names only: the work is done in
`hermes.backends.bridge`.
"""

from __future__ import annotations

import asyncio as asyncio
import os
from collections.abc import Awaitable, Callable
from typing import Any

from app import http
from hermes.backends.bridge.running import Seams
from hermes.backends.bridge.service import Bridge
from hermes.backends.bridge.settings import read_token, read_workspace
from hermes.backends.workspaces.reports import SyncReport
from hermes.backends.workspaces.syncing import sync_checkout

API_TOKEN = read_token(os.environ)
"""What callers must send; empty: nobody is let in."""

execution_lock = asyncio.Lock()
"""Held while no further run could begin; whoever holds it makes the bridge answer "busy"."""


async def run_git_sync() -> SyncReport:
    """Bring the workspace up to date; called before every run."""
    return await sync_checkout(read_workspace(os.environ), os.environ)


_ASYNCIOS_OWN = asyncio.create_subprocess_exec


def _spawn() -> Callable[..., Awaitable[Any]] | None:
    """What an embedder put in asyncio's place; None: the runner has a way of its own.

    It passes no descriptors on, whichever event loop there is.
    """
    replaced = asyncio.create_subprocess_exec
    return None if replaced is _ASYNCIOS_OWN else replaced


def _seams() -> Seams:
    """Every name is looked up when it is needed, so that an embedder can replace it."""
    return Seams(
        environ=os.environ,
        token=API_TOKEN,
        lock=execution_lock,
        sync=run_git_sync,
        spawn=_spawn(),
    )


app = http.build(Bridge(_seams))
