"""Skills: folders with a `SKILL.md` that begins with a name and a description."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import yaml

FILE = "SKILL.md"
FENCE = "---"
READ_AT_MOST = 64 * 1024


def skill_list(home: Path, workspace: Path) -> list[dict[str, Any]]:
    """Every readable skill in the home and in the workspace, in the form `/v1/skills` shows."""
    return [
        {"object": "skill", "source": source, **_described(file)}
        for source, folder in (("home", home / "skills"), ("workspace", workspace / "skills"))
        for file in _skill_files(folder)
    ]


def _skill_files(folder: Path) -> Iterator[Path]:
    return (path for path in sorted(folder.glob(f"*/{FILE}")) if path.is_file())


def _described(file: Path) -> dict[str, str]:
    """Name and description from the front matter; the folder's name where there is none."""
    front = _front_matter(file)
    return {
        "id": file.parent.name,
        "name": str(front.get("name") or file.parent.name),
        "description": str(front.get("description") or ""),
    }


def _front_matter(file: Path) -> dict[str, Any]:
    try:
        with file.open(encoding="utf-8", errors="replace") as opened:
            text = opened.read(READ_AT_MOST)
    except OSError:
        return {}
    fence, _, rest = text.partition("\n")
    if fence.strip() != FENCE:
        return {}
    try:
        front = yaml.safe_load(rest.partition(f"\n{FENCE}")[0])
    except yaml.YAMLError:
        return {}
    return front if isinstance(front, dict) else {}
