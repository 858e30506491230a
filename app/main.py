"""The door of the bridge: OpenAI's chat completions answered by the `claude` CLI.

Serve it with `uvicorn app.main:app`. Names only: the work is done in `hermes.backends`.
"""

from __future__ import annotations

import asyncio as asyncio
import os

from app import http
from hermes.backends.bridge import Seams
from hermes.backends.settings import read_workspace
from hermes.backends.workspaces.reports import SyncReport
from hermes.backends.workspaces.syncing import sync_checkout

execution_lock = asyncio.Lock()
"""Held while the CLI runs; whoever holds it makes the bridge answer "busy"."""


async def run_git_sync() -> SyncReport:
    """Bring the workspace up to date; called before every run."""
    return await sync_checkout(read_workspace(os.environ), os.environ)


def _seams() -> Seams:
    return Seams(environ=os.environ, lock=execution_lock, sync=run_git_sync)


app = http.build(_seams)
