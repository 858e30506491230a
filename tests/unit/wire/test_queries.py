"""Numbers in queries and forms are read exactly, or refused by name."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hermes.core.errors import InvalidRequest
from hermes.wire.queries import whole_number


@given(st.integers(0, 2**60))
def test_a_number_comes_back_as_it_was_written(number: int) -> None:
    assert whole_number({"n": f" {number} "}, "n", 7, low=0, high=2**60) == number


@pytest.mark.parametrize("fields", [{}, {"n": ""}, {"n": "  "}])
def test_nothing_means_the_default(fields: dict[str, str]) -> None:
    assert whole_number(fields, "n", 7, low=10, high=20) == 7


@pytest.mark.parametrize("written", ["9", "21", "-15", "1.5", "1e1", "ten", "٣", "1" * 5000, "+15"])
def test_anything_else_is_refused_by_name(written: str) -> None:
    with pytest.raises(InvalidRequest, match="from 10 to 20") as refusal:
        whole_number({"n": written}, "n", 7, low=10, high=20)
    assert (refusal.value.param, refusal.value.code) == ("n", "invalid_value")
