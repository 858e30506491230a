"""The Python in the documents is Python; blocks marked `python test` are run as they stand."""

from __future__ import annotations

import ast
import os
import re
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.house.sources import ROOT, documents, name_of

_BLOCK = re.compile(r"^( *)```python([^\n]*)\n(.*?)^\1```", re.MULTILINE | re.DOTALL)


@dataclass(frozen=True, slots=True)
class Block:
    """One fenced block: where it starts, what the fence says after `python`, and the code."""

    where: str
    info: str
    code: str


def blocks_of(text: str, name: str) -> list[Block]:
    return [
        Block(
            where=f"{name}:{text.count(chr(10), 0, match.start()) + 1}",
            info=match[2].strip(),
            code=re.sub(rf"^{match[1]}", "", match[3], flags=re.MULTILINE),
        )
        for match in _BLOCK.finditer(text)
    ]


def _all_blocks() -> list[Block]:
    return [
        block
        for path in documents()
        if path.exists()
        for block in blocks_of(path.read_text(), name_of(path))
    ]


def problem_in(block: Block) -> str | None:
    """Why the block is not Python; an `await` outside a function is fine in a document."""
    try:
        compile(block.code, block.where, "exec", flags=ast.PyCF_ALLOW_TOP_LEVEL_AWAIT)
    except SyntaxError as error:
        return f"{block.where}: {error.msg}"
    return None


def test_every_python_block_compiles() -> None:
    problems = [problem for block in _all_blocks() if (problem := problem_in(block))]

    assert problems == []


@pytest.mark.parametrize(
    "block",
    [block for block in _all_blocks() if block.info == "test"],
    ids=lambda block: block.where,
)
def test_the_block_runs(block: Block, tmp_path: Path) -> None:
    """In a process and a home of its own, without any key of the developer's."""
    environment = {"PATH": os.environ["PATH"], "HOME": str(tmp_path), "PYTHONPATH": str(ROOT)}
    finished = subprocess.run(
        [sys.executable, "-W", "error", "-c", block.code],
        cwd=tmp_path,
        env=environment | {"HERMES_HOME": str(tmp_path / "home")},
        capture_output=True,
        text=True,
        timeout=50,
    )

    assert finished.returncode == 0, finished.stderr


def test_blocks_are_found_with_their_line_and_marker() -> None:
    text = (
        "one\n\n```python test\nx = 1\n```\n\n- item\n  ```python\n  y = (\n  ```\n```sh\nls\n```\n"
    )
    runnable, broken = blocks_of(text, "page.md")

    assert runnable == Block("page.md:3", "test", "x = 1\n")
    assert problem_in(runnable) is None
    assert (problem_in(broken) or "").startswith("page.md:8: ")
