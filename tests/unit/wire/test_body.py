"""What becomes of a request body: an object, or a refusal that says why."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hermes.core.errors import InvalidRequest
from hermes.wire.body import MAX_DEPTH, parse_object

plain_text = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\x00"))
values = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(2**63), 2**64 - 1)
    | st.floats(allow_nan=False, allow_infinity=False)
    | plain_text,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(plain_text, inner, max_size=3),
    max_leaves=10,
)


def refusal(raw: bytes) -> InvalidRequest:
    with pytest.raises(InvalidRequest) as caught:
        parse_object(raw)
    return caught.value


@given(st.dictionaries(plain_text, values, max_size=4))
def test_every_proper_object_comes_through_unchanged(body: dict[str, object]):
    assert parse_object(json.dumps(body, ensure_ascii=False).encode()) == body
    assert parse_object(json.dumps(body).encode()) == body


@pytest.mark.parametrize(
    "raw",
    [
        b"",
        b" \n",
        b"not json",
        b'{"a": 1,}',
        b'{"a": NaN}',
        b'{"a": -Infinity}',
        b'{"a": 1e999}',
        b'{"a": "\xff"}',
        b'{"a": "\xed\xa0\x80"}',
        b'{"a": "\\ud800"}',
        b'{"a": "\x00"}',
        b'{"a": 18446744073709551616}',
        b'{"a": [-9223372036854775809]}',
        b'{"a": ' + b"9" * 5000 + b"}",
        b'{"a": ' + b"[" * 500 + b"]" * 500 + b"}",
        b"[" * 1_000_000,
        b'{"a":' * 100_000,
    ],
)
def test_what_is_not_proper_json_is_called_invalid_json(raw: bytes):
    error = refusal(raw)
    assert error.status == 400
    assert error.code == "invalid_json"
    assert error.message.startswith("Invalid JSON")
    assert len(error.message) < 200


@pytest.mark.parametrize("raw", [b"[]", b'"text"', b"42", b"null", b"true"])
def test_a_body_that_is_no_object_is_refused(raw: bytes):
    assert "must be a JSON object" in refusal(raw).message


def test_nesting_is_allowed_up_to_the_limit():
    inside = MAX_DEPTH - 1
    assert parse_object(b'{"a": ' + b"[" * inside + b"]" * inside + b"}")
    refusal(b'{"a": ' + b"[" * (inside + 1) + b"]" * (inside + 1) + b"}")


def test_a_large_number_written_as_a_float_is_fine():
    assert parse_object(b'{"a": 1e30, "b": 18446744073709551615}') == {"a": 1e30, "b": 2**64 - 1}


def test_a_too_large_integer_deep_down_is_refused_even_in_a_deep_body():
    nested = b"[" * 150 + b"123456789012345678901234567890" + b"]" * 150
    assert "64 bits" in refusal(b'{"a": ' + nested + b"}").message


@pytest.mark.parametrize(
    ("raw", "param"),
    [
        (b'{"input": "a\\u0000b"}', "input"),
        (b'{"messages": [{"role": "user"}, {"content": "\\u0000"}]}', "messages[1].content"),
        (b'{"metadata": {"a\\u0000": 1}}', "metadata"),
        (b'{"\\u0000": 1}', None),
    ],
)
def test_a_nul_character_is_refused_by_its_path(raw: bytes, param: str | None):
    error = refusal(raw)
    assert (error.param, error.code) == (param, "invalid_value")


def test_a_written_out_escape_is_not_a_nul_character():
    assert parse_object(b'{"a": "\\\\u0000"}') == {"a": "\\u0000"}


def test_the_refusal_does_not_carry_the_body_along():
    error = refusal(b'{"secret": "hunter2",')
    assert "hunter2" not in error.message
    assert error.__cause__ is None
    assert error.__suppress_context__
