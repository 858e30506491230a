"""The doctor names the skills that can be used, and what is wrong with the others."""

from __future__ import annotations

from pathlib import Path

from hermes_cli.doctor_finding import Level
from hermes_cli.doctor_skills import skills


def test_no_skills_are_no_problem(tmp_path: Path) -> None:
    [finding] = skills(tmp_path, tmp_path / "workspace")
    assert (finding.level, finding.detail) == (Level.OK, "none yet")


def test_broken_skills_are_named_with_the_reason_and_the_file(tmp_path: Path) -> None:
    for name, text in (("bake", "---\nname: bake\ndescription: x\n---\n"), ("torn", "torn")):
        (tmp_path / "skills" / name).mkdir(parents=True)
        (tmp_path / "skills" / name / "SKILL.md").write_text(text)

    usable, broken = skills(tmp_path, tmp_path / "workspace")

    assert (usable.level, usable.detail) == (Level.OK, "bake")
    assert broken.level is Level.WARNING
    assert broken.detail.startswith("torn in the home cannot be used: SKILL.md must begin")
    assert str(tmp_path / "skills" / "torn" / "SKILL.md") in broken.fix
