"""A run as its readers see it."""

from __future__ import annotations

from dataclasses import replace

from hermes.core.approvals import ApprovalRequest
from hermes.core.runs import Disconnect, Run, RunPage, RunStatus
from hermes.wire.errors import envelope
from hermes.wire.runs import (
    approval_object,
    response_events_gone,
    run_events_gone,
    run_list,
    run_object,
    unknown_run,
)

RUN = Run(
    id="run_1",
    kind="run",
    owner="default",
    status=RunStatus.COMPLETED,
    session_id="s1",
    resource_id=None,
    input={"model": "m", "user_message": "secret"},
    metadata={"a": "b"},
    disconnect=Disconnect(30.0),
    timeout=60.0,
    attempt=1,
    last_seq=7,
    is_stop_requested=False,
    created_at=1.5,
    started_at=2.0,
    finished_at=3.0,
    output="Done.",
    error=None,
    usage={"input_tokens": 1, "output_tokens": 2, "total_tokens": 3},
    has_all_events=True,
)
REQUEST = ApprovalRequest(
    id="appr_1",
    code="K7Q2M",
    call_id="c1",
    tool="terminal",
    arguments={"command": "rm -r build"},
    shown="rm -r build",
    reason="deletes files",
    expires_at=900.0,
)


def test_a_run_is_shown_with_everything_but_its_input_and_its_owner() -> None:
    assert run_object(RUN, place=3, approvals=[REQUEST]) == {
        "id": "run_1",
        "object": "run",
        "status": "completed",
        "kind": "run",
        "session_id": "s1",
        "model": "m",
        "created_at": 1.5,
        "started_at": 2.0,
        "finished_at": 3.0,
        "attempt": 1,
        "last_event": 7,
        "has_all_events": True,
        "metadata": {"a": "b"},
        "disconnect": "grace:30",
        "timeout": 60.0,
        "output": "Done.",
        "error": None,
        "usage": {"input_tokens": 1, "output_tokens": 2, "total_tokens": 3},
        "events_url": "/v1/runs/run_1/events",
    }


def test_a_queued_run_has_its_place_and_a_waiting_one_its_questions() -> None:
    queued = run_object(replace(RUN, status=RunStatus.QUEUED), place=0, approvals=[REQUEST])
    waiting = run_object(
        replace(RUN, status=RunStatus.WAITING_FOR_APPROVAL), place=2, approvals=[REQUEST]
    )
    assert queued["queue_position"] == 0
    assert "approvals" not in queued
    assert waiting["approvals"] == [approval_object(REQUEST)]
    assert "queue_position" not in waiting


def test_a_run_names_what_its_route_made() -> None:
    response = run_object(replace(RUN, kind="response", resource_id="resp_1"))
    chat = run_object(replace(RUN, kind="chat", resource_id="chatcmpl-1"))
    assert (response["response_id"], chat["completion_id"]) == ("resp_1", "chatcmpl-1")


def test_a_question_shows_the_exact_command_and_what_can_be_said() -> None:
    assert approval_object(REQUEST) == {
        "id": "appr_1",
        "code": "K7Q2M",
        "call_id": "c1",
        "tool": "terminal",
        "arguments": {"command": "rm -r build"},
        "command": "rm -r build",
        "reason": "deletes files",
        "choices": ["once", "session", "always", "deny"],
        "expires_at": 900.0,
    }


def test_a_page_says_where_the_next_begins() -> None:
    other = replace(RUN, id="run_2")
    page = run_list(RunPage(runs=[RUN, other], has_more=True))
    assert [run["id"] for run in page["data"]] == ["run_1", "run_2"]
    assert (page["first_id"], page["last_id"], page["has_more"]) == ("run_1", "run_2", True)
    assert run_list(RunPage(runs=[], has_more=False)) == {
        "object": "list",
        "data": [],
        "first_id": None,
        "last_id": None,
        "has_more": False,
    }


def test_events_that_are_gone_are_answered_with_what_became_of_it_all() -> None:
    run = replace(RUN, has_all_events=False)
    gone = envelope(run_events_gone(run))["error"]
    assert (gone["code"], gone["run"]) == ("events_gone", run_object(run))
    gone = envelope(response_events_gone({"id": "resp_1", "status": "completed"}))["error"]
    assert gone["response"] == {"id": "resp_1", "status": "completed"}


def test_a_run_says_what_went_wrong_in_the_words_of_the_errors() -> None:
    failed = replace(RUN, error={"code": "rate_limited", "message": "Slow down."})
    assert run_object(failed)["error"] == {"code": "rate_limit_exceeded", "message": "Slow down."}
    stopped = replace(RUN, error={"code": "cancelled", "message": "Stopped."})
    assert run_object(stopped)["error"] == {"code": "cancelled", "message": "Stopped."}


def test_a_run_that_nobody_knows_is_named_in_the_error() -> None:
    error = unknown_run("run_x")
    assert (error.status, error.code) == (404, "run_not_found")
    assert "'run_x'" in error.message
