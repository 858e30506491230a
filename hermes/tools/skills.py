"""Skills: folders with a `SKILL.md` that begins with a name and a description.

Those in the home were put there by the user. Those in the workspace came with it, from whoever
wrote it: they never take the place of one in the home, and nothing outside is read through them.
"""

from __future__ import annotations

import os
import stat
import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Literal

import yaml

from hermes.tools.output import one_line, printable

FILE = "SKILL.md"
FENCE = "---"
READ_AT_MOST = 64 * 1024
LONGEST_NAME = 64
LONGEST_DESCRIPTION = 300
MOST_PER_FOLDER = 200

Source = Literal["home", "workspace"]
_State = tuple[tuple[str, int, int], ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Skill:
    id: str
    """The name of its folder."""
    name: str
    description: str
    """One line of at most `LONGEST_DESCRIPTION` characters."""
    source: Source
    folder: Path
    """Where it really is: symlinks are followed."""
    problem: str | None = None
    """Why it cannot be used, in words for the user."""


class BrokenSkill(ValueError):
    """A `SKILL.md` that cannot be used; the text says why."""


class SkillShelf:
    """The skills of a process. Any thread may call; every call may block.

    Files are read again only when they have changed.
    """

    def __init__(self, home: Callable[[], Path]) -> None:
        self._home = home
        self._lock = threading.Lock()
        self._read: dict[Path, tuple[_State, tuple[Skill, ...]]] = {}

    def everything(self, workspace: Path) -> tuple[Skill, ...]:
        """Also those that cannot be used. `workspace` is the real folder, without symlinks."""
        folders = _folders(self._home(), workspace)
        files = [
            (source, confined_to, file)
            for source, folder, confined_to in folders
            for file in _skill_files(folder)
        ]
        state = tuple(_state(file) for _, _, file in files)
        with self._lock:
            known = self._read.get(workspace)
        if known is not None and known[0] == state:
            return known[1]
        skills = tuple(_with_doubles([_skill(*each) for each in files]))
        with self._lock:
            self._read = {**self._read, workspace: (state, skills)}
        return skills

    def usable(self, workspace: Path) -> tuple[Skill, ...]:
        return tuple(skill for skill in self.everything(workspace) if skill.problem is None)


def body_of(skill: Skill) -> str:
    """What stands behind the front matter. Raises `BrokenSkill` or `OSError`."""
    return _parted(_text(skill.folder / FILE))[1].strip()


def other_files(skill: Skill, most: int) -> list[str]:
    """The files beside its `SKILL.md`, relative to its folder; hidden ones are left out."""
    found: list[str] = []
    for folder, names, files in os.walk(skill.folder):
        names[:] = sorted(name for name in names if not name.startswith("."))
        for name in sorted(files):
            path = str((Path(folder) / name).relative_to(skill.folder))
            if path != FILE and not name.startswith("."):
                found.append(path)
            if len(found) > most:
                return found
    return found


def skill_list(shelf: SkillShelf | None, workspace: Path) -> list[dict[str, Any]]:
    """Every skill in the form `/v1/skills` shows."""
    found = () if shelf is None else shelf.everything(workspace.resolve())
    return [_shown(skill) for skill in found]


def _shown(skill: Skill) -> dict[str, Any]:
    shown = {
        "object": "skill",
        "id": skill.id,
        "name": skill.name,
        "description": skill.description,
        "source": skill.source,
        "available": skill.problem is None,
    }
    return shown if skill.problem is None else {**shown, "problem": skill.problem}


def _folders(home: Path, workspace: Path) -> Iterator[tuple[Source, Path, Path | None]]:
    """Where to look, and the folder that nothing there may lead out of."""
    yield "home", home / "skills", None
    yield "workspace", workspace / "skills", workspace
    yield "workspace", workspace / ".hermes" / "skills", workspace


def _skill_files(folder: Path) -> list[Path]:
    try:
        with os.scandir(folder) as entries:
            names = sorted(entry.name for entry in entries if not entry.name.startswith("."))
    except OSError:
        return []
    files = (folder / name / FILE for name in names[:MOST_PER_FOLDER])
    return [file for file in files if os.path.lexists(file)]


def _state(file: Path) -> tuple[str, int, int]:
    try:
        status = file.stat()
    except OSError:
        return str(file), 0, -1
    return str(file), status.st_mtime_ns, status.st_size


def _skill(source: Source, confined_to: Path | None, file: Path) -> Skill:
    folder = file.parent
    unread = Skill(
        id=printable(folder.name),
        name=_line(folder.name),
        description="",
        source=source,
        folder=folder,
    )
    try:
        real = file.resolve(strict=True)
        if confined_to is not None and not real.is_relative_to(confined_to):
            raise BrokenSkill(f"{FILE} is a link that leads out of the workspace")
        front, _ = _parted(_text(file))
        name, description = _described(front, folder.name)
        return replace(unread, name=name, description=description, folder=real.parent)
    except BrokenSkill as error:
        return replace(unread, problem=f"{error}.")
    except OSError as error:
        reason = error.strerror or type(error).__name__
        return replace(unread, problem=f"{FILE} cannot be read ({reason}).")


def _text(file: Path) -> str:
    # Asked before it is opened: opening a pipe would wait for somebody to write to it.
    if not stat.S_ISREG(file.stat().st_mode):
        raise BrokenSkill(f"{FILE} is not a file")
    with file.open("rb") as opened:
        data = opened.read(READ_AT_MOST + 1)
    if len(data) > READ_AT_MOST:
        raise BrokenSkill(
            f"{FILE} is over {READ_AT_MOST // 1024} kB; put the details in other files beside it"
        )
    try:
        return data.decode()
    except UnicodeDecodeError:
        raise BrokenSkill(f"{FILE} is not UTF-8 text") from None


def _parted(text: str) -> tuple[dict[Any, Any], str]:
    """The front matter and what comes after it."""
    first, _, rest = text.replace("\r\n", "\n").partition("\n")
    head, fence, body = f"\n{rest}".partition(f"\n{FENCE}\n")
    if not fence and rest.endswith(f"\n{FENCE}"):
        head, fence, body = rest.removesuffix(FENCE), FENCE, ""
    if first.strip() != FENCE or not fence:
        raise BrokenSkill(
            f"{FILE} must begin with a front matter: name and description between two lines of "
            f"{FENCE}"
        )
    try:
        front = yaml.safe_load(head)
    except (yaml.YAMLError, RecursionError, ValueError):
        raise BrokenSkill(f"the front matter of {FILE} is not valid YAML") from None
    if not isinstance(front, dict):
        raise BrokenSkill(f"the front matter of {FILE} must have a name and a description")
    return front, body


def _described(front: dict[Any, Any], folder_name: str) -> tuple[str, str]:
    """Name and description. The folder gives the name where the front matter has none."""
    name = _line(str(front.get("name") or folder_name))
    description = front.get("description")
    if len(name) > LONGEST_NAME or not name:
        raise BrokenSkill(f"the name must have 1 to {LONGEST_NAME} characters")
    if not isinstance(description, str) or not description.strip():
        raise BrokenSkill(
            "the front matter has no description: say in a sentence when the skill is to be used"
        )
    return name, _line(description, LONGEST_DESCRIPTION)


def _line(text: str, limit: int = LONGEST_NAME + 1) -> str:
    """One line that can be shown anywhere: it may come from a repository nobody has read."""
    shown = "".join(each if each.isprintable() else " " for each in printable(text))
    return one_line(shown, limit)


def _with_doubles(skills: list[Skill]) -> Iterator[Skill]:
    """Of two skills with one name the first can be used: the home comes before the workspace."""
    taken: dict[str, Skill] = {}
    for skill in skills:
        first = taken.get(skill.name.casefold())
        if skill.problem is None and first is not None:
            yield replace(
                skill, problem=f"the {first.source} has a skill of this name already; rename one."
            )
            continue
        if skill.problem is None:
            taken[skill.name.casefold()] = skill
        yield skill
