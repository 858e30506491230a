"""Type hints become the JSON schema that the model reads."""

from __future__ import annotations

from typing import Annotated, Any, Literal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hermes.tools.arguments import fit_arguments
from hermes.tools.schema import Between, parameters_of, schema_of


def example(
    context: object,
    path: Annotated[str, "Where."],
    count: Annotated[int, "How many.", Between(1, 9)] = 3,
    tags: list[str] | None = None,
    mode: Literal["fast", "slow"] = "fast",
    ratio: float = 0.5,
    deep: bool = False,
) -> str:
    """An example."""
    return ""


def test_a_signature_becomes_an_object_schema_without_the_context() -> None:
    assert parameters_of(example) == {
        "type": "object",
        "properties": {
            "path": {"type": "string", "description": "Where."},
            "count": {
                "type": "integer",
                "description": "How many.",
                "minimum": 1,
                "maximum": 9,
                "default": 3,
            },
            "tags": {
                "anyOf": [{"type": "array", "items": {"type": "string"}}, {"type": "null"}],
                "default": None,
            },
            "mode": {"type": "string", "enum": ["fast", "slow"], "default": "fast"},
            "ratio": {"type": "number", "default": 0.5},
            "deep": {"type": "boolean", "default": False},
        },
        "required": ["path"],
        "additionalProperties": False,
    }


def test_a_literal_of_mixed_types_has_no_type() -> None:
    assert schema_of(Literal[1, "one"]) == {"enum": [1, "one"]}


@pytest.mark.parametrize("hint", [bytes, dict[str, int], list, object])
def test_a_hint_without_a_json_counterpart_is_refused_at_definition(hint: Any) -> None:
    with pytest.raises(TypeError, match="no JSON schema"):
        schema_of(hint)


SCALARS = {
    "path": st.text(),
    "count": st.integers(1, 9),
    "tags": st.none() | st.lists(st.text()),
    "mode": st.sampled_from(["fast", "slow"]),
    "ratio": st.floats(allow_nan=False, allow_infinity=False),
    "deep": st.booleans(),
}


@given(st.fixed_dictionaries(SCALARS))
def test_values_of_the_hinted_types_pass_their_own_schema_unchanged(values: dict[str, Any]) -> None:
    assert fit_arguments("example", values, parameters_of(example)) == values
