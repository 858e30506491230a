"""The values of a run."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hermes.core.runs import CANCEL, DETACH, LONGEST_GRACE, Disconnect

GRACES = st.one_of(
    st.none(), st.integers(0, int(LONGEST_GRACE * 1000)).map(lambda number: number / 1000)
)


@given(GRACES.map(Disconnect))
def test_a_disconnect_policy_reads_back_as_it_is_written(policy: Disconnect) -> None:
    assert Disconnect.parse(str(policy)) == policy


def test_the_names_of_the_policies_are_read_in_any_case() -> None:
    assert Disconnect.parse(" Cancel ") == CANCEL
    assert Disconnect.parse("DETACH") == DETACH
    assert Disconnect.parse("Grace:30") == Disconnect(30.0)


@pytest.mark.parametrize(
    "text",
    ["", "stop", "cancel:", "detach:5", "grace", "grace:"],
)
def test_what_is_no_disconnect_policy_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match="no disconnect policy"):
        Disconnect.parse(text)


@pytest.mark.parametrize(
    "seconds", ["-1", "nan", "inf", "1e3", "86401", "99999999", "\u0663", "1\n2"]
)
def test_a_grace_of_no_sensible_length_is_refused(seconds: str) -> None:
    with pytest.raises(ValueError, match="no disconnect policy"):
        Disconnect.parse(f"grace:{seconds}")
