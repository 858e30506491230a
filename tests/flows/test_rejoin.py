"""Coming back to a stream of Responses or of a session: the rest, exactly, live and later."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any

import pytest

from hermes.settings.model import RunSettings
from hermes.testing.replies import Text
from hermes.testing.sse import parse_events
from tests.flows.conftest import Flow, StartFlow
from tests.flows.run_client import HELD, ended, kept_runs, read, release, until

RESPONSES = "/v1/responses"
DETACHED = {"X-Hermes-Disconnect": "detach"}


async def got(served: Flow, path: str, **options: Any) -> str:
    async with served.http.get(served.gateway.url + path, **options) as response:
        assert response.status == 200, await response.text()
        return await response.text()


async def session(served: Flow) -> str:
    _, made = await served.answer("POST", "/api/sessions", json={})
    return f"/api/sessions/{made['session']['id']}/chat/stream"


async def broken_off(served: Flow, path: str, body: dict[str, Any], part: str) -> tuple[str, str]:
    """What a client saw before its line broke, as whole frames, and the id of the run."""
    url = served.gateway.url + path
    async with served.http.post(url, json=body, headers=DETACHED) as response:
        said = await until(response, part)
        run_id = response.headers["X-Hermes-Run-Id"]
        response.close()
    return said[: said.rindex("\n\n") + 2], run_id


@pytest.mark.parametrize("background", [False, True])
async def test_a_response_is_joined_again_after_any_event(
    flow: StartFlow, tmp_path: Path, background: bool
) -> None:
    served = await flow([HELD, Text("It went.")])
    body = {"model": "m", "input": "Hi", "stream": True, "background": background}
    first, run_id = await broken_off(served, RESPONSES, body, "terminal")
    seen = read(first)
    path = f"{RESPONSES}/{seen[0]['response']['id']}?stream=true"
    release(tmp_path)
    last = seen[-1]["sequence_number"]
    rest = read(await got(served, f"{path}&starting_after={last}"))
    whole = read(await got(served, path))
    await ended(served, run_id)

    assert seen + rest == whole
    assert [event["sequence_number"] for event in whole] == list(range(len(whole)))
    assert whole[-1]["type"] == "response.completed"
    for number in range(len(whole)):
        assert read(await got(served, f"{path}&starting_after={number}")) == whole[number + 1 :]


async def test_a_response_reads_the_same_after_a_restart(flow: StartFlow, tmp_path: Path) -> None:
    served = await flow([Text("An answer.")])
    body = {"model": "m", "input": "Hi", "stream": True}
    first = await served.text(RESPONSES, body)
    response_id = read(first)[0]["response"]["id"]
    await served.gateway.close()
    again = await flow([], home=tmp_path)
    assert await got(again, f"{RESPONSES}/{response_id}?stream=true") == first


async def test_a_response_whose_events_are_gone_is_given_whole(flow: StartFlow) -> None:
    served = await flow([Text("An answer.")], runs=RunSettings(keep_deltas_hours=0))
    first = await served.text(RESPONSES, {"model": "m", "input": "Hi", "stream": True})
    response_id = read(first)[0]["response"]["id"]
    kept_runs(served).sweep(time.time() + 1)
    status, answer = await served.answer("GET", f"{RESPONSES}/{response_id}?stream=true")
    assert (status, answer["error"]["code"]) == (410, "events_gone")
    assert answer["error"]["response"]["output"][0]["content"][0]["text"] == "An answer."


@pytest.mark.parametrize("method", ["GET", "POST"])
async def test_a_session_stream_is_joined_again_with_the_last_id(
    flow: StartFlow, tmp_path: Path, method: str
) -> None:
    served = await flow([HELD, Text("It went.")])
    path = await session(served)
    first, run_id = await broken_off(served, path, {"message": "Hi"}, "terminal")
    last = parse_events(first)[-1].id
    assert last
    release(tmp_path)
    headers = {"Last-Event-ID": last}
    if method == "GET":
        rest = await got(served, path, headers=headers)
    else:
        rest = await served.text(path, {"message": "Hi"}, headers=headers)
    await ended(served, run_id)
    whole = await got(served, path)

    assert first + rest == whole
    assert "It went." in "".join(str(event) for event in read(whole))
    assert served.provider.requests_seen == 2


async def test_a_session_stream_reads_the_same_from_every_event_and_after_a_restart(
    flow: StartFlow, tmp_path: Path
) -> None:
    served = await flow([Text("An answer.")])
    path = await session(served)
    whole = await served.text(path, {"message": "Hi"})
    frames = parse_events(whole)
    for number, frame in enumerate(frames):
        rest = await got(served, path, headers={"Last-Event-ID": str(frame.id)})
        assert parse_events(rest) == frames[number + 1 :]
    await served.gateway.close()
    again = await flow([], home=tmp_path)
    assert await got(again, path) == whole


async def test_an_id_of_another_stream_is_refused(flow: StartFlow) -> None:
    served = await flow([Text("One.")])
    path, other = await session(served), await session(served)
    whole = await served.text(path, {"message": "Hi"})
    last = str(parse_events(whole)[0].id)
    foreign, _ = await served.answer("GET", other, headers={"Last-Event-ID": last})
    nonsense, answer = await served.answer("GET", path, headers={"Last-Event-ID": "seven"})
    empty, none = await served.answer("GET", other)
    assert (foreign, nonsense, empty) == (404, 400, 404)
    assert answer["error"]["param"] == "Last-Event-ID"
    assert none["error"]["code"] == "run_not_found"
