"""What becomes of a turn when its client leaves: cancel, detach or a grace, per route."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import aiohttp
import pytest

from hermes.core.runs import CANCEL, DETACH, Disconnect, RunQuery
from hermes.settings.model import RunSettings
from hermes.testing.replies import Text
from tests.flows.conftest import Flow, StartFlow, eventually
from tests.flows.run_client import (
    ENDED,
    HELD,
    RUNS,
    STALLED,
    begin,
    ended,
    events,
    in_state,
    kept_runs,
    kinds,
    release,
    show,
    until,
)

CHAT = ("/v1/chat/completions", {"messages": [{"role": "user", "content": "Hi"}]})
RESPONSES = ("/v1/responses", {"input": "Hi"})
Route = tuple[str, dict[str, Any]]
routes = pytest.mark.parametrize("route", [CHAT, RESPONSES], ids=["chat", "responses"])
POLICY = "X-Hermes-Disconnect"


async def session_chat(served: Flow) -> Route:
    _, made = await served.answer("POST", "/api/sessions", json={})
    return f"/api/sessions/{made['session']['id']}/chat/stream", {"message": "Hi"}


async def leave(served: Flow, route: Route, **headers: str) -> str:
    """Begin a stream, read its first words, and go; the id of the run."""
    path, body = route
    url = served.gateway.url + path
    async with served.http.post(url, json={**body, "stream": True}, headers=headers) as response:
        assert response.status == 200, await response.text()
        run_id = response.headers["X-Hermes-Run-Id"]
        await until(response, "Half")
        response.close()
    return run_id


async def give_up(served: Flow, route: Route, **headers: str) -> None:
    """Ask for a whole answer and go before it is there."""
    path, body = route
    asking = asyncio.create_task(served.answer("POST", path, json=body, headers=headers))
    await served.provider.wait_for_requests(served.provider.requests_seen + 1)
    asking.cancel()
    with pytest.raises(asyncio.CancelledError):
        await asking


def all_runs(served: Flow) -> list[Any]:
    page = kept_runs(served).page(RunQuery(owner="default", limit=100))
    return list(page.runs)


# --- cancel ---------------------------------------------------------------------------------


@routes
async def test_whoever_said_cancel_stops_the_model_by_leaving(
    flow: StartFlow, route: Route
) -> None:
    served = await flow([STALLED])
    run_id = await leave(served, route, **{POLICY: "cancel"})
    await served.provider.wait_for_disconnects()
    run = await ended(served, run_id)
    assert run["status"] == "cancelled"


async def test_a_session_stream_can_be_cancelled_by_leaving(flow: StartFlow) -> None:
    served = await flow([STALLED])
    run_id = await leave(served, await session_chat(served), **{POLICY: "cancel"})
    await served.provider.wait_for_disconnects()
    run = await ended(served, run_id)
    told = await events(served, run_id)
    assert (run["status"], kinds(told)[-1]) == ("cancelled", "run.cancelled")
    assert run["error"]["message"] == "SSE client disconnected"


async def test_a_chat_is_cancelled_by_default_and_nothing_of_it_is_kept(flow: StartFlow) -> None:
    served = await flow([STALLED])
    run_id = await leave(served, CHAT)
    await served.provider.wait_for_disconnects()
    assert all_runs(served) == []
    assert (await ended(served, run_id))["status"] == "cancelled"


@routes
async def test_whoever_waits_for_a_whole_answer_and_leaves_stops_it(
    flow: StartFlow, route: Route
) -> None:
    served = await flow([STALLED])
    await give_up(served, route)
    await served.provider.wait_for_disconnects()


async def test_leaving_ends_a_running_command(flow: StartFlow, tmp_path: Path) -> None:
    served = await flow([HELD])
    path, body = RESPONSES
    url = served.gateway.url + path
    headers = {POLICY: "cancel"}
    async with served.http.post(url, json={**body, "stream": True}, headers=headers) as response:
        run_id = response.headers["X-Hermes-Run-Id"]
        await until(response, "terminal")
        response.close()
    async with asyncio.timeout(2):
        assert (await ended(served, run_id))["status"] == "cancelled"


# --- detach ---------------------------------------------------------------------------------


@routes
async def test_a_detached_turn_goes_on_without_its_client(flow: StartFlow, route: Route) -> None:
    served = await flow([Text(pieces=["Half ", "and ", "whole."], interval=0.1)])
    run_id = await leave(served, route, **{POLICY: "detach"})
    run = await ended(served, run_id)
    assert (run["status"], run["output"]) == ("completed", "Half and whole.")
    assert run["disconnect"] == "detach"


@routes
async def test_a_detached_turn_goes_on_without_somebody_who_waited_for_all_of_it(
    flow: StartFlow, route: Route
) -> None:
    served = await flow([Text(pieces=["Half ", "and ", "whole."], interval=0.1)])
    await give_up(served, route, **{POLICY: "detach"})
    [run] = all_runs(served)
    done = await ended(served, run.id)
    assert (done["status"], done["output"]) == ("completed", "Half and whole.")


async def test_a_detached_response_is_there_afterwards(flow: StartFlow) -> None:
    served = await flow([Text(pieces=["Half ", "and ", "whole."], interval=0.1)])
    run_id = await leave(served, RESPONSES, **{POLICY: "detach"})
    run = await ended(served, run_id)
    _, response = await served.answer("GET", f"/v1/responses/{run['response_id']}")
    assert response["status"] == "completed"
    assert response["output"][0]["content"][0]["text"] == "Half and whole."


async def test_a_run_goes_on_by_default(flow: StartFlow) -> None:
    served = await flow([Text(pieces=["Half ", "and ", "whole."], interval=0.1)])
    run = await begin(served)
    async with served.http.get(f"{served.gateway.url}{RUNS}/{run['id']}/events") as response:
        await until(response, "Half")
        response.close()
    assert (await ended(served, run["id"]))["output"] == "Half and whole."


async def test_a_run_nobody_watches_is_stopped_with_its_last_viewer(flow: StartFlow) -> None:
    served = await flow([STALLED])
    run = await begin(served, disconnect="cancel")
    url = f"{served.gateway.url}{RUNS}/{run['id']}/events"
    async with served.http.get(url) as first, served.http.get(url) as second:
        await until(first, "Half")
        await until(second, "Half")
        first.close()
        assert (await show(served, run["id"]))["status"] == "running"
        second.close()
    assert (await ended(served, run["id"]))["status"] == "cancelled"


async def test_a_queued_turn_whose_client_leaves_never_begins(flow: StartFlow) -> None:
    served = await flow([STALLED])
    _, made = await served.answer("POST", "/api/sessions", json={})
    path = f"/api/sessions/{made['session']['id']}/chat/stream"
    first = asyncio.create_task(served.answer("POST", path, json={"message": "one"}))
    await served.provider.wait_for_requests()
    url = served.gateway.url + path
    headers = {POLICY: "cancel"}
    async with served.http.post(url, json={"message": "two"}, headers=headers) as response:
        run_id = response.headers["X-Hermes-Run-Id"]
        assert (await show(served, run_id))["status"] == "queued"
        response.close()
    run = await ended(served, run_id)
    first.cancel()
    assert (run["status"], run["started_at"]) == ("cancelled", None)
    assert served.provider.requests_seen == 1


# --- grace ----------------------------------------------------------------------------------


@routes
async def test_after_the_grace_the_turn_is_stopped(flow: StartFlow, route: Route) -> None:
    served = await flow([STALLED])
    run_id = await leave(served, route, **{POLICY: "grace:0.2"})
    assert (await show(served, run_id))["status"] == "running"
    run = await ended(served, run_id)
    await served.provider.wait_for_disconnects()
    assert (run["status"], run["disconnect"]) == ("cancelled", "grace:0.2")


async def test_whoever_comes_back_within_the_grace_keeps_the_turn_alive(
    flow: StartFlow,
) -> None:
    served = await flow([STALLED])
    run_id = await leave(served, RESPONSES, **{POLICY: "grace:0.5"})
    async with served.http.get(f"{served.gateway.url}{RUNS}/{run_id}/events") as response:
        await until(response, "Half")
        with pytest.raises(TimeoutError):
            async with asyncio.timeout(0.9):
                await response.content.readuntil(b"run.cancelled")
        assert (await show(served, run_id))["status"] == "running"
        response.close()
    assert (await ended(served, run_id))["status"] == "cancelled"


async def test_a_response_and_a_session_have_a_grace_by_default(flow: StartFlow) -> None:
    served = await flow([STALLED, STALLED])
    response = await leave(served, RESPONSES)
    session = await leave(served, await session_chat(served))
    for run_id in (response, session):
        run = await in_state(served, run_id, "running")
        assert run["disconnect"].startswith("grace:")


async def test_a_turn_that_ends_within_the_grace_is_whole(flow: StartFlow) -> None:
    served = await flow([Text(pieces=["Half ", "and ", "whole."], interval=0.1)])
    run_id = await leave(served, await session_chat(served), **{POLICY: "grace:30"})
    assert (await ended(served, run_id))["output"] == "Half and whole."


# --- configuration and mistakes -------------------------------------------------------------


@pytest.mark.parametrize(
    ("policy", "status"), [(DETACH, "completed"), (CANCEL, "cancelled"), (Disconnect(0.1), None)]
)
async def test_the_setting_holds_where_a_request_says_nothing(
    flow: StartFlow, policy: Disconnect, status: str | None
) -> None:
    served = await flow(
        [Text(pieces=["Half ", "and ", "whole."], interval=0.1)],
        runs=RunSettings(disconnect_responses=policy),
    )
    run = await ended(served, await leave(served, RESPONSES))
    assert run["disconnect"] == str(policy)
    assert run["status"] in ENDED if status is None else run["status"] == status


async def test_a_chat_that_is_detached_by_the_setting_is_kept(flow: StartFlow) -> None:
    served = await flow(
        [Text(pieces=["Half ", "and ", "whole."], interval=0.1)],
        runs=RunSettings(disconnect_chat=DETACH),
    )
    run = await ended(served, await leave(served, CHAT))
    assert (run["status"], run["output"]) == ("completed", "Half and whole.")
    assert [kept.id for kept in all_runs(served)] == [run["id"]]


@pytest.mark.parametrize("policy", ["maybe", "grace", "grace:-1", "grace:1e9", "grace:99999"])
async def test_a_policy_that_is_none_is_refused(flow: StartFlow, policy: str) -> None:
    served = await flow([])
    for path, body in (CHAT, RESPONSES):
        status, answer = await served.answer("POST", path, json=body, headers={POLICY: policy})
        assert (status, answer["error"]["param"]) == (400, POLICY)


async def test_a_crowd_that_leaves_leaves_nothing_behind(flow: StartFlow) -> None:
    served = await flow(lambda _request: STALLED)
    async with aiohttp.TCPConnector(limit=0) as connector:
        crowd = aiohttp.ClientSession(headers=served.http.headers, connector=connector)
        async with crowd:
            path, body = RESPONSES
            url = served.gateway.url + path

            async def come_and_go() -> None:
                options = {"json": {**body, "stream": True}, "headers": {POLICY: "cancel"}}
                async with crowd.post(url, **options) as response:  # type: ignore[arg-type]
                    await until(response, "Half")
                    response.close()

            await asyncio.gather(*(come_and_go() for _ in range(40)))
    await served.provider.wait_for_disconnects(40, within=10)
    await eventually(lambda: all(run.status.is_final for run in all_runs(served)), within=10)
    await eventually(lambda: len(served.gateway.adapter.running) == 0)


async def test_stopping_and_leaving_at_once_end_it_once(flow: StartFlow) -> None:
    served = await flow([STALLED])
    path, body = RESPONSES
    url = served.gateway.url + path
    headers = {POLICY: "cancel"}
    async with served.http.post(url, json={**body, "stream": True}, headers=headers) as response:
        run_id = response.headers["X-Hermes-Run-Id"]
        await until(response, "Half")
        stopping = asyncio.create_task(served.answer("POST", f"{RUNS}/{run_id}/stop"))
        response.close()
    status, run = await stopping
    told = await events(served, run_id)
    assert (status, run["status"]) == (200, "cancelled")
    assert [kind for kind in kinds(told) if kind in {f"run.{end}" for end in ENDED}] == [
        "run.cancelled"
    ]


async def test_a_detached_command_runs_to_its_end(flow: StartFlow, tmp_path: Path) -> None:
    served = await flow([HELD, Text("It went.")])
    path, body = RESPONSES
    url = served.gateway.url + path
    headers = {POLICY: "detach"}
    async with served.http.post(url, json={**body, "stream": True}, headers=headers) as response:
        run_id = response.headers["X-Hermes-Run-Id"]
        await until(response, "terminal")
        response.close()
    release(tmp_path)
    assert (await ended(served, run_id))["output"] == "It went."
