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
from hermes.settings.model import NamedKey

KEY = "k-12345678"
KEYS = (NamedKey(name="laptop", key="k-laptop"), NamedKey(name="phone", key="k-phone"))


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


@pytest.mark.parametrize(
    ("offered", "owner"), [(KEY, "default"), ("k-laptop", "laptop"), ("k-phone", "phone")]
)
def test_each_of_several_keys_passes_under_its_name(offered: str, owner: str) -> None:
    headers = {"Authorization": f"Bearer {offered}", SESSION_KEY_HEADER: "ann"}

    assert check_key(headers, KEY, KEYS) == owner
    assert caller_of(headers, KEY, KEYS) == Caller(session_key="ann", owner=owner)


@pytest.mark.parametrize("offered", ["", "k-lap", "k-laptop k-phone", KEY])
def test_without_a_main_key_only_the_named_ones_pass(offered: str) -> None:
    with pytest.raises(InvalidApiKey):
        check_key({"Authorization": f"Bearer {offered}"}, "", KEYS)
    assert check_key({"Authorization": "Bearer k-phone"}, "", KEYS) == "phone"


def test_a_caller_without_a_key_is_called_local() -> None:
    assert check_key({"Authorization": "Bearer k-phone"}, "") == caller_of({}, "").owner == "local"


def test_a_keyed_caller_may_name_a_session_and_a_memory() -> None:
    headers = {SESSION_ID_HEADER: " my session ", SESSION_KEY_HEADER: "ann"}

    assert caller_of(headers, KEY) == Caller(
        session_id="my session", session_key="ann", owner="default"
    )
    assert caller_of({}, KEY) == Caller(owner="default")
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
