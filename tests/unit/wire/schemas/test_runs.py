"""What is written about runs is what is said about them."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from jsonschema import Draft202012Validator

from hermes.core.events import Event, RunQueued
from hermes.core.runs import LoggedEvent, RunStatus
from hermes.wire.run_requests import parse_run
from hermes.wire.run_stream import RunEncoder
from hermes.wire.runs import run_object
from hermes.wire.schemas import runs
from hermes.wire.schemas.catalogue import SCHEMAS
from tests.unit.wire.event_logs import run_logs
from tests.unit.wire.sse_reader import read
from tests.unit.wire.test_runs import REQUEST, RUN
from tests.unit.wire.test_same_bytes import session


def check(name: str, value: Any) -> None:
    schemas = {**SCHEMAS, **runs.SCHEMAS}
    schema = {"$ref": f"#/components/schemas/{name}", "components": {"schemas": schemas}}
    Draft202012Validator(schema).validate(value)


@pytest.mark.parametrize("status", RunStatus)
def test_a_run_is_as_described_in_every_state(status: RunStatus) -> None:
    for kind in ("run", "response", "chat", "session_chat"):
        run = replace(RUN, status=status, kind=kind)
        check("Run", run_object(run, place=1, approvals=[REQUEST]))


@given(run_logs)
def test_every_event_is_as_described(log: list[Event]) -> None:
    encoder = RunEncoder("run_1")
    for seq, event in enumerate(log, start=1):
        for received in read(encoder.encode(LoggedEvent(seq, 1.0, event))):
            check("RunEvent", received.json)


def test_a_place_in_the_queue_is_as_described() -> None:
    [received] = read(RunEncoder("run_1").encode(LoggedEvent(0, 0.0, RunQueued(2))))
    check("RunEvent", received.json)


@given(run_logs)
def test_every_event_of_a_session_is_as_described(log: list[Event]) -> None:
    for received in read(b"".join(session(log))):
        check("SessionEvent", received.json)


@pytest.mark.parametrize(
    "body",
    [
        {"input": "Hi"},
        {"input": [{"role": "user", "content": "Hi"}], "session_id": "s", "timeout": 5, "wait": 0},
        {
            "input": "Hi",
            "conversation_history": [{"role": "user", "content": "Yo"}],
            "metadata": {"a": "b"},
            "disconnect": "grace:1.5",
            "when_busy": "queue",
            "model": None,
        },
    ],
)
def test_a_request_that_is_described_is_read(body: dict[str, Any]) -> None:
    check("RunRequest", body)
    parse_run(body)
