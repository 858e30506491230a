"""What a declared CLI prints, in each of the ways it may be declared."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hermes.backends.drivers.declared_output import Output, found, output_of
from hermes.backends.saying import Ending, EndKind, Event, Exit, Said, Started, StopReason, Told
from hermes.core.usage import Usage
from hermes.settings.cli_settings import DeclaredCli, OutputKind

ENDED = Exit(code=0)


def output(kind: OutputKind, **declared: Any) -> Output:
    return output_of(DeclaredCli(output=kind, **declared), keeps_session=True)


def heard(reader: Output, *lines: str) -> list[Event]:
    return [event for line in lines for event in reader.read(line.encode())]


def said(reader: Output, *lines: str) -> str:
    events = heard(reader, *lines)
    return "".join(event.text for event in events if isinstance(event, Said))


def finished(reader: Output, *lines: str, exit_: Exit = ENDED) -> Ending:
    heard(reader, *lines)
    return reader.finish(exit_)


# Text ----------------------------------------------------------------------------------------


def test_text_is_said_line_by_line_without_the_empty_ones_around_it() -> None:
    reader = output("text")
    events = heard(reader, "", "One", "", "Two\r", "", "")
    assert events == [Said("One"), Said("\n\nTwo")]
    ending = reader.finish(ENDED)
    assert (ending.kind, ending.text, ending.unsaid) == (EndKind.ANSWERED, "One\n\nTwo", "")


def test_half_a_character_does_not_break_the_text() -> None:
    assert output("text").read(b"caf\xc3") == [Said("caf\ufffd")]


def test_text_of_a_command_that_fails_is_its_excuse() -> None:
    ending = finished(output("text"), "no such model", exit_=Exit(code=2))
    assert (ending.kind, ending.code) == (EndKind.FAILED, "cli_crashed")
    assert ending.error == "The CLI ended with code 2: no such model"


def test_no_text_is_no_answer() -> None:
    assert finished(output("text"), "", " ").code == "cli_garbage"


# One object ----------------------------------------------------------------------------------

FIELDS = {
    "text_field": "response.text",
    "session_field": "session",
    "error_field": "error",
    "input_tokens_field": "stats.in",
    "output_tokens_field": "stats.out",
    "cost_field": "stats.usd",
}


def test_an_object_may_be_printed_over_many_lines_and_after_noise() -> None:
    told = {"response": {"text": "Hi"}, "session": "s", "stats": {"in": 7, "out": 2, "usd": 0.5}}
    lines = json.dumps(told, indent=2).split("\n")
    ending = finished(output("json", **FIELDS), "Loading {…}", *lines)
    assert (ending.kind, ending.text, ending.unsaid) == (EndKind.ANSWERED, "Hi", "Hi")
    assert ending.session_id == "s"
    used = Usage(input_tokens=7, output_tokens=2, total_tokens=9, cost_usd=0.5)
    assert ending.usage == used


@pytest.mark.parametrize("error", ["it broke", {"message": "it broke"}])
def test_an_error_in_the_object_is_an_error_whatever_the_exit_code(error: Any) -> None:
    told = json.dumps({"response": {"text": "x"}, "error": error})
    ending = finished(output("json", **FIELDS), told)
    assert (ending.kind, ending.error) == (EndKind.FAILED, "it broke")


@pytest.mark.parametrize("nothing", [None, False, "", {}, []])
def test_an_error_that_is_nothing_is_none(nothing: Any) -> None:
    told = json.dumps({"response": {"text": "x"}, "error": nothing})
    assert finished(output("json", **FIELDS), told).kind is EndKind.ANSWERED


def test_an_answer_that_is_no_text_is_given_as_json() -> None:
    assert finished(output("json"), '{"result": {"a": 1}}').text == '{"a": 1}'


def test_an_object_that_breaks_off_is_no_answer() -> None:
    ending = finished(
        output("json"), '{"result": "Hel', exit_=Exit(code=0, last_line_is_whole=False)
    )
    assert (ending.kind, ending.code) == (EndKind.FAILED, "cli_output_truncated")


def test_no_object_at_all_is_garbage() -> None:
    assert finished(output("json"), "Hello").code == "cli_garbage"


def test_a_crash_without_an_object_is_a_crash() -> None:
    ending = finished(output("json"), exit_=Exit(code=1, stderr="no key"))
    assert ending.error == "The CLI ended with code 1: no key"


# An object per line --------------------------------------------------------------------------


def test_texts_of_lines_are_said_as_they_come() -> None:
    reader = output("jsonl", **FIELDS)
    lines = [
        '{"session":"s"}',
        '{"response":{"text":"Hel"}}',
        "noise",
        '{"response":{"text":"lo"}}',
    ]
    events = heard(reader, *lines, '{"stats":{"in":3,"out":1}}', '{"stats":{"in":5,"out":2}}')
    assert events == [Started("s"), Said("Hel"), Told("unknown_line", "noise"), Said("lo")]
    ending = reader.finish(ENDED)
    assert (ending.text, ending.session_id, ending.unsaid) == ("Hello", "s", "")
    assert ending.usage.total_tokens == 7


def test_a_line_with_an_error_fails_the_job() -> None:
    ending = finished(output("jsonl", **FIELDS), '{"error":{"message":"429 Too Many"}}')
    assert (ending.kind, ending.code) == (EndKind.FAILED, "rate_limited")


# Lines as Claude Code prints them ------------------------------------------------------------


def test_lines_like_those_of_claude_code_are_read_as_such() -> None:
    message = {"id": "m", "role": "assistant", "content": [{"type": "text", "text": "echo: hi"}]}
    result = {"type": "result", "subtype": "success", "is_error": False, "result": "echo: hi"}
    lines = [
        json.dumps({"type": "assistant", "session_id": "s", "message": message}),
        json.dumps({**result, "session_id": "s", "usage": {"input_tokens": 240}}),
    ]
    reader = output("claude")
    assert said(reader, *lines) == "echo: hi"
    ending = reader.finish(ENDED)
    assert (ending.kind, ending.text, ending.session_id) == (EndKind.ANSWERED, "echo: hi", "s")


# All of them ---------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", ["text", "json", "jsonl", "claude"])
def test_a_stop_is_a_stop(kind: OutputKind) -> None:
    stopped = Exit(code=-2, stopped=StopReason.ASKED)
    assert finished(output(kind), "half an ans", exit_=stopped).kind is EndKind.STOPPED


@given(st.sampled_from(["text", "json", "jsonl"]), st.lists(st.binary(max_size=20), max_size=4))
def test_nothing_that_it_prints_makes_it_raise(kind: OutputKind, lines: list[bytes]) -> None:
    reader = output(kind, **FIELDS)
    for line in lines:
        reader.read(line)
    assert reader.finish(ENDED).kind in EndKind


@pytest.mark.parametrize(
    ("path", "value"),
    [
        ("a", {"b": [1, {"c": 2}]}),
        ("a.b.1.c", 2),
        ("a.b.9.c", None),
        ("a.b.x", None),
        ("z", None),
    ],
)
def test_paths_lead_through_objects_and_lists(path: str, value: Any) -> None:
    assert found({"a": {"b": [1, {"c": 2}]}}, path) == value
