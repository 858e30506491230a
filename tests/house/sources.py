"""Where the house's own files are: what the house tests and the shape report look at."""

from __future__ import annotations

import ast
import subprocess
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
PACKAGES = ("hermes", "gateway", "run_agent", "hermes_state", "hermes_cli", "app")


def package_files() -> list[Path]:
    """Every Python file that is shipped."""
    return sorted(path for name in PACKAGES for path in (ROOT / name).rglob("*.py"))


def python_files() -> list[Path]:
    """Every Python file of the project: shipped, tests and bench; not what npm brought."""
    beside = [path for name in ("tests", "bench") for path in (ROOT / name).rglob("*.py")]
    return package_files() + sorted(path for path in beside if "node_modules" not in path.parts)


def own_files() -> list[Path]:
    """Every file that is, or is about to be, under version control; nothing that git ignores."""
    listed = subprocess.run(
        ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=True,
    ).stdout
    paths = (ROOT / name for name in listed.split("\0") if name)
    return sorted(path for path in paths if path.is_file())


def documents() -> list[Path]:
    return [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]


def document(name: str) -> str:
    """The text of one page under docs/."""
    return (ROOT / "docs" / name).read_text()


def name_of(path: Path) -> str:
    return path.relative_to(ROOT).as_posix()


def parse(path: Path) -> ast.Module:
    return ast.parse(path.read_text(), filename=str(path))


def functions(tree: ast.AST) -> Iterator[ast.FunctionDef | ast.AsyncFunctionDef]:
    return (
        node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
    )
