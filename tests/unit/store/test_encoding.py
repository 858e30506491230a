"""Any text and any JSON comes back from SQLite exactly as it went in."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hermes.store.encoding import bind, from_json, plain, to_json

texts = st.text(st.characters(exclude_categories=()))
json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | texts,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(texts, inner, max_size=4),
    max_leaves=12,
)


def through_sqlite(value: str | None) -> Any:
    with closing(sqlite3.connect(":memory:")) as connection:
        connection.row_factory = sqlite3.Row
        return plain(connection.execute("SELECT :value AS value", bind(value=value)).fetchone())


@given(text=texts)
def test_every_text_comes_back_as_it_was(text: str) -> None:
    assert through_sqlite(text) == {"value": text}


@given(value=json_values)
def test_every_json_value_comes_back_as_it_was(value: Any) -> None:
    assert from_json(through_sqlite(to_json(value))["value"]) == value


@pytest.mark.parametrize("text", ["\x00", "a\x00b", "\ud800", "\udcff", "\ud83d\ude00", "😀", "é"])
def test_text_that_often_breaks_stores_comes_back_as_it_was(text: str) -> None:
    assert through_sqlite(text) == {"value": text}
    assert from_json(through_sqlite(to_json([text]))["value"]) == [text]


def test_a_missing_value_stays_missing() -> None:
    assert through_sqlite(None) == {"value": None}


def test_ordinary_text_is_stored_as_text_so_that_it_can_be_searched() -> None:
    assert bind(text="naïve", number=1) == {"text": "naïve", "number": 1}


def test_what_is_not_json_is_refused() -> None:
    with pytest.raises(TypeError):
        to_json({"when": object()})
