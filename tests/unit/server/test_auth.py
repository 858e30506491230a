"""The bearer key and the two session headers."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hermes.core.errors import Forbidden, InvalidApiKey, InvalidRequest
from hermes.server.auth import (
    MAX_HEADER_LENGTH,
    SESSION_ID_HEADER,
    SESSION_KEY_HEADER,
    Caller,
    caller_of,
    check_key,
)

KEY = "k-12345678"


@pytest.mark.parametrize("scheme", ["Bearer", "bearer", "BEARER"])
def test_the_right_key_passes_however_the_scheme_is_spelled(scheme: str) -> None:
    check_key({"Authorization": f"{scheme} {KEY}"}, KEY)


def test_without_a_configured_key_everybody_passes() -> None:
    check_key({}, "")
    check_key({"Authorization": "Bearer whatever"}, "")


@given(offered=st.text(st.characters(exclude_categories=())))
def test_no_other_key_passes(offered: str) -> None:
    for value in (offered, f"Bearer {offered}", f"Basic {KEY}", f"Bearer{KEY}"):
        if value != f"Bearer {KEY}":
            with pytest.raises(InvalidApiKey) as refused:
                check_key({"Authorization": value}, KEY)
            assert KEY not in refused.value.message


def test_a_keyed_caller_may_name_a_session_and_a_memory() -> None:
    headers = {SESSION_ID_HEADER: " my session ", SESSION_KEY_HEADER: "ann"}

    assert caller_of(headers, KEY) == Caller(session_id="my session", session_key="ann")
    assert caller_of({}, KEY) == Caller()
    assert caller_of({SESSION_ID_HEADER: "  "}, "") == Caller()


@pytest.mark.parametrize("name", [SESSION_ID_HEADER, SESSION_KEY_HEADER])
def test_an_unknown_caller_may_not(name: str) -> None:
    with pytest.raises(Forbidden, match=f"{name} requires API key"):
        caller_of({name: "ann"}, "")


@pytest.mark.parametrize("name", [SESSION_ID_HEADER, SESSION_KEY_HEADER])
@given(value=st.text(st.characters(exclude_categories=()), min_size=1))
def test_a_header_that_passes_is_safe_to_send_back(name: str, value: str) -> None:
    try:
        caller = caller_of({name: value}, KEY)
    except InvalidRequest as refused:
        assert refused.param == name
        return
    echoed = caller.session_id or caller.session_key or ""
    assert len(echoed) <= MAX_HEADER_LENGTH
    assert echoed.isprintable()
    echoed.encode()
