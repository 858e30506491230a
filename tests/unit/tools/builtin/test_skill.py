"""`skill` loads instructions and files of a skill, and nothing from outside its folder."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from hermes.tools.base import ToolContext
from hermes.tools.registry import Registry
from hermes.tools.services import Services
from hermes.tools.skills import SkillShelf

Use = Callable[..., str]


def write_skill(folder: Path, text: str) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "SKILL.md").write_text(text)
    return folder


def skill_text(name: str, body: str = "Do it.") -> str:
    return f"---\nname: {name}\ndescription: How to {name}.\n---\n{body}\n"


@pytest.fixture
def home(tmp_path: Path) -> Path:
    return tmp_path / "home"


@pytest.fixture
def use(context: ToolContext, home: Path) -> Use:
    services = Services(skills=SkillShelf(lambda: home))

    def call(**arguments: Any) -> str:
        return Registry.builtin().run("skill", arguments, replace(context, services=services))

    return call


def test_the_body_is_loaded_by_name_whatever_its_case(use: Use, home: Path) -> None:
    write_skill(home / "skills" / "bread", skill_text("Baking bread", "Knead, wait, bake."))
    assert use(name="baking Bread") == "Knead, wait, bake."
    assert use(name="bread") == "Knead, wait, bake."


def test_all_are_listed_without_a_name(use: Use, home: Path) -> None:
    assert use() == "There are no skills here."
    write_skill(home / "skills" / "a", skill_text("bake"))
    write_skill(home / "skills" / "b", skill_text("cook"))
    assert use() == "bake: How to bake.\ncook: How to cook."


def test_a_skill_of_the_workspace_says_where_it_comes_from(use: Use, context: ToolContext) -> None:
    folder = write_skill(context.workspace.root / ".hermes" / "skills" / "ship", skill_text("ship"))
    (folder / "check.sh").write_text("echo ok\n")
    told = use(name="ship")
    assert "came with the workspace" in told
    assert "which `file` reads: check.sh; in the workspace under .hermes/skills/ship" in told


def test_files_are_named_and_read(use: Use, home: Path) -> None:
    folder = write_skill(home / "skills" / "bake", skill_text("bake"))
    (folder / "recipes").mkdir()
    (folder / "recipes" / "rye.md").write_text("Rye and water.\n")
    (folder / ".hidden").write_text("x")
    assert use(name="bake").endswith("[Files of this skill, which `file` reads: recipes/rye.md]")
    assert use(name="bake", file="recipes/rye.md") == "Rye and water.\n"


def test_no_file_outside_is_read_by_any_way(use: Use, home: Path, tmp_path: Path) -> None:
    (tmp_path / "secret.txt").write_text("hush")
    folder = write_skill(home / "skills" / "bake", skill_text("bake"))
    (folder / "link").symlink_to(tmp_path / "secret.txt")
    for path in (
        "../../../secret.txt",
        str(tmp_path / "secret.txt"),
        "link",
        "a\0b",
    ):
        told = use(name="bake", file=path)
        assert "hush" not in told
        assert any(word in told for word in ("outside", "not a usable path"))


@pytest.mark.parametrize(
    ("file", "said"), [("no.md", "does not exist"), ("sub", "is a directory"), ("b.bin", "binary")]
)
def test_what_is_no_text_file_is_explained(use: Use, home: Path, file: str, said: str) -> None:
    folder = write_skill(home / "skills" / "bake", skill_text("bake"))
    (folder / "sub").mkdir()
    (folder / "b.bin").write_bytes(b"\0\1\2")
    assert said in use(name="bake", file=file)


def test_a_long_file_is_cut_and_says_so(use: Use, home: Path) -> None:
    folder = write_skill(home / "skills" / "bake", skill_text("bake"))
    (folder / "long.txt").write_text("x" * 50_000)
    told = use(name="bake", file="long.txt")
    assert told.endswith("[Only the first 40,000 bytes.]")


def test_unknown_and_broken_skills_are_explained(use: Use, home: Path) -> None:
    write_skill(home / "skills" / "bake", skill_text("bake"))
    write_skill(home / "skills" / "torn", "no front matter")
    assert use(name="cook") == "There is no skill 'cook'. Available skills: bake."
    assert "cannot be used: SKILL.md must begin with a front matter" in use(name="torn")


def test_a_skill_that_changes_is_read_again(use: Use, home: Path) -> None:
    folder = write_skill(home / "skills" / "bake", skill_text("bake", "Old."))
    assert use(name="bake") == "Old."
    write_skill(folder, skill_text("bake", "New and longer."))
    assert use(name="bake") == "New and longer."


def test_a_skill_without_a_body_says_so(use: Use, home: Path) -> None:
    write_skill(home / "skills" / "bake", "---\nname: bake\ndescription: x\n---")
    assert use(name="bake") == "This skill has no instructions."


def test_the_tool_is_not_offered_where_there_is_no_home() -> None:
    assert "skill" not in Registry.builtin().usable(Services()).names()
