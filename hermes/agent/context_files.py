"""What the workspace tells an agent: its AGENTS.md, and the skills in it and in the home."""

from __future__ import annotations

import logging
import os
import stat
import time
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path

from hermes.fibers import blocking
from hermes.tools.output import cap, printable
from hermes.tools.skills import Skill, SkillShelf

FILE = "AGENTS.md"
MOST_CHARACTERS = 20_000
LOOK_EVERY_SECONDS = 1.0
_MOST_WORKSPACES = 64

log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True, kw_only=True)
class Surroundings:
    instructions: str = ""
    skills: tuple[Skill, ...] = ()


@dataclass(slots=True)
class _Known:
    looked_at: float
    file_state: tuple[int, int, int] | None = None
    surroundings: Surroundings = field(default_factory=Surroundings)


class ContextFiles:
    """Asking costs a look-up. Once a second it is looked whether something has changed, in a
    thread where that is needed; nothing is read again that has not."""

    def __init__(self, skills: SkillShelf | None = None) -> None:
        self._skills = skills
        self._known: dict[Path, _Known] = {}

    def of(self, workspace: Path) -> Surroundings:
        """`workspace` is the real folder, without symlinks."""
        known = self._known.get(workspace)
        now = time.monotonic()
        if known is not None and now - known.looked_at < LOOK_EVERY_SECONDS:
            return known.surroundings
        if known is not None:
            known.looked_at = now  # others go on with what is known while this one looks
        known = blocking(partial(self._look, workspace, known, now))
        if len(self._known) >= _MOST_WORKSPACES:
            self._known.clear()
        self._known[workspace] = known
        return known.surroundings

    def _look(self, workspace: Path, known: _Known | None, now: float) -> _Known:
        file = workspace / FILE
        state = _state_of(file)
        if known is not None and known.file_state == state:
            text = known.surroundings.instructions
        else:
            text = "" if state is None else _read(file, workspace)
        skills = () if self._skills is None else self._skills.usable(workspace)
        return _Known(now, state, Surroundings(instructions=text, skills=skills))


def _state_of(file: Path) -> tuple[int, int, int] | None:
    try:
        status = file.stat()
    except OSError:
        return None
    # Opening a pipe would wait for somebody to write to it.
    return (status.st_mtime_ns, status.st_size, status.st_ino) if _is_file(status) else None


def _is_file(status: os.stat_result) -> bool:
    return stat.S_ISREG(status.st_mode)


def _read(file: Path, workspace: Path) -> str:
    """A link may not lead out of the workspace: whatever is read here goes to the provider."""
    try:
        if not file.resolve(strict=True).is_relative_to(workspace):
            log.warning("%s is left out: it is a link that leads out of the workspace", file)
            return ""
        with file.open("rb") as opened:
            data = opened.read(4 * MOST_CHARACTERS)
    except OSError as error:
        log.warning("%s is left out: %s", file, error.strerror)
        return ""
    return cap(printable(data.decode(errors="replace")).strip(), MOST_CHARACTERS)
