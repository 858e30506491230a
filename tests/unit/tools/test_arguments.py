"""What a model sends is mended when the meaning is clear, and explained when it is not."""

from __future__ import annotations

import json
from contextlib import suppress
from typing import Annotated, Any, Literal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hermes.tools.arguments import fit_arguments, usage
from hermes.tools.problem import ToolProblem
from hermes.tools.schema import Between, parameters_of


def sample(
    context: object,
    path: str,
    count: Annotated[int, Between(1, 600)] = 1,
    ratio: float = 1.0,
    deep: bool = False,
    tags: list[str] | None = None,
    either: str | int = "",
    mode: Literal["fast", "slow"] = "fast",
) -> str:
    """A sample."""
    return ""


PARAMETERS = parameters_of(sample)


def fit(**arguments: Any) -> dict[str, Any]:
    return fit_arguments("sample", {"path": "p"} | arguments, PARAMETERS)


def problem(arguments: Any) -> str:
    with pytest.raises(ToolProblem) as caught:
        fit_arguments("sample", arguments, PARAMETERS)
    return str(caught.value)


@pytest.mark.parametrize(
    ("sent", "understood"),
    [
        ({"count": "5"}, {"count": 5}),
        ({"count": 5.0}, {"count": 5}),
        ({"ratio": "0.25"}, {"ratio": 0.25}),
        ({"ratio": 2}, {"ratio": 2}),
        ({"deep": "true"}, {"deep": True}),
        ({"deep": "False"}, {"deep": False}),
        ({"path": 7}, {"path": "7"}),
        ({"tags": '["a", "b"]'}, {"tags": ["a", "b"]}),
        ({"tags": None}, {"tags": None}),
        ({"either": 3}, {"either": 3}),
        ({"count": None}, {}),
    ],
)
def test_harmless_slips_are_mended(sent: dict[str, Any], understood: dict[str, Any]) -> None:
    assert fit(**sent) == {"path": "p"} | understood


@pytest.mark.parametrize(
    ("sent", "complaint"),
    [
        ({"count": "five"}, "`count` must be an integer"),
        ({"count": True}, "`count` must be an integer"),
        ({"count": 5.5}, "`count` must be an integer"),
        ({"count": 0}, "`count` must be between 1 and 600"),
        ({"count": "9" * 5000}, "`count` must be an integer"),
        ({"ratio": "nan"}, "`ratio` must be a number"),
        ({"ratio": 10**400}, "`ratio` must be a number"),
        ({"deep": 1}, "`deep` must be true or false"),
        ({"path": {"a": 1}}, "`path` must be a string"),
        ({"tags": "a"}, "`tags` must be array of string | null"),
        ({"mode": "medium"}, '`mode` must be one of "fast" | "slow"'),
        ({"pth": "x"}, "`pth` is not a parameter; did you mean `path`?"),
        ({"zzz": "x"}, "`zzz` is not a parameter."),
    ],
)
def test_a_mistake_is_named_together_with_the_correct_call(
    sent: dict[str, Any], complaint: str
) -> None:
    text = problem({"path": "p"} | sent)
    assert complaint in text
    assert text.endswith("Call it as: " + usage("sample", PARAMETERS))


def test_usage_shows_types_and_defaults() -> None:
    assert usage("sample", PARAMETERS) == (
        "sample(path: string, count: integer = 1, ratio: number = 1.0, deep: boolean = false, "
        'tags: array of string | null = null, either: string | integer = "", '
        'mode: "fast" | "slow" = "fast")'
    )


@pytest.mark.parametrize("arguments", ["", "{}", {}, {"path": None}])
def test_a_missing_argument_is_asked_for(arguments: Any) -> None:
    assert "`path` is required." in problem(arguments)


@pytest.mark.parametrize(
    "arguments",
    ["{", "[1]", "null", '{"path": NaN}', "[" * 100_000, '{"count": ' + "9" * 5000 + "}"],
)
def test_what_is_not_a_json_object_is_refused(arguments: str) -> None:
    assert "sample was not run" in problem(arguments)


def test_raw_line_breaks_inside_strings_are_accepted() -> None:
    assert fit_arguments("sample", '{"path": "a\nb"}', PARAMETERS) == {"path": "a\nb"}


def test_all_mistakes_are_told_at_once() -> None:
    text = problem({"count": "x", "nonsense": 1})
    assert text.count("\n- ") == 3


def test_foreign_schemas_may_allow_unknown_names() -> None:
    assert fit_arguments("open", {"a": 1}, {"type": "object", "properties": {}}) == {"a": 1}


@pytest.mark.parametrize(
    ("schema", "value", "fitted"),
    [
        ({"type": ["string", "null"]}, None, None),
        ({"type": ["integer", "null"]}, "7", 7),
        ({"oneOf": [{"type": "integer"}, {"type": "boolean"}]}, "true", True),
        ({"$ref": "#/$defs/Point"}, {"x": 1}, {"x": 1}),
        (True, [1, "a"], [1, "a"]),
        ({"type": "array", "items": True}, "[1]", [1]),
        ({"type": "array"}, [None], [None]),
        ({"enum": [None, "a"]}, None, None),
        ({"type": 7, "enum": "abc", "minimum": "x"}, 3, 3),
    ],
)
def test_the_many_ways_to_write_a_schema_are_understood(
    schema: Any, value: Any, fitted: Any
) -> None:
    parameters = {"type": "object", "properties": {"it": schema}, "required": ["it"]}

    assert fit_arguments("foreign", {"it": value}, parameters) == {"it": fitted}


def test_a_foreign_schema_still_refuses_what_cannot_be_meant() -> None:
    parameters = {"type": "object", "properties": {"it": {"type": ["integer", "null"]}}}

    with pytest.raises(ToolProblem, match=r"must be integer \| null"):
        fit_arguments("foreign", {"it": "seven"}, parameters)


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=8,
)
NAMES = st.sampled_from(["path", "count", "ratio", "deep", "tags", "either", "mode", "other"])


@given(JSON, JSON, st.none() | st.booleans() | JSON)
def test_whatever_a_stranger_calls_a_schema_never_crashes(
    schema: Any, value: Any, required: Any
) -> None:
    parameters = {"type": "object", "properties": {"it": schema}, "required": required}
    with suppress(ToolProblem):
        fit_arguments("foreign", {"it": value}, parameters)


@given(st.dictionaries(NAMES, JSON))
def test_any_json_is_either_fitted_or_explained(arguments: dict[str, Any]) -> None:
    for form in (arguments, json.dumps(arguments)):
        try:
            fitted = fit_arguments("sample", form, PARAMETERS)
        except ToolProblem as explained:
            assert "Call it as: sample(" in str(explained)
        else:
            assert isinstance(fitted["path"], str)
            assert type(fitted.get("count", 1)) is int
            assert type(fitted.get("deep", False)) is bool
