"""One process per home folder: a lock that the system releases when its holder dies."""

from __future__ import annotations

import fcntl
import json
import os
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from hermes.core.errors import AlreadyRunning
from hermes.settings.paths import ensure_private_dir


class HomeLock:
    """`with HomeLock(lock_file(home)) as lock: lock.announce(url)`; not for use by several threads.

    The file stays when the lock is released: removing it would let two processes lock two files.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        self._descriptor: int | None = None

    def acquire(self) -> None:
        """Take the lock at once or raise AlreadyRunning, which says who has it."""
        ensure_private_dir(self._path.parent)
        descriptor = os.open(self._path, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW, 0o600)
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            holder = _read_holder(descriptor)
            os.close(descriptor)
            raise AlreadyRunning(self._refusal(holder)) from None
        self._descriptor = descriptor
        self.announce("")

    def announce(self, url: str) -> None:
        """Tell whoever is refused later where this process answers."""
        self._write(json.dumps({"pid": os.getpid(), "url": url}))

    def close(self) -> None:
        """Release the lock; closing twice is fine."""
        if self._descriptor is not None:
            self._write("")
            os.close(self._descriptor)
            self._descriptor = None

    def __enter__(self) -> Self:
        self.acquire()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    def _write(self, text: str) -> None:
        assert self._descriptor is not None, "the lock is not held"
        data = text.encode()
        # In this order a reader finds whole JSON, at worst with a rest behind it.
        os.pwrite(self._descriptor, data, 0)
        os.ftruncate(self._descriptor, len(data))

    def _refusal(self, holder: dict[str, Any]) -> str:
        process = f"process {holder['pid']}" if "pid" in holder else "another process"
        place = f" at {holder['url']}" if holder.get("url") else ""
        return (
            f"{self._path.parent} is already served by {process}{place}; "
            "stop it or choose another HERMES_HOME"
        )


def announced_url(path: Path) -> str:
    """Where the process that holds the lock answers; empty when nobody says so."""
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW)
    except OSError:
        return ""
    try:
        return str(_read_holder(descriptor).get("url", ""))
    finally:
        os.close(descriptor)


def _read_holder(descriptor: int) -> dict[str, Any]:
    """Who holds the lock, as far as the file says so: it may be caught between two writes."""
    text = os.pread(descriptor, 4096, 0).decode(errors="replace")
    try:
        holder, _ = json.JSONDecoder().raw_decode(text)
    except ValueError:
        return {}
    return holder if isinstance(holder, dict) else {}
