"""/v1/runs: begun with everything a request may say, found, listed, stopped and steered."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import pytest

from hermes.settings.model import RunSettings
from hermes.testing.replies import HttpError, Text
from hermes.testing.scripted import EchoModel, ModelRequest
from tests.flows.conftest import Flow, StartFlow
from tests.flows.run_client import (
    HELD,
    RUNS,
    STALLED,
    as_other,
    begin,
    ended,
    events,
    in_state,
    kinds,
    release,
    show,
)

OTHER = "another-key-0123456789"
OTHERS = {"other": {"key": OTHER}}


def said_to(request: ModelRequest) -> list[Any]:
    """What the model was told, without the agent's own prompt."""
    return [message["content"] for message in request.messages[1:]]


# --- beginning ------------------------------------------------------------------------------


async def test_a_run_is_accepted_at_once_and_found_when_it_is_done(flow: StartFlow) -> None:
    served = await flow(EchoModel())
    url = served.gateway.url + RUNS
    async with served.http.post(url, json={"input": "Hello"}) as response:
        accepted = await response.json()
    run = await ended(served, accepted["id"])

    assert response.status == 202
    assert response.headers["Location"] == f"{RUNS}/{run['id']}"
    assert response.headers["X-Hermes-Run-Id"] == run["id"]
    assert (run["object"], run["kind"], run["status"]) == ("run", "run", "completed")
    assert (run["output"], run["error"], run["session_id"]) == ("Hello", None, None)
    assert run["created_at"] <= run["started_at"] <= run["finished_at"]
    assert (run["attempt"], run["disconnect"], run["has_all_events"]) == (1, "detach", True)
    assert run["usage"]["total_tokens"] > 0


@pytest.mark.parametrize("where", ["body", "query"])
async def test_whoever_waits_gets_the_finished_run(flow: StartFlow, where: str) -> None:
    served = await flow(EchoModel())
    body = {"input": "Hello", **({"wait": 10} if where == "body" else {})}
    query = "?wait=10" if where == "query" else ""
    status, run = await served.answer("POST", RUNS + query, json=body)
    assert (status, run["status"], run["output"]) == (200, "completed", "Hello")


async def test_whoever_waits_too_short_gets_the_run_as_it_is(flow: StartFlow) -> None:
    served = await flow([STALLED])
    status, run = await served.answer("POST", RUNS, json={"input": "Hello", "wait": 0.2})
    assert (status, run["status"], run["finished_at"]) == (202, "running", None)


async def test_items_instructions_and_a_history_reach_the_model(flow: StartFlow) -> None:
    served = await flow([Text("Fine.")])
    run = await begin(
        served,
        input=[{"role": "user", "content": [{"type": "input_text", "text": "And now?"}]}],
        instructions="Answer in one word.",
        conversation_history=[
            {"role": "user", "content": "How are you?"},
            {"role": "assistant", "content": "Well."},
        ],
        wait=10,
    )
    assert run["output"] == "Fine."
    assert said_to(served.requests[0])[:2] == ["How are you?", "Well."]
    assert "And now?" in str(said_to(served.requests[0])[2])
    assert "Answer in one word." in str(served.requests[0].messages[0])


async def test_runs_of_a_session_know_each_other(flow: StartFlow) -> None:
    served = await flow([Text("One."), Text("Two.")])
    first = await begin(served, input="first", session_id="s1", wait=10)
    second = await begin(served, input="second", session_id="s1", wait=10)
    status, page = await served.answer("GET", "/api/sessions/s1/messages")

    assert (first["session_id"], second["output"]) == ("s1", "Two.")
    assert said_to(served.requests[1]) == ["first", "One.", "second"]
    assert (status, [each["role"] for each in page["data"]]) == (
        200,
        ["user", "assistant", "user", "assistant"],
    )


async def test_a_run_continues_an_existing_session(flow: StartFlow) -> None:
    served = await flow([Text("One."), Text("Two.")])
    _, made = await served.answer("POST", "/api/sessions", json={})
    session_id = made["session"]["id"]
    await served.answer("POST", f"/api/sessions/{session_id}/chat", json={"message": "first"})
    await begin(served, input="second", session_id=session_id, wait=10)
    assert said_to(served.requests[1]) == ["first", "One.", "second"]


async def test_a_run_continues_a_stored_response(flow: StartFlow) -> None:
    served = await flow([Text("One."), Text("Two.")])
    response = await served.sdk.responses.create(model="m", input="first", instructions="Be brief.")
    await begin(served, input="second", previous_response_id=response.id, wait=10)
    assert said_to(served.requests[1]) == ["first", "One.", "second"]
    assert "Be brief." in str(served.requests[1].messages[0])


async def test_what_a_run_was_given_is_shown(flow: StartFlow) -> None:
    served = await flow(EchoModel(), models={"fast": {"model": "small"}})
    run = await begin(
        served,
        model="fast",
        metadata={"ticket": "42"},
        disconnect="grace:7",
        timeout=90,
        wait=10,
    )
    assert (run["model"], run["metadata"]) == ("fast", {"ticket": "42"})
    assert (run["disconnect"], run["timeout"]) == ("grace:7", 90)


async def test_fields_without_effect_are_named(flow: StartFlow) -> None:
    served = await flow(EchoModel())
    url = served.gateway.url + RUNS
    async with served.http.post(url, json={"input": "Hi", "colour": "blue"}) as response:
        assert response.headers["X-Hermes-Ignored-Params"] == "colour"


@pytest.mark.parametrize(
    ("body", "param"),
    [
        ({}, "input"),
        ({"input": 7}, "input"),
        ({"input": []}, "input"),
        ({"input": "Hi", "disconnect": "maybe"}, "disconnect"),
        ({"input": "Hi", "when_busy": "panic"}, "when_busy"),
        ({"input": "Hi", "timeout": 0}, "timeout"),
        ({"input": "Hi", "timeout": "long"}, "timeout"),
        ({"input": "Hi", "wait": 301}, "wait"),
        ({"input": "Hi", "metadata": {"a": 1}}, "metadata"),
        ({"input": "Hi", "session_id": "a\nb"}, "session_id"),
        ({"input": "Hi", "session_id": "s", "previous_response_id": "r"}, "previous_response_id"),
        ({"input": "Hi", "conversation_history": "no"}, "conversation_history"),
    ],
)
async def test_what_cannot_be_meant_is_refused(
    flow: StartFlow, body: dict[str, Any], param: str
) -> None:
    served = await flow([])
    status, answer = await served.answer("POST", RUNS, json=body)
    _, page = await served.answer("GET", RUNS)
    assert (status, answer["error"]["type"]) == (400, "invalid_request_error")
    assert answer["error"]["param"].startswith(param)
    assert page["data"] == []


async def test_a_run_after_something_unknown_is_not_begun(flow: StartFlow) -> None:
    served = await flow([])
    body = {"input": "Hi", "previous_response_id": "resp_none"}
    status, answer = await served.answer("POST", RUNS, json=body)
    assert (status, answer["error"]["code"]) == (404, "previous_response_not_found")


async def test_policies_of_headers_hold_where_the_body_says_nothing(flow: StartFlow) -> None:
    served = await flow(EchoModel())
    headers = {"X-Hermes-Disconnect": "grace:9"}
    _, run = await served.answer("POST", RUNS, json={"input": "Hi"}, headers=headers)
    _, other = await served.answer(
        "POST", RUNS, json={"input": "Hi", "disconnect": "cancel"}, headers=headers
    )
    assert (run["disconnect"], other["disconnect"]) == ("grace:9", "cancel")


# --- finding --------------------------------------------------------------------------------


async def test_a_run_that_nobody_knows_is_not_found(flow: StartFlow) -> None:
    served = await flow([])
    asked = [
        ("GET", "", None),
        ("GET", "/events", None),
        ("POST", "/stop", {}),
        ("POST", "/steer", {"text": "Left."}),
        ("POST", "/approval", {"decision": "once"}),
    ]
    for method, path, body in asked:
        status, answer = await served.answer(method, f"{RUNS}/run_none{path}", json=body)
        assert (status, answer["error"]["code"]) == (404, "run_not_found"), path


async def test_another_keys_run_is_not_found(flow: StartFlow) -> None:
    served = await flow([STALLED], keys=OTHERS)
    run = await begin(served)
    await served.provider.wait_for_requests()
    asked = [
        ("GET", "", None),
        ("GET", "/events", None),
        ("POST", "/stop", {}),
        ("POST", "/steer", {"text": "Left."}),
        ("POST", "/approval", {"decision": "once"}),
    ]
    for method, path, body in asked:
        status, answer = await served.answer(
            method, f"{RUNS}/{run['id']}{path}", json=body, headers=as_other(OTHER)
        )
        assert (status, answer["error"]["code"]) == (404, "run_not_found"), path
    _, page = await served.answer("GET", RUNS, headers=as_other(OTHER))
    assert page["data"] == []
    assert (await show(served, run["id"]))["status"] == "running"


async def test_runs_are_listed_page_by_page_newest_first(flow: StartFlow) -> None:
    served = await flow(EchoModel())
    made = [(await begin(served, wait=10))["id"] for _ in range(5)]
    found: list[str] = []
    after = ""
    while True:
        _, page = await served.answer("GET", f"{RUNS}?limit=2{after}")
        found += [run["id"] for run in page["data"]]
        assert (page["first_id"], page["last_id"]) == (page["data"][0]["id"], found[-1])
        if not page["has_more"]:
            break
        after = f"&after={found[-1]}"
    assert found == made[::-1]


async def test_runs_are_found_by_status_and_session(flow: StartFlow) -> None:
    served = await flow([Text("Done."), Text("Done."), STALLED])
    alone = await begin(served, wait=10)
    inside = await begin(served, session_id="s1", wait=10)
    busy = await begin(served, session_id="s1")
    await served.provider.wait_for_requests(3)

    async def ids(query: str) -> list[str]:
        _, page = await served.answer("GET", f"{RUNS}?{query}")
        return [run["id"] for run in page["data"]]

    assert await ids("status=completed") == [inside["id"], alone["id"]]
    assert await ids("session_id=s1") == [busy["id"], inside["id"]]
    assert await ids("session_id=s1&status=running,queued") == [busy["id"]]
    assert await ids("session_id=s2") == []


@pytest.mark.parametrize(
    ("query", "status", "param"),
    [
        ("status=lost", 400, "status"),
        ("limit=0", 400, "limit"),
        ("limit=101", 400, "limit"),
        ("after=run_none", 404, "after"),
    ],
)
async def test_a_page_that_cannot_be_is_refused(
    flow: StartFlow, query: str, status: int, param: str
) -> None:
    served = await flow([])
    found, answer = await served.answer("GET", f"{RUNS}?{query}")
    assert (found, answer["error"]["param"]) == (status, param)


# --- stopping -------------------------------------------------------------------------------


async def test_a_running_run_is_stopped_at_once_and_keeps_what_it_said(flow: StartFlow) -> None:
    served = await flow([STALLED])
    run = await begin(served)
    await served.provider.wait_for_requests()
    async with asyncio.timeout(1.5):
        status, stopped = await served.answer("POST", f"{RUNS}/{run['id']}/stop")
    await served.provider.wait_for_disconnects()
    told = await events(served, run["id"])

    assert (status, stopped["status"]) == (200, "cancelled")
    assert stopped["error"] == {"code": "cancelled", "message": "Stopped on request."}
    assert kinds(told)[-1] == "run.cancelled"
    assert "Half an ans".startswith(stopped["output"])


async def test_stopping_ends_a_running_command(flow: StartFlow, tmp_path: Path) -> None:
    served = await flow([HELD])
    run = await begin(served)
    await _is_at_work(served, run["id"])
    async with asyncio.timeout(2):
        _, stopped = await served.answer("POST", f"{RUNS}/{run['id']}/stop")
    assert stopped["status"] == "cancelled"
    assert served.provider.requests_seen == 1


async def test_a_queued_run_is_cancelled_without_being_begun(flow: StartFlow) -> None:
    served = await flow([STALLED])
    first = await begin(served, session_id="s1")
    await served.provider.wait_for_requests()
    second = await begin(served, session_id="s1")
    _, stopped = await served.answer("POST", f"{RUNS}/{second['id']}/stop")
    told = await events(served, second["id"])

    assert (second["status"], second["queue_position"]) == ("queued", 1)
    assert (stopped["status"], stopped["started_at"]) == ("cancelled", None)
    assert kinds(told) == ["run.cancelled"]
    assert (await show(served, first["id"]))["status"] == "running"
    assert served.provider.requests_seen == 1


async def test_a_finished_run_is_left_as_it_is(flow: StartFlow) -> None:
    served = await flow(EchoModel())
    run = await begin(served, wait=10)
    status, stopped = await served.answer("POST", f"{RUNS}/{run['id']}/stop")
    assert (status, stopped) == (200, run)


async def test_stopping_twice_is_stopping_once(flow: StartFlow) -> None:
    served = await flow([STALLED])
    run = await begin(served)
    await served.provider.wait_for_requests()
    path = f"{RUNS}/{run['id']}/stop"
    answers = await asyncio.gather(*(served.answer("POST", path) for _ in range(3)))
    assert [(status, run["status"]) for status, run in answers] == [(200, "cancelled")] * 3


# --- limits and failures --------------------------------------------------------------------


async def test_a_run_that_takes_too_long_fails(flow: StartFlow) -> None:
    served = await flow([STALLED])
    run = await begin(served, timeout=1, wait=10)
    await served.provider.wait_for_disconnects()
    assert (run["status"], run["error"]["code"]) == ("failed", "run_timeout")
    assert run["output"] == "Half an ans"


async def test_the_operators_limit_holds_for_runs_that_say_nothing(flow: StartFlow) -> None:
    served = await flow([STALLED], runs=RunSettings(max_seconds=0.3))
    run = await begin(served, wait=10)
    assert (run["status"], run["error"]["code"]) == ("failed", "run_timeout")


async def test_a_provider_that_fails_is_told_in_the_run(flow: StartFlow) -> None:
    served = await flow([HttpError(401, {"error": {"message": "bad key"}})])
    run = await begin(served, wait=10)
    assert run["status"] == "failed"
    assert run["error"]["code"]
    assert "bad key" in run["error"]["message"]


async def test_a_gateway_that_drains_takes_no_runs(flow: StartFlow) -> None:
    served = await flow([])
    await served.gateway.adapter.running.drain(0)
    url = served.gateway.url + RUNS
    async with served.http.post(url, json={"input": "Hi"}) as response:
        answer = await response.json()
    assert (response.status, answer["error"]["code"]) == (503, "draining")
    assert int(response.headers["Retry-After"]) > 0


async def test_runs_are_advertised(flow: StartFlow) -> None:
    served = await flow([])
    _, told = await served.answer("GET", "/v1/capabilities")
    paths = str(told)
    for path in ("/v1/runs", "/v1/runs/{run_id}/events", "/v1/runs/{run_id}/steer"):
        assert path in paths


# --- steering -------------------------------------------------------------------------------


async def _is_at_work(served: Flow, run_id: str) -> None:
    """The run is inside its tool."""
    url = f"{served.gateway.url}{RUNS}/{run_id}/events"
    async with asyncio.timeout(5), served.http.get(url) as response:
        while b"tool.started" not in await response.content.readline():
            pass


async def test_what_is_said_meanwhile_reaches_the_model_before_it_goes_on(
    flow: StartFlow, tmp_path: Path
) -> None:
    served = await flow([HELD, Text("Turned left.")])
    run = await begin(served)
    await _is_at_work(served, run["id"])
    status, steer = await served.answer(
        "POST", f"{RUNS}/{run['id']}/steer", json={"text": "Go left."}
    )
    release(tmp_path)
    done = await ended(served, run["id"])
    told = await events(served, run["id"])
    [delivered] = [event for event in told if event["type"] == "steer.delivered"]

    assert (status, steer["object"], steer["status"]) == (202, "run.steer", "accepted")
    assert (delivered["steer_id"], delivered["text"]) == (steer["id"], "Go left.")
    assert done["output"] == "Turned left."
    assert "Go left." in str(served.requests[1].messages)


async def test_what_is_said_while_the_answer_is_written_gets_an_answer_too(
    flow: StartFlow,
) -> None:
    served = await flow([Text(pieces=["On ", "my ", "way."], interval=0.2), Text("Turned left.")])
    run = await begin(served)
    await served.provider.wait_for_requests()
    status, _ = await served.answer("POST", f"{RUNS}/{run['id']}/steer", json={"text": "Left!"})
    done = await ended(served, run["id"])

    assert status == 202
    assert done["output"] == "Turned left."
    assert said_to(served.requests[1])[-2:] == ["On my way.", "Left!"]


async def test_what_is_said_in_a_session_stays_in_its_transcript(
    flow: StartFlow, tmp_path: Path
) -> None:
    served = await flow([HELD, Text("Turned left.")])
    run = await begin(served, session_id="s1")
    await _is_at_work(served, run["id"])
    await served.answer("POST", f"{RUNS}/{run['id']}/steer", json={"text": "Go left."})
    release(tmp_path)
    await ended(served, run["id"])
    _, page = await served.answer("GET", "/api/sessions/s1/messages")
    roles = [message["role"] for message in page["data"]]
    assert roles == ["user", "assistant", "tool", "user", "assistant"]


async def test_a_run_that_is_over_hears_nothing(flow: StartFlow) -> None:
    served = await flow(EchoModel())
    run = await begin(served, wait=10)
    status, answer = await served.answer(
        "POST", f"{RUNS}/{run['id']}/steer", json={"text": "Left!"}
    )
    assert (status, answer["error"]["code"]) == (409, "run_not_steerable")


async def test_a_queued_run_hears_nothing(flow: StartFlow) -> None:
    served = await flow([STALLED])
    await begin(served, session_id="s1")
    await served.provider.wait_for_requests()
    second = await begin(served, session_id="s1")
    status, answer = await served.answer(
        "POST", f"{RUNS}/{second['id']}/steer", json={"text": "Left!"}
    )
    assert (status, answer["error"]["code"]) == (409, "run_not_steerable")


async def test_what_was_accepted_and_not_delivered_is_told(flow: StartFlow) -> None:
    """The run is stopped before its agent could listen."""
    served = await flow([STALLED])
    run = await begin(served)
    await served.provider.wait_for_requests()
    status, _ = await served.answer("POST", f"{RUNS}/{run['id']}/steer", json={"text": "Left!"})
    await served.answer("POST", f"{RUNS}/{run['id']}/stop")
    told = await events(served, run["id"])
    [notice] = [event for event in told if event["type"] == "notice"]
    assert (status, notice["code"]) == (202, "steer_refused")
    assert "Left!" in notice["message"]


@pytest.mark.parametrize("body", [{}, {"text": ""}, {"text": " "}, {"text": 7}])
async def test_words_that_say_nothing_are_refused(flow: StartFlow, body: dict[str, Any]) -> None:
    served = await flow([STALLED])
    run = await begin(served)
    status, answer = await served.answer("POST", f"{RUNS}/{run['id']}/steer", json=body)
    assert (status, answer["error"]["param"]) == (400, "text")
    await in_state(served, run["id"], "running")
