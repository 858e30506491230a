"""The words for a disconnect and for a busy session, in headers and bodies."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hermes.core.errors import InvalidRequest
from hermes.core.runs import CANCEL, DETACH, Disconnect, WhenBusy
from hermes.wire.run_policies import (
    DISCONNECT_HEADER,
    WHEN_BUSY_HEADER,
    RunPolicies,
    parse_disconnect,
    parse_when_busy,
    read_policies,
)


@pytest.mark.parametrize(
    ("written", "meant"),
    [
        ("cancel", CANCEL),
        (" Detach ", DETACH),
        ("grace:30", Disconnect(30.0)),
        ("GRACE:0.5", Disconnect(0.5)),
        ("grace:0", CANCEL),
    ],
)
def test_a_disconnect_policy_is_read(written: str, meant: Disconnect) -> None:
    assert parse_disconnect(written, param="disconnect") == meant


@pytest.mark.parametrize(
    "written", ["", "grace", "grace:", "grace:-1", "grace:1e9", "grace:99999", "later", "cancel:1"]
)
def test_what_is_no_disconnect_policy_is_refused_by_name(written: str) -> None:
    with pytest.raises(InvalidRequest) as refused:
        parse_disconnect(written, param=DISCONNECT_HEADER)
    assert (refused.value.param, refused.value.code) == (DISCONNECT_HEADER, "invalid_value")
    assert "grace:<seconds>" in refused.value.message


@pytest.mark.parametrize("value", [1, True, ["cancel"], {"grace": 3}])
def test_a_policy_is_a_string(value: Any) -> None:
    for parse in (parse_disconnect, parse_when_busy):
        with pytest.raises(InvalidRequest) as refused:
            parse(value, param="x")
        assert refused.value.code == "invalid_type"


@given(st.sampled_from(WhenBusy))
def test_every_way_to_meet_a_busy_session_has_its_word(policy: WhenBusy) -> None:
    assert parse_when_busy(policy.value.upper(), param="when_busy") is policy


def test_another_word_for_a_busy_session_is_refused_with_those_that_are_known() -> None:
    with pytest.raises(InvalidRequest) as refused:
        parse_when_busy("wait", param=WHEN_BUSY_HEADER)
    assert "queue, reject, interrupt" in refused.value.message


def test_headers_that_are_not_there_leave_the_policies_to_the_settings() -> None:
    assert read_policies({}) == RunPolicies()
    assert read_policies({DISCONNECT_HEADER: "detach", WHEN_BUSY_HEADER: "reject"}) == RunPolicies(
        disconnect=DETACH, when_busy=WhenBusy.REJECT
    )
