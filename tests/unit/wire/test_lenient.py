"""Fields are read in every form clients send, and refused by name when they make no sense."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from hermes.core.errors import InvalidRequest
from hermes.wire import lenient


@pytest.mark.parametrize(
    ("value", "meaning"),
    [(True, True), (False, False), ("true", True), ("False", False), (" TRUE ", True)],
)
def test_a_boolean_may_be_quoted(value: Any, meaning: bool):
    assert lenient.boolean({"stream": value}, "stream", not meaning) is meaning


@pytest.mark.parametrize("body", [{}, {"x": None}])
def test_null_means_absent(body: dict[str, Any]):
    assert lenient.boolean(body, "x", True) is True
    assert lenient.text(body, "x") is None
    assert lenient.integer(body, "x", low=0) is None
    assert lenient.number(body, "x", low=0, high=1) is None
    assert lenient.mapping(body, "x") is None
    assert lenient.string_map(body, "x") == {}
    assert lenient.choice(body, "x", ("a", "b"), "b") == "b"


def test_proper_values_are_read_as_they_are():
    body = {"t": "text", "i": 3, "f": 4.0, "n": 1, "m": {"k": "v"}, "c": "a"}
    assert lenient.text(body, "t") == "text"
    assert lenient.integer(body, "i", low=1, high=3) == 3
    assert lenient.integer(body, "f", low=1) == 4
    assert isinstance(lenient.number(body, "n", low=0, high=1), float)
    assert lenient.mapping(body, "m") == lenient.string_map(body, "m") == {"k": "v"}
    assert lenient.choice(body, "c", ("a", "b"), "b") == "a"


@pytest.mark.parametrize(
    ("reader", "value"),
    [
        (lambda body: lenient.boolean(body, "x", False), 1),
        (lambda body: lenient.boolean(body, "x", False), "yes"),
        (lambda body: lenient.boolean(body, "x", False), []),
        (lambda body: lenient.text(body, "x"), 1),
        (lambda body: lenient.integer(body, "x", low=0), True),
        (lambda body: lenient.integer(body, "x", low=0), 1.5),
        (lambda body: lenient.integer(body, "x", low=0), "1"),
        (lambda body: lenient.number(body, "x", low=0, high=1), False),
        (lambda body: lenient.number(body, "x", low=0, high=1), "0.5"),
        (lambda body: lenient.mapping(body, "x"), []),
    ],
)
def test_a_wrong_type_is_refused_by_name(reader: Callable[[dict[str, Any]], Any], value: Any):
    with pytest.raises(InvalidRequest) as caught:
        reader({"x": value})
    assert (caught.value.param, caught.value.code) == ("x", "invalid_type")


@pytest.mark.parametrize(
    "reader",
    [
        lambda: lenient.integer({"x": 0}, "x", low=1),
        lambda: lenient.integer({"x": 21}, "x", low=1, high=20),
        lambda: lenient.number({"x": 2.5}, "x", low=0, high=2),
        lambda: lenient.choice({"x": "c"}, "x", ("a", "b"), "a"),
        lambda: lenient.choice({"x": ["a"]}, "x", ("a", "b"), "a"),
        lambda: lenient.choice({"x": {}}, "x", ("a", "b"), "a"),
    ],
)
def test_a_value_outside_the_allowed_ones_is_refused_by_name(reader: Callable[[], Any]):
    with pytest.raises(InvalidRequest) as caught:
        reader()
    assert (caught.value.param, caught.value.code) == ("x", "invalid_value")


def test_metadata_that_is_not_text_is_refused_by_its_key():
    with pytest.raises(InvalidRequest) as caught:
        lenient.string_map({"metadata": {"ok": "yes", "count": 3}}, "metadata")
    assert caught.value.param == "metadata.count"


def test_a_missing_required_text_is_refused_by_name():
    with pytest.raises(InvalidRequest, match=r"'item\.id' is required") as caught:
        lenient.required_text({"id": ""}, "id", param="item.id")
    assert caught.value.param == "item.id"


def test_an_error_quotes_only_a_little_of_the_value():
    assert lenient.shown("x" * 1000) == "'" + "x" * 36 + "..."
    assert lenient.shown({"secret": 1}) == "an object"
    assert lenient.shown([1]) == "a list"
    assert lenient.shown(None) == "null"
    assert lenient.shown("short") == "'short'"
