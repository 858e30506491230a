"""`Shadow`: records what tools change, and undoes it. The ports are in `hermes.core.shadow`."""

from __future__ import annotations

import logging
import os
import threading
import time
from collections import OrderedDict
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

from hermes.core.changes import FileChange, FileState
from hermes.core.errors import HermesError
from hermes.core.shadow import Doer, Fate, FileFate, Opening, Recording, ShadowStore
from hermes.shadow.contents import Read, look
from hermes.shadow.judging import Judge
from hermes.shadow.putting_back import put_back
from hermes.shadow.recordings import (
    AtWork,
    Tracked,
    Untracked,
    Window,
    deeds_from,
    new_opening,
)
from hermes.shadow.scanning import Limits, TooMuch
from hermes.shadow.snapshots import Snapshots

log = logging.getLogger(__name__)

SWITCHED_OFF = "Receipts are switched off (the operator's setting is receipts.enabled)."
_UNUSABLE = "What files were before could not be kept; the gateway's log says why."
_MOST_WORKSPACES = 16
_LOOK_AGAIN_SECONDS = 60.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Premises:
    """What a shadow needs, asked for when it is used for the first time."""

    open_store: Callable[[], ShadowStore]
    limits: Limits
    is_enabled: bool = True
    excluded: frozenset[str] = frozenset()
    """Folders that are never looked into: our own."""
    has_store: Callable[[], bool] = lambda: True
    """Whether there is anything yet: where nothing was ever changed none is made."""


class Shadow:
    """One per process. Opens its store when it is first needed. Safe from any thread."""

    def __init__(self, premises: Callable[[], Premises]) -> None:
        self._make_premises = premises
        self._lock = threading.Lock()
        self._known: Premises | None = None
        self._opened: ShadowStore | None = None
        self._workspaces: OrderedDict[str, Snapshots] = OrderedDict()
        self._refused: dict[str, tuple[float, str]] = {}
        self._at_work = AtWork()
        self._undoing = threading.Lock()

    # --- what tools use -----------------------------------------------------------------------

    def before_file(self, root: Path, path: Path, doer: Doer) -> Recording:
        if not self._premises().is_enabled:
            return Untracked(SWITCHED_OFF)
        opening, place = new_opening(root, doer), str(path)
        try:
            found = self._look_at((*_missing_folders(place), place))
        except OSError as error:  # the tool will meet the same obstacle, and say so
            return Untracked(str(error))
        before = tuple((each, _state(read)) for each, read in found.items())
        opening = replace(opening, before=before)
        try:
            self._store().begin(opening, _contents(found))
        except (OSError, HermesError):
            log.exception("a file is changed, and what it was is not kept")
        self._at_work.begin_write(place, doer)
        return Tracked(partial(self._finished_file, opening, place))

    def _finished_file(self, opening: Opening, path: str) -> tuple[list[FileChange], str | None]:
        changes: list[FileChange] = []
        found: dict[str, Read | None] = {}
        try:
            found = self._look_at([each for each, _ in opening.before or ()])
            changes = _compared(opening, found)
            self._store().finish(opening.id, deeds_from(opening, changes), _contents(found))
        except (OSError, HermesError):
            log.exception("a change is not in the shadow store")
        finally:
            written = ((each, read and read.entry) for each, read in found.items())
            self._at_work.end_write(path, written)
        return changes, None

    def before_command(self, root: Path, doer: Doer) -> Recording:
        if not self._premises().is_enabled:
            return Untracked(SWITCHED_OFF)
        try:
            return self._begun_command(new_opening(root, doer))
        except TooMuch as much:
            return Untracked(str(much))
        except (OSError, HermesError):
            log.exception("a command runs without a record of what it changes")
            return Untracked(_UNUSABLE)

    def _begun_command(self, opening: Opening) -> Recording:
        self._refuse_again(opening.root)
        snapshots = self._snapshots(opening.root)
        with snapshots.lock:
            try:
                picture = snapshots.take(may_give_up=True)
            except TooMuch as much:
                if much.is_lasting:
                    self._refused[opening.root] = (time.monotonic(), str(much))
                raise
            self._store().begin(opening)
            window = self._at_work.enter(opening, picture)
        return Tracked(partial(self._finished_command, snapshots, window))

    def _finished_command(
        self, snapshots: Snapshots, window: Window
    ) -> tuple[list[FileChange], str | None]:
        opening = window.opening
        try:
            with snapshots.lock:
                changes = self._at_work.judged(window, snapshots.take(may_give_up=False))
                self._store().finish(opening.id, deeds_from(opening, changes))
        except TooMuch as much:
            return [], str(much)
        except (OSError, HermesError):
            log.exception("what a command changed is not recorded")
            return [], _UNUSABLE
        finally:
            self._at_work.leave(window)
        return changes, None

    def _refuse_again(self, root: str) -> None:
        """A workspace that was too large a moment ago is not counted again for every command."""
        at, why = self._refused.get(root, (0.0, ""))
        if why and time.monotonic() - at < _LOOK_AGAIN_SECONDS:
            raise TooMuch(why)
        self._refused.pop(root, None)

    # --- what the server uses -----------------------------------------------------------------

    def undo(
        self, run_id: str, root: Path, changes: Sequence[FileChange], *, is_dry: bool
    ) -> list[FileFate]:
        store = self._store()
        with self._undoing:
            verdicts = Judge(str(root), store, run_id).judge(changes)
            if not is_dry:
                verdicts = put_back(str(root), verdicts, store.content)
                touched = (Fate.RESTORED, Fate.REMOVED)
                found = self._look_at([v.change.path for v in verdicts if v.fate in touched])
                # A command that runs meanwhile has not done this.
                written = ((path, read and read.entry) for path, read in found.items())
                self._at_work.end_write("", written)
                store.set_undone(run_id, time.time())
        return [each.told for each in verdicts]

    def undone_at(self, run_id: str) -> float | None:
        return self._store().undone_at(run_id)

    def lost(self, changes: Sequence[FileChange]) -> set[str]:
        wanted = {each.path: each.before for each in changes if each.before is not None}
        digests = {state.digest for state in wanted.values() if state.digest is not None}
        missing = self._store().missing(digests)
        return {
            path
            for path, state in wanted.items()
            if not state.is_known or (state.digest is not None and state.digest in missing)
        }

    def settle(self) -> None:
        if not self._premises().has_store():
            return
        store = self._store()
        for opening in store.openings():
            if not self._is_at_work(opening):
                store.finish(opening.id, deeds_from(opening, self._left(opening)))

    def _is_at_work(self, opening: Opening) -> bool:
        """Numbers of processes are used again, in containers at once, so ours tells nothing."""
        if opening.process == os.getpid():
            return self._at_work.owns(opening.id)
        return _is_alive(opening.process)

    def _left(self, opening: Opening) -> list[FileChange]:
        """What a deed had changed when its process died, or somebody since."""
        try:
            if opening.before is not None:
                return _compared(opening, self._look_at([each for each, _ in opening.before]))
            snapshots = self._snapshots(opening.root)
            with snapshots.lock:
                window = Window(opening, dict(snapshots.stored()))
                return self._at_work.judged(window, snapshots.take(may_give_up=False))
        except (TooMuch, OSError):
            log.exception("what a dead process changed cannot be told")
            return []

    def deeds_of(self, run_id: str) -> dict[str, tuple[str, tuple[FileChange, ...]]]:
        found: dict[str, tuple[str, tuple[FileChange, ...]]] = {}
        for deed in self._store().deeds_of(run_id):
            _, changes = found.get(deed.doer.call_id, ("", ()))
            found[deed.doer.call_id] = (deed.root, (*changes, deed.change))
        return found

    def sweep(self, kept: Callable[[Collection[str]], set[str]], now: float) -> None:
        if not self._premises().has_store():
            return
        store = self._store()
        runs = store.runs()
        store.forget(runs - kept(runs))
        store.sweep(now)

    def close(self) -> None:
        if self._opened is not None:
            self._opened.close()

    # --- the rest -----------------------------------------------------------------------------

    def _premises(self) -> Premises:
        if self._known is None:
            with self._lock:
                if self._known is None:
                    self._known = self._make_premises()
        return self._known

    def _store(self) -> ShadowStore:
        premises = self._premises()
        if self._opened is None:
            with self._lock:
                if self._opened is None:
                    self._opened = premises.open_store()
        return self._opened

    def _look_at(self, paths: Collection[str]) -> dict[str, Read | None]:
        most = self._premises().limits.max_file_bytes
        return {path: look(path, most) for path in paths}

    def _snapshots(self, root: str) -> Snapshots:
        premises, store = self._premises(), self._store()
        with self._lock:
            if root not in self._workspaces:
                self._workspaces[root] = Snapshots(root, store, premises.limits, premises.excluded)
            self._workspaces.move_to_end(root)
            found = self._workspaces[root]
            while len(self._workspaces) > _MOST_WORKSPACES:
                self._workspaces.popitem(last=False)
        return found


def _compared(opening: Opening, found: Mapping[str, Read | None]) -> list[FileChange]:
    """What has become of the files that a deed is about."""
    return [
        FileChange(path=path, before=before, after=_state(found[path]))
        for path, before in opening.before or ()
        if before != _state(found[path]) or (before is not None and not before.is_known)
    ]


def _missing_folders(path: str) -> list[str]:
    """The folders that will be made for a file, the outermost first."""
    missing = []
    for folder in Path(path).parents:
        if folder.exists():
            break
        missing.append(str(folder))
    return missing[::-1]


def _contents(found: Mapping[str, Read | None]) -> dict[str, bytes]:
    return {
        read.entry.state.digest: read.content
        for read in found.values()
        if read is not None and read.content is not None and read.entry.state.digest is not None
    }


def _state(read: Read | None) -> FileState | None:
    return None if read is None else read.entry.state


def _is_alive(process: int) -> bool:
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        return True
    return True
