"""The doors hold names, constants, one-line methods and seams; what decides lives in hermes/."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.house.sources import ROOT, functions, name_of, parse

# Three steps and a return; a method that needs more is doing the work of a floor below.
_LONGEST_BODY = 4
_LOGIC = (
    ast.For,
    ast.AsyncFor,
    ast.While,
    ast.Try,
    ast.TryStar,
    ast.If,
    ast.Match,
)

ALLOWED: dict[str, str] = {}
"""`path function` → why this one may be longer, or may decide something. Keep it short."""


def doors() -> list[Path]:
    packages = ("gateway", "run_agent", "hermes_state")
    inside = [path for package in packages for path in (ROOT / package).rglob("*.py")]
    bridge = ROOT / "app" / "main.py"
    return sorted(inside) + ([bridge] if bridge.exists() else [])


def findings(tree: ast.Module, where: str) -> Iterator[str]:
    allowed = [function for function in functions(tree) if f"{where} {function.name}" in ALLOWED]
    excused = {node for function in allowed for node in ast.walk(function)}
    for node in ast.walk(tree):
        if node in excused:
            continue
        if isinstance(node, _LOGIC) and not _is_for_type_checkers(node):
            yield f"{where}:{node.lineno} contains a {type(node).__name__.lower()}"
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            count = statements_in(node)
            if count > _LONGEST_BODY:
                yield f"{where}:{node.lineno} {node.name} has {count} statements"


def _is_for_type_checkers(node: ast.stmt | ast.AST) -> bool:
    return isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING"


def statements_in(function: ast.FunctionDef | ast.AsyncFunctionDef) -> int:
    """All statements, nested ones too, without the docstring and plain `self.name = …`."""
    docstring = function.body[0] if ast.get_docstring(function) is not None else None
    inside = [node for statement in function.body for node in ast.walk(statement)]
    return sum(
        isinstance(node, ast.stmt) and node is not docstring and not _sets_own_attribute(node)
        for node in inside
    )


def _sets_own_attribute(statement: ast.stmt) -> bool:
    """Contract objects carry many attributes; filling them in is not logic."""
    if isinstance(statement, ast.Assign):
        targets = statement.targets
    elif isinstance(statement, ast.AnnAssign):
        targets = [statement.target]
    else:
        return False
    return all(
        isinstance(target, ast.Attribute)
        and isinstance(target.value, ast.Name)
        and target.value.id == "self"
        for target in targets
    )


def test_doors_contain_no_logic() -> None:
    found = [finding for path in doors() for finding in findings(parse(path), name_of(path))]

    assert found == [], "move it to the floor below, or name it in ALLOWED with a reason"


def test_every_door_is_there() -> None:
    promised = [
        "app/main.py",
        "gateway/config.py",
        "gateway/platforms/api_server.py",
        "gateway/platforms/base.py",
        "gateway/run.py",
        "gateway/status.py",
        "hermes_state/__init__.py",
        "run_agent/__init__.py",
    ]

    assert [name for name in promised if not (ROOT / name).exists()] == []


def test_everything_that_is_allowed_still_exists() -> None:
    there = {f"{name_of(p)} {function.name}" for p in doors() for function in functions(parse(p))}

    assert set(ALLOWED) <= there


@pytest.mark.parametrize(
    ("source", "finding"),
    [
        ("def f(x):\n    if x: return 1", "door.py:2 contains a if"),
        ("for x in y: pass", "door.py:1 contains a for"),
        ("def f():\n    a()\n    b()\n    c()\n    d()\n    e()", "door.py:1 f has 5 statements"),
    ],
)
def test_logic_in_a_door_is_found(source: str, finding: str) -> None:
    assert list(findings(ast.parse(source), "door.py")) == [finding]


@pytest.mark.parametrize(
    "source",
    [
        "if TYPE_CHECKING:\n    import json",
        "def f():\n    '''Doc.'''\n    a()\n    b()\n    c()\n    return d()",
        "def __init__(self):\n" + "".join(f"    self.a{n}: int = {n}\n" for n in range(9)),
    ],
)
def test_names_constants_and_short_methods_are_welcome(source: str) -> None:
    assert list(findings(ast.parse(source), "door.py")) == []
