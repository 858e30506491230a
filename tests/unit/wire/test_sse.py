"""Frames survive any content, and no content survives as a frame."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hermes.wire.sse import DONE, KEEPALIVE, frame
from tests.unit.wire.sse_reader import Received, read

nasty = st.text(st.sampled_from("\r\n :daté\u2028\x85\x00ev[]"), max_size=20) | st.text()


def test_a_frame_is_one_data_line_and_a_blank_one():
    assert frame('{"a": 1}') == b'data: {"a": 1}\n\n'
    assert frame(b"{}", "run.started") == b"event: run.started\ndata: {}\n\n"


def test_a_keepalive_is_a_comment_no_reader_dispatches():
    assert read(KEEPALIVE) == []


def test_done_is_what_openai_clients_wait_for():
    assert read(DONE) == [Received("message", "[DONE]")]


@given(data=nasty, event=st.none() | nasty)
def test_any_content_is_exactly_one_event(data: str, event: str | None):
    [received] = read(frame(data, event))
    folded = data.encode(errors="replace").decode()
    assert received.data == re.sub(r"\r\n|\r", "\n", folded)


@given(event=nasty)
def test_an_event_name_cannot_add_fields(event: str):
    lines = frame("x", event).decode().split("\n")
    assert [line.partition(":")[0] for line in lines] == ["event", "data", "", ""]


@given(event_id=nasty)
def test_an_id_cannot_add_fields(event_id: str):
    lines = frame("x", "name", event_id).decode().split("\n")
    assert [line.partition(":")[0] for line in lines] == ["id", "event", "data", "", ""]


@given(contents=st.lists(nasty, max_size=4))
def test_frames_one_after_another_stay_apart(contents: list[str]):
    assert len(read(b"".join(frame(content) for content in contents))) == len(contents)


@given(data=nasty)
def test_bytes_and_text_give_the_same_frame(data: str):
    encoded = data.encode(errors="replace")
    assert frame(encoded) == frame(encoded.decode())


@pytest.mark.parametrize("data", [b"\xff\xfe", b"a\rb", b"\n\n\n"])
def test_a_frame_never_holds_a_carriage_return(data: bytes):
    assert b"\r" not in frame(data)
