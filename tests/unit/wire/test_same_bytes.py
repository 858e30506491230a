"""A stream is a function of its head and its events: a replayed log gives the same bytes."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st

from hermes.core.events import (
    Event,
    RunQueued,
    TextDelta,
    ToolFinished,
    ToolStarted,
    TurnEnded,
    TurnPaused,
)
from hermes.core.turn import TurnResult
from hermes.wire.chat import ChatHead
from hermes.wire.chat_stream import ChatEncoder
from hermes.wire.replay import sent_events
from hermes.wire.responses import ResponseHead
from hermes.wire.responses_stream import ResponsesEncoder
from hermes.wire.session_stream import EventId, SessionEncoder, after, parse_event_id
from hermes.wire.tool_forms import CONTRACT_DIALECT, Dialect
from hermes.wire.turn_output import output_items
from tests.unit.wire.event_logs import dialects, result_of, run_logs
from tests.unit.wire.sse_reader import read

ROOT = Path(__file__).resolve().parents[3]
ENDED_AT = 1_700_000_009.5
TURN: list[Event] = [
    ToolStarted("c1", "terminal", {"command": "ls"}),
    ToolFinished("c1", "terminal", {"command": "ls"}, "a.txt"),
    TextDelta("One file."),
    TurnEnded(TurnResult(text="One file.")),
]


def label(name: str, _arguments: object) -> str:
    return name


def chat(log: Sequence[Event], dialect: Dialect = CONTRACT_DIALECT) -> list[bytes]:
    head = ChatHead("chatcmpl-1", "m", 1)
    encoder = ChatEncoder(head, include_usage=True, preview=label, dialect=dialect)
    return [encoder.opening(), *(encoder.encode(event, ENDED_AT) for event in log)]


def responses(log: Sequence[Event], dialect: Dialect = CONTRACT_DIALECT) -> list[bytes]:
    head = ResponseHead(id="resp_1", created_at=1, model="m")
    encoder = ResponsesEncoder(head, preview=label, dialect=dialect)
    return [*encoder.opening(), *(encoder.encode(event, ENDED_AT) for event in log)]


def session(log: Sequence[Event]) -> list[bytes]:
    encoder = SessionEncoder(
        run_id="run_1",
        session_id="s1",
        message_id="msg_1",
        opening=[{"role": "user", "content": "Hi"}],
    )
    return [encoder.opening(), *(encoder.encode(event, ENDED_AT) for event in log)]


@given(run_logs, dialects)
def test_a_log_gives_the_same_bytes_every_time(log: list[Event], dialect: Dialect) -> None:
    assert chat(log, dialect) == chat(log, dialect)
    assert responses(log, dialect) == responses(log, dialect)
    assert session(log) == session(log)


@given(run_logs, dialects)
def test_a_paused_turn_ends_a_stream_like_an_ended_one_and_only_once(
    log: list[Event], dialect: Dialect
) -> None:
    paused = [*log[:-1], TurnPaused(result_of(log))]
    for write in (lambda it: chat(it, dialect), lambda it: responses(it, dialect), session):
        assert write(paused) == write(log)
        assert write([*paused, log[-1]]) == [*write(log), b""]


def test_another_process_gives_the_same_bytes() -> None:
    program = (
        "import sys; from tests.unit.wire.test_same_bytes import *\n"
        "sys.stdout.buffer.write(b''.join([*chat(TURN), *responses(TURN), *session(TURN)]))"
    )
    environment = {**os.environ, "PYTHONHASHSEED": "1"}
    other = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, check=True, env=environment, cwd=ROOT
    )
    assert other.stdout == b"".join([*chat(TURN), *responses(TURN), *session(TURN)])


def test_a_whole_answer_has_the_same_ids_every_time_and_others_than_another_response() -> None:
    result = TurnResult(text="Hi", messages=[{"role": "assistant", "content": "Hi"}])
    [first] = output_items(result, response_id="resp_1", prior=0, preview=label)
    [again] = output_items(result, response_id="resp_1", prior=0, preview=label)
    [other] = output_items(result, response_id="resp_2", prior=0, preview=label)
    assert first == again
    assert first["id"] != other["id"]


@given(run_logs, st.data())
def test_a_session_stream_goes_on_after_any_of_its_frames(
    log: list[Event], data: st.DataObject
) -> None:
    whole = b"".join(session([event for event in log if not isinstance(event, RunQueued)]))
    received = read(whole)
    seen = data.draw(st.integers(-1, len(received)))
    rest = read(after(whole, seen))
    assert rest == received[seen + 1 :]
    ids = [EventId("run_1", 0, one.json["seq"]) for one in rest]
    assert [parse_event_id(one.id) for one in rest] == ids


@given(run_logs)
def test_a_place_in_the_queue_changes_nothing_that_is_numbered(log: list[Event]) -> None:
    quiet = [event for event in log if not isinstance(event, RunQueued)]
    numbered = [one for one in read(b"".join(session(log))) if one.event != "run.queued"]
    assert numbered == read(b"".join(session(quiet)))
    assert list(sent_events(b"".join(responses(log)))) == list(
        sent_events(b"".join(responses(quiet)))
    )


@given(run_logs)
def test_a_responses_stream_is_numbered_whatever_a_run_logs(log: list[Event]) -> None:
    numbers = [event.number for event in sent_events(b"".join(responses(log)))]
    assert numbers == list(range(len(numbers)))
