"""The tour and the boundary pages only name files that exist."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests.house.sources import ROOT, name_of, python_files

_NAMED = re.compile(r"`([\w.][\w./-]*(?:\.py|/))`")
_PROMISED = ("index", "tour", "api", "configuration", "dependencies")


def named_files(text: str) -> list[str]:
    """Backticked paths of files (`….py`) and folders (`…/`).

    A file that the reader is to write is called `my_….py`, and is left out.
    """
    return [name for name in _NAMED.findall(text) if not Path(name).name.startswith("my_")]


def exists(name: str) -> bool:
    """A path counts from the root or from hermes/; a bare file name may be any file's."""
    if "/" not in name:
        return any(path.name == name for path in python_files())
    return (ROOT / name).exists() or (ROOT / "hermes" / name).exists()


def _pages() -> list[Path]:
    return [ROOT / "docs" / "tour.md", *sorted((ROOT / "docs" / "boundaries").glob("*.md"))]


@pytest.mark.parametrize("page", _pages(), ids=name_of)
def test_every_file_named_on_the_page_exists(page: Path) -> None:
    missing = [name for name in named_files(page.read_text()) if not exists(name)]

    assert missing == []


def test_the_tour_walks_through_files() -> None:
    assert len(named_files((ROOT / "docs" / "tour.md").read_text())) >= 10


def test_newcomers_find_a_boundary_page() -> None:
    assert list((ROOT / "docs" / "boundaries").glob("*.md"))


@pytest.mark.parametrize("name", _PROMISED)
def test_the_promised_page_is_there(name: str) -> None:
    assert (ROOT / "docs" / f"{name}.md").read_text().startswith("# ")


def test_paths_are_recognised_and_checked() -> None:
    text = "`core/events.py`, `hermes/core/`, `gone.py`, `/v1/runs/`, `my_tool.py`, `a.b`"

    assert named_files(text) == ["core/events.py", "hermes/core/", "gone.py"]
    assert [exists(name) for name in named_files(text)] == [True, True, False]
