"""Fetches news of remotes: one at a time for each repository, and not again right afterwards."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

from hermes.backends.git import GitFailed, Repository

DEBOUNCE_SECONDS = 15.0


@dataclass(slots=True)
class _Known:
    """The last fetch from one remote."""

    turn: asyncio.Lock = field(default_factory=asyncio.Lock)
    ended_at: float | None = None
    failure: GitFailed | None = None


class Fetches:
    """Shared by all who read the same repositories, on one event loop."""

    def __init__(
        self,
        *,
        debounce_seconds: float = DEBOUNCE_SECONDS,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._debounce_seconds = debounce_seconds
        self._clock = clock
        self._known: dict[tuple[Path, str], _Known] = {}

    async def fetch(self, repository: Repository, remote: str) -> None:
        """Afterwards the repository knows what the remote has. Raises `GitFailed`."""
        came_at = self._clock()
        known = self._known.setdefault((repository.folder.resolve(), remote), _Known())
        async with known.turn:
            if not self._is_fresh(known, came_at):
                known.failure = await self._failure(repository, remote)
                known.ended_at = self._clock()
        if known.failure is not None:
            # A new one for each caller: a trace belongs to whoever raised it.
            raise GitFailed(known.failure.trouble, known.failure.detail)

    def _is_fresh(self, known: _Known, came_at: float) -> bool:
        if known.ended_at is None:
            return False
        if known.failure is not None:
            # Who waited for it meanwhile need not wait for the same failure again.
            return known.ended_at > came_at
        return self._clock() - known.ended_at < self._debounce_seconds or known.ended_at > came_at

    async def _failure(self, repository: Repository, remote: str) -> GitFailed | None:
        try:
            await repository.do(
                *("fetch", "--quiet", "--no-recurse-submodules"),
                # The repository could name another program here.
                "--upload-pack=git-upload-pack",
                *("--", remote),
                seconds=repository.times.fetch,
            )
        except GitFailed as failure:
            return failure
        return None
