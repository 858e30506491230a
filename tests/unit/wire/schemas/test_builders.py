"""The words that schemas are written with."""

from __future__ import annotations

from typing import Any

import pytest
from jsonschema import Draft202012Validator

from hermes.wire.schemas import builders as words


@pytest.mark.parametrize(
    ("schema", "fitting", "wrong"),
    [
        (words.string(), ["", "a"], [1, None]),
        (words.string(shortest=1, longest=2), ["a", "ab"], ["", "abc"]),
        (words.string(pattern="^a"), ["ab"], ["ba"]),
        (words.integer(1, 3), [1, 3, 2.0], [0, 4, 1.5, "1"]),
        (words.integer(), [-7], [None]),
        (words.written_integer(1, 3), [1, ""], [0, " ", None]),
        (words.number(0, 1), [0, 0.5], [-0.1, 2]),
        (words.boolean(), [True], ["true", 1]),
        (words.flag(), [True, "false"], ["yes", None]),
        (words.constant(None), [None], [False]),
        (words.one_of("a", "b"), ["a"], ["c", None]),
        (words.or_null(words.integer()), [1, None], ["1"]),
        (words.list_of(words.integer(), fewest=1, most=2), [[1], [1, 2]], [[], [1, 2, 3], ["1"]]),
        (words.map_of(words.string(), most=1), [{}, {"a": "b"}], [{"a": 1}, {"a": "", "b": ""}]),
        (words.record({"a": words.integer()}, {"b": words.string()}), [{"a": 1}], [{}, {"b": ""}]),
        (words.record({"a": words.NULL}), [{"a": None, "more": 1}], [{"more": 1}, []]),
        (words.request({}, {"b": words.string()}), [{}, {"b": None}, {"b": ""}], [{"b": 1}]),
        (words.tagged("x", {}, y=words.integer()), [{"type": "x"}], [{"type": "z"}, {}]),
        (words.ANYTHING, [None, 1, {}], []),
        (words.OBJECT, [{"a": 1}], [[]]),
    ],
)
def test_a_word_allows_what_it_says_and_nothing_else(
    schema: dict[str, Any], fitting: list[Any], wrong: list[Any]
) -> None:
    validator = Draft202012Validator(schema)

    assert [value for value in fitting if not validator.is_valid(value)] == []
    assert [value for value in wrong if validator.is_valid(value)] == []


def test_a_sentence_for_the_reader_changes_nothing_else() -> None:
    plain = words.string()

    assert words.about("A name.", plain) == {"type": "string", "description": "A name."}
    assert "description" not in plain
