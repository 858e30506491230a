"""Cutting the text out of events that look alike: never another text than parsing would give."""

from __future__ import annotations

import json
from typing import Any

import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hermes.providers import anthropic, chat_completions
from hermes.providers.sse_reader import SseReader
from hermes.providers.text_slot import TRIES, TextSlot

NASTY = ['"', "\\", '","finish_reason":"stop"', "x", "id", 'a"}', "\n", "é", "\u2028"]
written = st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=12)
texts = written | st.sampled_from(NASTY)


def chunk(text: str, **others: Any) -> dict[str, Any]:
    choice = {"index": 0, "delta": {"content": text}, "finish_reason": None}
    return {"id": "x", "object": "chat.completion.chunk", "choices": [choice], **others}


def taught(*events: dict[str, Any]) -> TextSlot:
    slot = TextSlot(chat_completions.text_of)
    for event in events:
        slot.learn(orjson.dumps(event), event)
    return slot


def test_the_text_of_the_next_event_is_read_without_parsing() -> None:
    assert taught(chunk("Hello")).read(orjson.dumps(chunk(" world"))) == " world"


def test_nothing_is_read_before_anything_was_learnt() -> None:
    assert taught().read(orjson.dumps(chunk("Hello"))) is None


@given(texts, texts, st.booleans())
def test_what_is_read_is_what_parsing_would_give(first: str, second: str, escapes: bool) -> None:
    data = json.dumps(chunk(second), ensure_ascii=escapes, separators=(",", ":")).encode()
    read = taught(chunk(first)).read(data)
    assert read in (None, second)


@given(st.lists(texts, min_size=2, max_size=8))
def test_a_whole_stream_says_the_same_either_way(pieces: list[str]) -> None:
    slot, said = TextSlot(chat_completions.text_of), []
    for piece in pieces:
        data = orjson.dumps(chunk(piece))
        text = slot.read(data)
        if text is None:
            slot.learn(data, orjson.loads(data))
        said.append(piece if text is None else text)
    assert said == pieces


@pytest.mark.parametrize(
    "other",
    [
        {**chunk("Hello"), "id": "y"},
        chunk("Hello", usage={"total_tokens": 1}),
        {"choices": []},
        {"error": {"message": "no"}},
        {"id": "x", "choices": [{"index": 0, "delta": {}, "finish_reason": "stop"}]},
    ],
)
def test_an_event_of_another_kind_is_left_to_the_parser(other: dict[str, Any]) -> None:
    assert taught(chunk("Hello")).read(orjson.dumps(other)) is None


def test_a_text_that_stands_elsewhere_too_teaches_nothing() -> None:
    slot = taught(chunk("x"))
    assert slot.read(orjson.dumps(chunk("Hello"))) is None
    event = chunk("Hello")
    slot.learn(orjson.dumps(event), event)
    assert slot.read(orjson.dumps(chunk(" world"))) == " world"


def test_a_server_whose_events_never_repeat_is_given_up_on() -> None:
    slot = TextSlot(chat_completions.text_of)
    for number in range(TRIES):
        event = chunk("x", padding=f"p{number}")
        slot.learn(orjson.dumps(event), event)
    event = chunk("Hello")
    slot.learn(orjson.dumps(event), event)
    assert slot.read(orjson.dumps(chunk(" world"))) is None


def test_chunks_that_bring_more_than_text_are_no_plain_text() -> None:
    call = chunk("x")
    call["choices"][0]["delta"]["tool_calls"] = [{"index": 0}]
    finished = chunk("x")
    finished["choices"][0]["finish_reason"] = "stop"
    assert chat_completions.text_of(call) is None
    assert chat_completions.text_of(finished) is None
    assert chat_completions.text_of(chunk("x", usage={"total_tokens": 1})) is None
    assert chat_completions.text_of({"choices": [chunk("x")["choices"][0]] * 2}) is None


def test_anthropic_text_has_a_place_of_its_own_too() -> None:
    def delta(text: str) -> dict[str, Any]:
        piece = {"type": "text_delta", "text": text}
        return {"type": "content_block_delta", "index": 0, "delta": piece}

    slot = TextSlot(anthropic.text_of)
    slot.learn(orjson.dumps(delta("Hello")), delta("Hello"))
    assert slot.read(orjson.dumps(delta(" world"))) == " world"


def stream_of(*events: dict[str, Any]) -> bytes:
    return b"".join(b"data: %b\n\n" % orjson.dumps(event) for event in events)


def test_all_text_of_one_read_is_cut_out_at_once() -> None:
    slot = taught(chunk("Hello"))
    assert slot.cut(stream_of(chunk(" big"), chunk(" wide"), chunk(" world"))) == (
        " big wide world",
        b"",
    )


def test_what_comes_behind_the_text_is_left() -> None:
    slot = taught(chunk("Hello"))
    end = stream_of({"id": "x", "choices": [], "usage": {"total_tokens": 1}}) + b"data: [DONE]\n\n"
    assert slot.cut(stream_of(chunk(" a"), chunk(" b")) + end) == (" a b", end)
    unfinished = stream_of(chunk(" c"))[:-9]
    assert slot.cut(stream_of(chunk(" a"), chunk(" b")) + unfinished) == (" a b", unfinished)


def test_an_event_of_another_kind_in_between_is_not_skipped() -> None:
    slot = taught(chunk("Hello"))
    call = chunk("x")
    call["choices"][0]["delta"]["tool_calls"] = [{"index": 0}]
    data = stream_of(chunk(" a"), call, chunk(" b"))
    text, rest = slot.cut(data)
    assert stream_of(chunk(text)) + rest == data if text else rest == data


@given(st.lists(texts, min_size=1, max_size=6), st.integers(0, 400), st.booleans())
def test_cutting_loses_and_invents_nothing(pieces: list[str], at: int, escapes: bool) -> None:
    """Whatever the read ends with: the text, then the events of the rest, are the whole stream."""
    slot = taught(chunk("Hello"))
    written = (json.dumps(chunk(p), ensure_ascii=escapes, separators=(",", ":")) for p in pieces)
    stream = b"".join(b"data: %b\n\n" % one.encode() for one in written)
    text, rest = slot.cut(stream[:at])
    reader = SseReader()
    said = [text]
    for _, data in [*reader.feed(rest), *reader.feed(stream[at:])]:
        said.append(orjson.loads(data)["choices"][0]["delta"]["content"])
    assert "".join(said) == "".join(pieces)
