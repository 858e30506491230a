"""`Idempotency-Key` on turns: one execution, one id, the same answer, also after a restart."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import pytest

from hermes.settings.model import RunSettings
from hermes.testing.replies import HttpError, Text
from tests.flows.conftest import Flow, StartFlow
from tests.flows.run_client import RUNS, as_other

OTHER = "another-key-0123456789"
REPLAYED = "Idempotency-Replayed"
Route = tuple[str, dict[str, Any]]
CHAT: Route = ("/v1/chat/completions", {"messages": [{"role": "user", "content": "Hi"}]})
RESPONSES: Route = ("/v1/responses", {"model": "m", "input": "Hi"})
RUN: Route = (RUNS, {"input": "Hi", "wait": 10})
SESSION: Route = ("/api/sessions/{session}/chat", {"message": "Hi"})


def streamed(route: Route) -> Route:
    path, body = route
    return (f"{path}/stream", body) if route is SESSION else (path, {**body, "stream": True})


every_route = pytest.mark.parametrize(
    "route",
    [CHAT, streamed(CHAT), RESPONSES, streamed(RESPONSES), RUN, SESSION, streamed(SESSION)],
    ids=["chat", "chat-stream", "response", "response-stream", "run", "session", "session-stream"],
)


async def session(served: Flow) -> str:
    _, made = await served.answer("POST", "/api/sessions", json={})
    return str(made["session"]["id"])


async def ask(
    served: Flow, route: Route, session_id: str, *, key: str = "k1", **headers: str
) -> tuple[int, str, bool, str | None]:
    """Status, body, whether it was replayed, and the run behind it."""
    path, body = route
    url = served.gateway.url + path.format(session=session_id)
    sent = {"Idempotency-Key": key, **headers}
    async with served.http.post(url, json=body, headers=sent) as response:
        text = await response.text()
        is_replayed = response.headers.get(REPLAYED) == "true"
        return response.status, text, is_replayed, response.headers.get("X-Hermes-Run-Id")


@every_route
async def test_fifty_at_once_are_one(flow: StartFlow, route: Route) -> None:
    served = await flow([Text(pieces=["One ", "answer."], interval=0.1)])
    session_id = await session(served)
    answers = await asyncio.gather(*(ask(served, route, session_id) for _ in range(50)))
    assert {status for status, *_ in answers} == {200}
    assert len({text for _, text, *_ in answers}) == 1
    assert len({run_id for *_, run_id in answers}) == 1
    assert sorted(is_replayed for _, _, is_replayed, _ in answers) == [False] + [True] * 49
    assert served.provider.requests_seen == 1


@every_route
async def test_the_answer_outlives_a_restart(flow: StartFlow, tmp_path: Path, route: Route) -> None:
    served = await flow([Text("One answer.")])
    session_id = await session(served)
    first = await ask(served, route, session_id)
    await served.gateway.close()
    again = await flow([], home=tmp_path)
    status, text, is_replayed, run_id = await ask(again, route, session_id)
    assert (status, text, run_id) == (first[0], first[1], first[3])
    assert is_replayed


@every_route
async def test_another_body_under_the_same_key_is_a_conflict(flow: StartFlow, route: Route) -> None:
    served = await flow([Text("One answer.")])
    session_id = await session(served)
    await ask(served, route, session_id)
    path, body = route
    status, text, *_ = await ask(served, (path, {**body, "extra": 1}), session_id)
    assert status == 409
    assert "idempotency_key_conflict" in text
    assert served.provider.requests_seen == 1


@every_route
async def test_a_key_means_something_else_to_somebody_else(flow: StartFlow, route: Route) -> None:
    served = await flow([Text("One."), Text("Two.")], keys={"other": {"key": OTHER}})
    session_id = await session(served)
    first = await ask(served, route, session_id)
    second = await ask(served, route, session_id, **as_other(OTHER))
    assert (first[2], second[2]) == (False, False)
    assert first[3] != second[3]


async def test_a_key_belongs_to_its_route_and_session(flow: StartFlow) -> None:
    served = await flow(lambda _request: Text("An answer."))
    session_id, other = await session(served), await session(served)
    asked = [
        await ask(served, CHAT, session_id),
        await ask(served, RESPONSES, session_id),
        await ask(served, RUN, session_id),
        await ask(served, SESSION, session_id),
        await ask(served, SESSION, other),
        await ask(served, CHAT, session_id, **{"X-Hermes-Session-Id": session_id}),
    ]
    assert [is_replayed for _, _, is_replayed, _ in asked] == [False] * 6
    assert len({run_id for *_, run_id in asked}) == 6


@every_route
async def test_a_failure_without_effect_may_be_tried_again(flow: StartFlow, route: Route) -> None:
    served = await flow([HttpError(401, {"error": {"message": "bad key"}}), Text("An answer.")])
    session_id = await session(served)
    _, failed, *_ = await ask(served, route, session_id)
    status, text, is_replayed, _ = await ask(served, route, session_id)
    assert "bad key" in failed
    assert (status, is_replayed) == (200, False)
    assert "An" in text


@pytest.mark.parametrize("key", ["k" * 256, "caf\u00e9\u0085"])
async def test_a_key_that_cannot_be_one_is_refused(flow: StartFlow, key: str) -> None:
    served = await flow([])
    status, text, *_ = await ask(served, RUN, "", key=key)
    assert status == 400
    assert "Idempotency-Key" in text


async def test_who_asks_again_is_answered_also_at_the_limit_of_a_key(flow: StartFlow) -> None:
    served = await flow(
        [Text(pieces=["One ", "answer."], interval=0.3)], runs=RunSettings(max_per_key=1)
    )
    first = asyncio.create_task(ask(served, RESPONSES, ""))
    await served.provider.wait_for_requests()
    status, text, is_replayed, run_id = await ask(served, RESPONSES, "")

    assert (status, is_replayed) == (200, True)
    assert (await first)[1:] == (text, False, run_id)
