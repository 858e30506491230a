"""What is written as TOML is read as what it was."""

from __future__ import annotations

import tomllib

from hypothesis import given
from hypothesis import strategies as st

from hermes.backends.drivers.toml_values import inline

TEXTS = st.text(st.characters(exclude_categories=["Cs"]))
VALUES = st.recursive(
    st.booleans() | st.integers(-(2**63), 2**63 - 1) | TEXTS,
    lambda inner: st.dictionaries(TEXTS, inner, max_size=3),
    max_leaves=8,
)


@given(VALUES)
def test_a_value_survives(value: object) -> None:
    read = tomllib.loads(f"it = {inline(value)}")  # type: ignore[arg-type]
    assert read == {"it": value}


def test_paths_are_names_in_quotes() -> None:
    assert inline({"/a b": "read", ":x": {".": True}}) == '{"/a b"="read",":x"={"."=true}}'
