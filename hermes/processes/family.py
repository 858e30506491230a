"""A process and all that came of it, also what does not want to be found.

There is no such thing in the system short of a container: a child may leave its group and its
session, and its parent may die. So it is looked for in three ways at once: by descent, by session,
and by the mark in its environment. Who left the session, cleared its environment *and* lost its
parent before anybody looked is not found.

Being made the parent of all orphans (`PR_SET_CHILD_SUBREAPER`) would not find those either: it
tells that an orphan is ours, not which job it comes from. And it would leave the orphans of every
other thing the gateway runs to the gateway, which would have to reap them.
"""

from __future__ import annotations

import os
import signal
from collections import defaultdict
from contextlib import suppress

from hermes.processes.ending import POLITE_SECONDS, Swept, sweep
from hermes.processes.marks import Mark, carries
from hermes.processes.table import Process, everybody, is_there, look_at


class Family:
    """Those that come from one process, the leader of a session of its own.

    Everything blocks for some milliseconds; for one thread at a time.
    """

    def __init__(self, leader: int, mark: Mark) -> None:
        self._number = leader
        self._leader = look_at(leader)
        self._entries = frozenset({mark.entry})
        self._seen: dict[int, int] = {}
        """Members by number and birth. One who has been seen does not get lost any more."""
        self._ended: dict[int, int] = {}
        """Whoever was to be ended, likewise."""

    def members(self) -> list[int]:
        """Everybody who is left of it, the leader included."""
        born = 0 if self._leader is None else self._leader.born
        # Nobody is older than the one he comes from; that leaves few to look at closely.
        young = [process for process in everybody() if process.born >= born]
        living = {
            process.pid: process
            for process in young
            if not process.is_over and process.pid != os.getpid()
        }
        is_number_ours = self._is_number_ours(young)
        known = [
            pid
            for pid, process in living.items()
            if self._is_known(process, is_number_ours=is_number_ours)
        ]
        found = _with_descendants(known, living)
        self._seen = {pid: living[pid].born for pid in found}
        return sorted(found)

    def signal_group(self, number: signal.Signals) -> None:
        """Only while the leader was not reaped: later somebody else may have its number."""
        # PermissionError is how some systems say that only a zombie is left in the group.
        with suppress(ProcessLookupError, PermissionError):
            os.killpg(self._number, number)

    def end(self, *, polite_seconds: float = POLITE_SECONDS) -> Swept:
        """End whoever is left."""
        if not is_there():
            self.signal_group(signal.SIGKILL)  # nobody can be looked for: the group must do
            return Swept(0, 0)
        swept = sweep(self._members_to_end, polite_seconds=polite_seconds)
        if self._ended:
            self._reap()
        return swept

    def _members_to_end(self) -> list[int]:
        members = self.members()
        self._ended |= self._seen
        return members

    def _reap(self) -> None:
        """In a container we may be the parent of all orphans, and nobody else waits for them."""
        ours = {process.pid for process in everybody() if self._is_our_orphan(process)}
        for pid in ours - {self._number}:
            with suppress(ChildProcessError):
                os.waitpid(pid, os.WNOHANG)

    def _is_our_orphan(self, process: Process) -> bool:
        was_ended = self._ended.get(process.pid) == process.born
        return was_ended and process.is_over and process.parent == os.getpid()

    def _is_number_ours(self, processes: list[Process]) -> bool:
        """Whether the leader's number still means the leader, or nobody."""
        owner = next((each for each in processes if each.pid == self._number), None)
        return owner is None or (self._leader is not None and owner.born == self._leader.born)

    def _is_known(self, process: Process, *, is_number_ours: bool) -> bool:
        if self._seen.get(process.pid) == process.born:
            return True
        if is_number_ours and process.session == self._number:
            return True
        return carries(process.pid, self._entries)


def _with_descendants(known: list[int], living: dict[int, Process]) -> set[int]:
    children = defaultdict(list)
    for process in living.values():
        children[process.parent].append(process.pid)
    found: set[int] = set()
    left = list(known)
    while left:
        pid = left.pop()
        if pid not in found:
            found.add(pid)
            left.extend(children[pid])
    return found
