"""What would become of each file if a run were undone. Looks, and touches nothing."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass

from hermes.core.changes import FileChange, FileState
from hermes.core.shadow import Fate, FileFate, ShadowStore
from hermes.shadow.beneath import NotBeneath, parent_of
from hermes.shadow.contents import look

EDITED = "edited_since"
NOT_RESTORABLE = "not_restorable"
OUTSIDE = "outside"
UNCERTAIN = "uncertain"
NOT_EMPTY = "not_empty"
BLOCKED = "in_the_way"


@dataclass(frozen=True, slots=True)
class Verdict:
    """`path` is relative to the root; `change` says what was before, and what the run left."""

    path: str
    change: FileChange
    fate: Fate
    reason: str | None = None
    run_id: str | None = None

    @property
    def told(self) -> FileFate:
        return FileFate(
            path=self.change.path, fate=self.fate, reason=self.reason, run_id=self.run_id
        )

    @property
    def clears(self) -> bool:
        """Whether what is there has to go before anything else can come."""
        after, before = self.change.after, self.change.before
        if self.fate is Fate.REMOVED:
            return True
        return self.fate is Fate.RESTORED and _kind(after) not in (None, _kind(before))


def current_state(root: str, path: str, change: FileChange | None = None) -> FileState | None:
    """What is there; behind a link there is nothing of ours.

    Nothing larger is read than what `change` is about. Raises `OSError`.
    """
    sizes = () if change is None else (change.before, change.after)
    most = max((state.size for state in sizes if state is not None), default=0)
    try:
        with parent_of(root, path) as folder:
            found = None if folder is None else look(_name(path), most, folder=folder)
    except NotBeneath:
        return None
    return None if found is None else found.entry.state


class Judge:
    """For one undoing."""

    def __init__(self, root: str, store: ShadowStore, run_id: str) -> None:
        self._root = root
        self._store = store
        self._run_id = run_id

    def judge(self, changes: Sequence[FileChange]) -> list[Verdict]:
        """In the order of their paths."""
        first = [self._first(change) for change in changes]
        inside = sorted(
            (each for each in first if each.reason != OUTSIDE), key=lambda each: each.path
        )
        emptied = self._without_full_folders(inside)
        return [each for each in first if each.reason == OUTSIDE] + self._unblocked(emptied)

    def _first(self, change: FileChange) -> Verdict:
        """As far as it can be told without the others."""
        prefix = f"{self._root}/"
        path = change.path.removeprefix(prefix)
        if not change.path.startswith(prefix) or ".." in path.split("/"):
            return Verdict(change.path, change, Fate.KEPT, OUTSIDE)
        try:
            now = current_state(self._root, path, change)
        except OSError as error:
            return Verdict(path, change, Fate.FAILED, error.strerror)
        return self._compared(path, change, now)

    def _compared(self, path: str, change: FileChange, now: FileState | None) -> Verdict:
        before, after = change.before, change.after
        if is_same(now, before):
            return Verdict(path, change, Fate.UNCHANGED)
        if not change.is_sure:
            return Verdict(path, change, Fate.KEPT, UNCERTAIN)
        if after is not None and not after.is_known:
            return Verdict(path, change, Fate.KEPT, NOT_RESTORABLE)
        if not is_same(now, after):
            return Verdict(path, change, Fate.KEPT, EDITED, self._later_run(change, now))
        if before is None:
            return Verdict(path, change, Fate.REMOVED)
        if not self._has(change, before):
            return Verdict(path, change, Fate.KEPT, NOT_RESTORABLE)
        return Verdict(path, change, Fate.RESTORED)

    def _has(self, change: FileChange, before: FileState) -> bool:
        if before.is_folder or (change.after and change.after.digest == before.digest is not None):
            return True  # only the mode has to be put back
        return before.digest is not None and not self._store.missing({before.digest})

    def _later_run(self, change: FileChange, now: FileState | None) -> str | None:
        """The run that left it as it is now."""
        deed = self._store.last_deed(change.path)
        if deed is None or deed.doer.run_id == self._run_id:
            return None
        return deed.doer.run_id if is_same(now, deed.change.after) else None

    def _without_full_folders(self, verdicts: list[Verdict]) -> list[Verdict]:
        """A folder can only go if nothing stays in it."""
        judged: list[Verdict] = []
        cleared: set[str] = set()
        for each in reversed(verdicts):  # what is in a folder comes before the folder
            after = each.change.after
            is_folder = after is not None and after.is_folder
            if each.clears and is_folder and not self._names_in(each.path) <= cleared:
                each = Verdict(each.path, each.change, Fate.KEPT, NOT_EMPTY)
            if each.clears:
                cleared.add(each.path)
            judged.append(each)
        return judged[::-1]

    def _names_in(self, path: str) -> set[str]:
        with parent_of(self._root, f"{path}/.") as folder:
            names = [] if folder is None else os.listdir(folder)  # noqa: PTH208  (a descriptor)
        return {f"{path}/{name}" for name in names}

    def _unblocked(self, verdicts: list[Verdict]) -> list[Verdict]:
        """Nothing can be put into what is no folder, and will be none."""
        judged: dict[str, Verdict] = {}
        for each in verdicts:  # a folder comes before what is in it
            if each.fate is Fate.RESTORED and self._is_blocked(each.path, judged):
                each = Verdict(each.path, each.change, Fate.KEPT, BLOCKED)
            judged[each.path] = each
        return list(judged.values())

    def _is_blocked(self, path: str, judged: dict[str, Verdict]) -> bool:
        parts = path.split("/")[:-1]
        for depth in range(1, len(parts) + 1):
            folder = "/".join(parts[:depth])
            above = judged.get(folder)
            if above is not None and above.fate in (Fate.RESTORED, Fate.REMOVED):
                continue  # what is in the way goes
            now = current_state(self._root, folder)
            if now is not None and not now.is_folder:
                return True
        return False


def is_same(one: FileState | None, other: FileState | None) -> bool:
    """Whether both are surely the same file."""
    return one == other and (one is None or one.is_known)


def _name(path: str) -> str:
    return path.rpartition("/")[2]


def _kind(state: FileState | None) -> str | None:
    if state is None:
        return None
    return "folder" if state.is_folder else "link" if state.is_link else "file"
