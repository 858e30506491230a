"""Carries out what was judged: file after file, each in one step, through opened folders."""

from __future__ import annotations

import os
import stat
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import replace

from hermes.core.changes import FileState
from hermes.core.ids import new_id
from hermes.core.shadow import Fate
from hermes.shadow.beneath import NotBeneath, parent_of
from hermes.shadow.judging import BLOCKED, EDITED, Verdict, current_state, is_same

Content = Callable[[str], bytes | None]
_FOR_OWNER = 0o700


def put_back(root: str, verdicts: Sequence[Verdict], content: Content) -> list[Verdict]:
    """What really became of each file, in the same order."""
    work = _Work(root, content)
    by_path = {each.path: each for each in verdicts}
    upwards = sorted(by_path, reverse=True)
    downwards = sorted(by_path)
    for paths, step in (
        (downwards, work.open_up),
        (upwards, work.clear),
        (downwards, work.restore),
        (upwards, work.close_down),
    ):
        for path in paths:
            by_path[path] = _done(by_path[path], step)
    return [by_path[each.path] for each in verdicts]


def _done(verdict: Verdict, step: Callable[[Verdict], None]) -> Verdict:
    if verdict.fate not in (Fate.RESTORED, Fate.REMOVED):
        return verdict
    try:
        step(verdict)
    except _Edited:
        return replace(verdict, fate=Fate.KEPT, reason=EDITED)
    except NotBeneath:
        return replace(verdict, fate=Fate.KEPT, reason=BLOCKED)
    except OSError as error:
        return replace(verdict, fate=Fate.FAILED, reason=error.strerror or "unknown")
    return verdict


class _Edited(Exception):
    """The file has changed since it was judged."""


class _Work:
    def __init__(self, root: str, content: Content) -> None:
        self._root = root
        self._content = content

    def open_up(self, verdict: Verdict) -> None:
        """A folder that its owner may not write to cannot be put in order; its mode comes last."""
        before, after = verdict.change.before, verdict.change.after
        if before and after and before.is_folder and after.is_folder:
            self._check(verdict)
            self._change_mode(verdict.path, before.mode | _FOR_OWNER)

    def clear(self, verdict: Verdict) -> None:
        if not verdict.clears:
            return
        self._check(verdict)
        with parent_of(self._root, verdict.path) as folder:
            if folder is None:
                return
            name, after = _name(verdict.path), verdict.change.after
            remove = os.rmdir if after is not None and after.is_folder else os.unlink
            remove(name, dir_fd=folder)

    def restore(self, verdict: Verdict) -> None:
        before = verdict.change.before
        if before is None:
            return
        if before.is_folder:
            # By making the folder of something in it: one that is there is left as it is.
            with parent_of(self._root, f"{verdict.path}/.", is_made=True):
                return
        if not verdict.clears:
            self._check(verdict)
        after = verdict.change.after
        if after is None or verdict.clears or after.digest != before.digest:
            self._write(verdict.path, before)
            return
        try:
            self._change_mode(verdict.path, before.mode)
        except PermissionError:  # a file that its owner cannot even open
            self._write(verdict.path, before)

    def close_down(self, verdict: Verdict) -> None:
        before = verdict.change.before
        if before is not None and before.is_folder:
            self._change_mode(verdict.path, before.mode)

    def _check(self, verdict: Verdict) -> None:
        now = current_state(self._root, verdict.path, verdict.change)
        if not is_same(now, verdict.change.after):
            raise _Edited

    def _change_mode(self, path: str, mode: int) -> None:
        with parent_of(self._root, path) as folder:
            if folder is None:
                raise FileNotFoundError
            with _opened(_name(path), folder) as descriptor:
                os.fchmod(descriptor, mode)

    def _write(self, path: str, before: FileState) -> None:
        content = None if before.digest is None else self._content(before.digest)
        if content is None:
            raise OSError(0, "its content is no longer kept")
        with parent_of(self._root, path, is_made=True) as folder:
            assert folder is not None, "it was made"
            draft = new_id(".undo-")
            try:
                if before.is_link:
                    os.symlink(os.fsdecode(content), draft, dir_fd=folder)
                else:
                    _write_file(draft, folder, content, before.mode)
                os.replace(draft, _name(path), src_dir_fd=folder, dst_dir_fd=folder)
            except BaseException:
                with suppress(FileNotFoundError):
                    os.unlink(draft, dir_fd=folder)
                raise
            os.fsync(folder)


class _opened:  # noqa: N801  used like a function
    """A file or folder, which is no link, as a descriptor."""

    def __init__(self, name: str, folder: int) -> None:
        self._descriptor = os.open(
            name, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC, dir_fd=folder
        )

    def __enter__(self) -> int:
        return self._descriptor

    def __exit__(self, *_error: object) -> None:
        os.close(self._descriptor)


def _write_file(name: str, folder: int, content: bytes, mode: int) -> None:
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
    with os.fdopen(os.open(name, flags, 0o600, dir_fd=folder), "wb") as file:
        file.write(content)
        file.flush()
        os.fchmod(file.fileno(), stat.S_IMODE(mode))
        os.fsync(file.fileno())


def _name(path: str) -> str:
    return path.rpartition("/")[2]
