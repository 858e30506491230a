"""Deeds under way: what was before they began, and who else was at work meanwhile."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from hermes.core.changes import FileChange
from hermes.core.ids import new_id
from hermes.core.shadow import Deed, Doer, Entry, Opening
from hermes.shadow.snapshots import Picture, differences


@dataclass(frozen=True, slots=True)
class Untracked:
    """A recording of nothing."""

    untracked: str

    def finish(self) -> tuple[FileChange, ...]:
        return ()


@dataclass(slots=True)
class Tracked:
    """A recording that knows how to end."""

    end: Callable[[], tuple[list[FileChange], str | None]]
    """What was changed, and why that is not known if it is not."""
    untracked: str | None = None

    def finish(self) -> tuple[FileChange, ...]:
        changes, self.untracked = self.end()
        return tuple(changes)


@dataclass(slots=True)
class Window:
    """From the beginning of a command to its end."""

    opening: Opening
    before: dict[str, Entry]
    has_company: bool = False
    """Whether another run worked in the same folder at some time meanwhile."""


@dataclass(slots=True)
class AtWork:
    """The deeds of this process. Any thread may call."""

    _windows: dict[str, Window] = field(default_factory=dict)
    _writing: dict[str, Doer] = field(default_factory=dict)
    """By path."""
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def owns(self, opening_id: str) -> bool:
        with self._lock:
            return opening_id in self._windows

    def enter(self, opening: Opening, before: Picture) -> Window:
        window = Window(opening, dict(before))
        with self._lock:
            for other in self._windows.values():
                if _meet(opening.root, other.opening.root) and _differ(
                    opening.doer, other.opening.doer
                ):
                    other.has_company = window.has_company = True
            self._windows[opening.id] = window
        return window

    def leave(self, window: Window) -> None:
        with self._lock:
            self._windows.pop(window.opening.id, None)

    def judged(self, window: Window, after: Picture) -> list[FileChange]:
        """What the command changed, as far as that can be told."""
        with self._lock:
            doer = window.opening.doer
            others = {path for path, other in self._writing.items() if _differ(doer, other)}
            found = differences(window.opening.root, window.before, after)
            return [
                replace(change, is_sure=False)
                if window.has_company or change.path in others
                else change
                for change in found
            ]

    def begin_write(self, path: str, doer: Doer) -> None:
        with self._lock:
            self._writing[path] = doer

    def end_write(self, path: str, written: Iterable[tuple[str, Entry | None]]) -> None:
        """Whoever runs a command meanwhile has not done this."""
        with self._lock:
            self._writing.pop(path, None)
            for changed, entry in written:
                for window in self._windows.values():
                    _paint(window, changed, entry)


def _paint(window: Window, path: str, entry: Entry | None) -> None:
    prefix = f"{window.opening.root}/"
    if not path.startswith(prefix):
        return
    name = path.removeprefix(prefix)
    if entry is None:
        window.before.pop(name, None)
    else:
        window.before[name] = entry


def _meet(one: str, other: str) -> bool:
    return one == other or one.startswith(f"{other}/") or other.startswith(f"{one}/")


def _differ(one: Doer, other: Doer) -> bool:
    """Whether they may be different runs."""
    return one.run_id is None or one.run_id != other.run_id


def new_opening(root: Path, doer: Doer) -> Opening:
    return Opening(id=new_id("deed_"), doer=doer, root=str(root), process=os.getpid())


def deeds_from(opening: Opening, changes: Sequence[FileChange]) -> list[Deed]:
    return [Deed(doer=opening.doer, root=opening.root, change=change) for change in changes]
