"""`make shape`: the longest files and functions, typical lengths, and the floors.

A report, not a gate: read it before you stop working, and split what has grown two jobs.
"""

from __future__ import annotations

import ast
import statistics
import sys
import tomllib
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from tests.house.sources import ROOT, functions, name_of, package_files

_SHOWN = 10


@dataclass(frozen=True, slots=True)
class Length:
    """How many lines something has; for a function without its decorators."""

    lines: int
    name: str


def file_lengths(paths: Sequence[Path]) -> list[Length]:
    """The files that say anything; empty `__init__.py` files would only flatter the median."""
    counted = (Length(len(path.read_text().splitlines()), name_of(path)) for path in paths)
    return [length for length in counted if length.lines]


def function_lengths(source: str, where: str) -> list[Length]:
    return [
        Length(
            _last_line(function) - function.lineno + 1, f"{where}:{function.lineno} {function.name}"
        )
        for function in functions(ast.parse(source))
    ]


def _last_line(node: ast.FunctionDef | ast.AsyncFunctionDef) -> int:
    return node.end_lineno or node.lineno


def floors() -> list[str]:
    """The rows of the import contract, top floor first; siblings share a row."""
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text())
    contracts = settings["tool"]["importlinter"]["contracts"]
    return [row for contract in contracts for row in contract.get("layers", [])]


def report() -> str:
    files = file_lengths(package_files())
    bodies = [
        length
        for path in package_files()
        for length in function_lengths(path.read_text(), name_of(path))
    ]
    return "\n\n".join(
        [
            _block("files", files),
            _block("functions", bodies),
            "\n".join(["floors (imports only go down)", *(f"  {row}" for row in floors())]),
        ]
    )


def _block(title: str, lengths: Sequence[Length]) -> str:
    ordered = sorted(lengths, key=lambda length: (-length.lines, length.name))
    counts = [length.lines for length in ordered]
    nine_in_ten = statistics.quantiles(counts, n=10)[-1] if len(counts) > 1 else sum(counts)
    median = statistics.median(counts or [0])
    typical = f"median {median:.0f}, nine in ten up to {nine_in_ten:.0f}"
    summary = f"{len(counts)} {title}, {sum(counts)} lines; {typical}; the longest:"
    return "\n".join([summary, *(f"  {one.lines:5d}  {one.name}" for one in ordered[:_SHOWN])])


def main() -> None:
    sys.stdout.write(report() + "\n")


if __name__ == "__main__":
    main()
