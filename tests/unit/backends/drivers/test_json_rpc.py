"""JSON-RPC over lines: calls in both directions, and lines that are none."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hermes.backends.drivers.json_rpc import (
    Answered,
    Called,
    Connection,
    Notified,
    Refused,
    Unreadable,
)


def test_an_answer_belongs_to_the_call_with_its_id() -> None:
    connection = Connection()
    calls = [connection.call("first", {}), connection.call("second", {"a": 1})]
    sent = [json.loads(call.data) for call in calls]
    assert sent[1] == {"jsonrpc": "2.0", "id": 2, "method": "second", "params": {"a": 1}}
    assert connection.read(b'{"id":2,"result":{"x":1}}') == Answered("second", {"x": 1})
    assert connection.read(b'{"id":1,"result":null}') == Answered("first", {})


def test_a_call_is_answered_once() -> None:
    connection = Connection()
    connection.call("first", {})
    line = b'{"id":1,"result":{}}'
    assert connection.read(line) == Answered("first", {})
    assert connection.read(line) == Unreadable(line.decode())


def test_an_error_carries_code_words_and_data() -> None:
    connection = Connection()
    connection.call("open", {})
    line = b'{"id":1,"error":{"code":-32000,"message":"no","data":{"x":1}}}'
    assert connection.read(line) == Refused("open", -32000, "no", {"x": 1})


@pytest.mark.parametrize("error", ["3", '"broken"', "{}", "[]"])
def test_an_error_of_any_shape_is_an_error(error: str) -> None:
    connection = Connection()
    connection.call("open", {})
    read = connection.read(f'{{"id":1,"error":{error}}}'.encode())
    assert isinstance(read, Refused)
    assert read.message == "open failed"


def test_calls_of_the_other_side_are_answered_under_its_ids() -> None:
    connection = Connection()
    call = connection.read(b'{"id":"a-0","method":"ask","params":{"x":1}}')
    assert call == Called("a-0", "ask", {"x": 1})
    written = connection.answer("a-0", {"is": "so"})
    assert json.loads(written.data) == {"jsonrpc": "2.0", "id": "a-0", "result": {"is": "so"}}


def test_a_method_that_we_do_not_have_is_refused_by_name() -> None:
    refusal = json.loads(Connection().refuse(Called(0, "fs/read", {})).data)
    assert refusal["id"] == 0
    assert refusal["error"] == {"code": -32601, "message": "The client has no method fs/read"}


def test_without_an_id_it_is_a_notification() -> None:
    connection = Connection()
    assert connection.read(b'{"method":"told","params":[1]}') == Notified("told", {})
    assert connection.read(b'{"id":null,"method":"told"}') == Notified("told", {})


def test_what_is_sent_is_one_line_whatever_the_text_holds() -> None:
    sent = Connection().call("say", {"text": "a\nb\u2028c \ud800 \U0001f600"}).data
    assert sent.count(b"\n") == 1
    assert sent.endswith(b"\n")
    assert json.loads(sent)["params"]["text"] == "a\nb\u2028c ? \U0001f600"


@given(st.binary() | st.recursive(st.none() | st.text(), st.lists).map(lambda v: str(v).encode()))
def test_no_line_makes_it_raise(line: bytes) -> None:
    assert isinstance(Connection().read(line), Unreadable)


def test_json_that_is_nested_too_deeply_is_unreadable() -> None:
    assert isinstance(Connection().read(b"[" * 100_000), Unreadable)
