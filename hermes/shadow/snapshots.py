"""What a workspace looks like, kept up to date by reading only what has changed since."""

from __future__ import annotations

import threading
from collections.abc import Collection, Mapping

from hermes.core.changes import FileChange, FileState
from hermes.core.shadow import Entry, ShadowStore, Stamp
from hermes.shadow.contents import is_settled, read
from hermes.shadow.scanning import Deadline, Limits, scan

_BATCH_BYTES = 16_000_000

Picture = Mapping[str, Entry]
"""The files of a workspace at one moment, by their paths relative to its root."""


class Snapshots:
    """One workspace. `lock` is held by whoever calls."""

    def __init__(
        self, root: str, store: ShadowStore, limits: Limits, excluded: Collection[str]
    ) -> None:
        self.lock = threading.Lock()
        self._root = root
        self._store = store
        self._limits = limits
        self._excluded = excluded
        self._known = store.entries(root)

    def take(self, *, may_give_up: bool) -> Picture:
        """What is there now; every content of it is in the store when this returns.

        Raises `TooMuch`; with `may_give_up` also when it takes too long.
        """
        deadline = Deadline(self._limits.seconds if may_give_up else None)
        found = scan(self._root, self._limits, excluded=self._excluded, deadline=deadline)
        batch = _Batch(self._store, self._root)
        try:
            vanished = {
                path
                for path, stamp in found.items()
                if not self._look(path, stamp, batch, deadline)
            }
        finally:
            # What was read before it took too long need not be read again.
            batch.write()
            self._known.update(batch.seen)
        self._forget((self._known.keys() - found.keys()) | vanished)
        return dict(self._known)

    def stored(self) -> Picture:
        """What was there when it was looked at last, perhaps by a process that is gone."""
        return dict(self._known)

    def _look(self, path: str, stamp: Stamp, batch: _Batch, deadline: Deadline) -> bool:
        """Read what has changed; False when it is gone."""
        known = self._known.get(path)
        if known is not None and known.stamp == stamp and is_settled(known):
            return True
        deadline.check()
        now = read(f"{self._root}/{path}", stamp, self._limits.max_file_bytes)
        if now is None:
            return False
        is_new = known is None or known.state.digest != now.entry.state.digest
        batch.add(path, now.entry, now.content if is_new else None)
        return True

    def _forget(self, gone: Collection[str]) -> None:
        known = [path for path in gone if path in self._known]
        if known:
            self._store.update(self._root, {}, known)
            for path in known:
                del self._known[path]


class _Batch:
    """What is written together."""

    def __init__(self, store: ShadowStore, root: str) -> None:
        self._store = store
        self._root = root
        self._contents: dict[str, bytes] = {}
        self._new: dict[str, Entry] = {}
        self._bytes = 0
        self.seen: dict[str, Entry] = {}

    def add(self, path: str, entry: Entry, content: bytes | None) -> None:
        self._new[path] = entry
        if content is not None and entry.state.digest is not None:
            self._contents[entry.state.digest] = content
            self._bytes += len(content)
        if self._bytes > _BATCH_BYTES:
            self.write()

    def write(self) -> None:
        if not self._new:
            return
        self._store.update(self._root, self._new, contents=self._contents)
        self.seen.update(self._new)
        self._contents, self._new, self._bytes = {}, {}, 0


def differences(root: str, before: Picture, after: Picture) -> list[FileChange]:
    """What has changed between two moments, by path."""
    changed = (path for path in before.keys() | after.keys() if _differs(path, before, after))
    return [
        FileChange(path=f"{root}/{path}", before=_state(before, path), after=_state(after, path))
        for path in sorted(changed)
    ]


def _differs(path: str, before: Picture, after: Picture) -> bool:
    was, now = before.get(path), after.get(path)
    if was is None or now is None:
        return True
    # Of a file whose content is not known the stamp has to tell.
    return was.state != now.state or (not now.state.is_known and was.stamp != now.stamp)


def _state(picture: Picture, path: str) -> FileState | None:
    entry = picture.get(path)
    return None if entry is None else entry.state
