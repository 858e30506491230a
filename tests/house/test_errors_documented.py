"""Every error code that a client can receive is described in docs/errors.md."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from hermes.core.errors import ApiError
from hermes.wire import turn_errors
from tests.house.sources import document, package_files, parse


def _family(kind: type[ApiError]) -> Iterator[type[ApiError]]:
    yield kind
    for child in kind.__subclasses__():
        yield from _family(child)


def codes_raised_in(tree: ast.AST) -> set[str]:
    """The literal `code=` of every API error that is made here."""
    kinds = {kind.__name__ for kind in _family(ApiError)}
    return {
        str(keyword.value.value)
        for node in ast.walk(tree)
        if isinstance(node, ast.Call) and ast.unparse(node.func).rsplit(".", 1)[-1] in kinds
        for keyword in node.keywords
        if keyword.arg == "code" and isinstance(keyword.value, ast.Constant)
    }


def test_every_error_code_is_in_the_errors_page() -> None:
    text = document("errors.md")
    codes = {kind.default_code for kind in _family(ApiError)}
    codes.update(code for _, code in turn_errors.KINDS.values())
    codes.update(code for path in package_files() for code in codes_raised_in(parse(path)))

    assert sorted(code for code in codes if f"`{code}`" not in text) == []


def test_a_code_is_found_where_it_is_raised() -> None:
    source = "raise errors.NotFound('gone', code='model_not_found')\nprint(code='other')"

    assert codes_raised_in(ast.parse(source)) == {"model_not_found"}
