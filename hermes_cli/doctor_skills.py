"""Examines the skills in the home and in the workspace."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from hermes.tools.skills import FILE, Skill, SkillShelf
from hermes_cli.doctor_finding import Finding, ok, warning

_TITLE = "Skills"


def skills(home: Path, workspace: Path) -> Iterator[Finding]:
    """One finding for those that can be used, and one for each that cannot."""
    found = SkillShelf(lambda: home).everything(workspace.resolve())
    usable = [skill.name for skill in found if skill.problem is None]
    yield ok(_TITLE, ", ".join(usable) or "none yet")
    yield from (_broken(skill) for skill in found if skill.problem is not None)


def _broken(skill: Skill) -> Finding:
    return warning(
        _TITLE,
        f"{skill.id} in the {skill.source} cannot be used: {str(skill.problem).rstrip('.')}",
        f"correct {skill.folder / FILE}, or delete it",
    )
