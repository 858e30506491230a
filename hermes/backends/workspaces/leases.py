"""Folders that only one job at a time may work in. First come, first served."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path


@dataclass(slots=True)
class Lease:
    """The right to work in a folder, until it is given back."""

    _end: Callable[[], None] = field(repr=False)
    is_held: bool = True

    def give_back(self) -> None:
        """More than once is fine."""
        if self.is_held:
            self.is_held = False
            self._end()


@dataclass(slots=True)
class _Turns:
    lock: asyncio.Lock = field(default_factory=asyncio.Lock)
    interested: int = 0
    """Who has the folder or waits for it."""


class Leases:
    """Who may work where. For one event loop."""

    def __init__(self) -> None:
        self._folders: dict[Path, _Turns] = {}

    async def take(self, folder: Path) -> Lease:
        """Wait for the folder; whoever stops waiting loses the place."""
        key = _one_name(folder)
        turns = self._folders.setdefault(key, _Turns())
        turns.interested += 1
        try:
            await turns.lock.acquire()
        except asyncio.CancelledError:
            self._lose_interest(key, turns)
            raise

        def end() -> None:
            turns.lock.release()
            self._lose_interest(key, turns)

        return Lease(end)

    def _lose_interest(self, key: Path, turns: _Turns) -> None:
        turns.interested -= 1
        if not turns.interested:
            del self._folders[key]


def _one_name(folder: Path) -> Path:
    """A folder can be reached by many names, through links."""
    return folder.resolve()
