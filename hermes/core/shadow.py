"""Keeping what files were before a tool changed them, and putting it back.

What tools need of it is a `ChangeRecorder`, what the server needs an `Undoer`; both stand on a
`ShadowStore`. Every call may block.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from enum import Enum
from pathlib import Path
from types import MappingProxyType
from typing import NamedTuple, Protocol

from hermes.core.changes import FileChange, FileState


@dataclass(frozen=True, slots=True)
class Doer:
    """Who changes something."""

    run_id: str | None
    """None: a run that is not kept, or not yet."""
    call_id: str


class Recording(Protocol):
    """One deed under way."""

    @property
    def untracked(self) -> str | None:
        """Why it will not be known what it changed, in words for the user; None: it will."""

    def finish(self) -> tuple[FileChange, ...]:
        """The deed is done: what it changed. Called once, also when the deed has failed."""


class ChangeRecorder(Protocol):
    """When these return, what there is now would survive the death of the machine.

    They never raise: without a recording the work goes on, and the receipt says that there is none.
    """

    def before_file(self, root: Path, path: Path, doer: Doer) -> Recording:
        """A tool is about to write this one file, and perhaps to make folders for it."""

    def before_command(self, root: Path, doer: Doer) -> Recording:
        """A command is about to run, which may change anything below `root`."""


class Fate(Enum):
    """What became of a file when its run was undone."""

    RESTORED = "restored"
    REMOVED = "removed"
    UNCHANGED = "unchanged"
    """It was as before the run already."""
    KEPT = "kept"
    FAILED = "failed"
    """The system would not let us."""


@dataclass(frozen=True, slots=True, kw_only=True)
class FileFate:
    path: str
    fate: Fate
    reason: str | None = None
    """Why it was kept, or failed: `edited_since`, `not_restorable`, `outside` …"""
    run_id: str | None = None
    """The later run that changed it, where that is known."""


class Undoer(Protocol):
    def undo(
        self, run_id: str, root: Path, changes: Sequence[FileChange], *, is_dry: bool
    ) -> list[FileFate]:
        """Put back what `changes` say was before: at most one change for a path.

        With `is_dry` nothing is touched; the answer is the same.
        """

    def undone_at(self, run_id: str) -> float | None:
        """When a run was undone for the last time."""

    def lost(self, changes: Sequence[FileChange]) -> set[str]:
        """The paths whose content from before is not, or no longer, in the store."""

    def settle(self) -> None:
        """For the start: deeds that a dead process left unfinished are compared now."""

    def deeds_of(self, run_id: str) -> dict[str, tuple[str, tuple[FileChange, ...]]]:
        """What is known of the changes of a run, by call: the workspace and the changes."""

    def sweep(self, kept: Callable[[Collection[str]], set[str]], now: float) -> None:
        """Delete what is too old, too much, or of runs that are gone; `kept` says which are not."""


class Stamp(NamedTuple):
    """What the file system says of a file without opening it."""

    mode: int
    """With the type of the file."""
    size: int
    mtime_ns: int
    ctime_ns: int
    inode: int


class Entry(NamedTuple):
    """A file as it was seen."""

    stamp: Stamp
    state: FileState
    read_at_ns: int
    """The clock before its content was read."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Opening:
    """A deed that has begun. It is kept so that a dead process does not take it along."""

    id: str
    doer: Doer
    root: str
    process: int
    before: tuple[tuple[str, FileState | None], ...] | None = None
    """The files it is about; None: all below the root, as the store knows them."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Deed:
    """A change that is kept, and whose it is."""

    doer: Doer
    root: str
    change: FileChange


Contents = Mapping[str, bytes]
"""By their digests."""
NO_CONTENTS: Contents = MappingProxyType({})


class ShadowStore(Protocol):
    """Contents by their digests, and what workspaces looked like last. Raises `HermesError`.

    What is written together with contents refers to them; all of it is there for good when the
    call returns, or nothing.
    """

    def content(self, digest: str) -> bytes | None: ...

    def missing(self, digests: Collection[str]) -> set[str]: ...

    def entries(self, root: str) -> dict[str, Entry]:
        """What is known of the files below `root`, by their paths relative to it."""

    def update(
        self,
        root: str,
        seen: Mapping[str, Entry],
        gone: Collection[str] = (),
        contents: Contents = NO_CONTENTS,
    ) -> None: ...

    def begin(self, opening: Opening, contents: Contents = NO_CONTENTS) -> None: ...

    def finish(
        self, opening_id: str, deeds: Sequence[Deed], contents: Contents = NO_CONTENTS
    ) -> None:
        """The deed is no longer under way; this is what came of it."""

    def openings(self) -> list[Opening]: ...

    def deeds_of(self, run_id: str) -> list[Deed]:
        """In their order."""

    def last_deed(self, path: str) -> Deed | None: ...

    def undone_at(self, run_id: str) -> float | None: ...

    def set_undone(self, run_id: str, at: float) -> None: ...

    def runs(self) -> set[str]:
        """The runs whose deeds it has."""

    def forget(self, run_ids: Collection[str]) -> None: ...

    def sweep(self, now: float) -> None: ...

    def close(self) -> None: ...
