"""GET /v1/runs/{run_id}/events: the same log for everybody, live, later and after a restart."""

from __future__ import annotations

import asyncio
import time
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from hermes.settings.model import RunSettings
from hermes.testing.replies import Reasoning, Text, ToolUse
from hermes.testing.scripted import EchoModel
from hermes.testing.sse import parse_events
from tests.flows.conftest import StartFlow
from tests.flows.run_client import (
    HELD,
    RUNS,
    STALLED,
    begin,
    events,
    kept_runs,
    kinds,
    read,
    release,
    stream,
    until,
)

SCRIPT = [
    [Reasoning("Let me see."), Text("One moment."), ToolUse("list_files", {"path": "."})],
    Text(pieces=["Nothing ", "is ", "here."], interval=0.02),
]


async def test_a_log_tells_the_whole_turn_in_order(flow: StartFlow) -> None:
    served = await flow(SCRIPT)
    run = await begin(served)
    told = await events(served, run["id"])
    named = kinds(told)

    assert [event["seq"] for event in told] == list(range(1, len(told) + 1))
    assert named[0] == "run.started"
    assert named[-1] == "run.completed"
    for kind in ("reasoning.delta", "text.delta", "segment.end", "tool.started", "tool.finished"):
        assert kind in named
    assert {event["run_id"] for event in told} == {run["id"]}
    assert named.count("message.kept") == 4
    assert told[-1]["output"] == "Nothing is here."
    deltas = [event["delta"] for event in told if event["type"] == "text.delta"]
    assert "".join(deltas) == "One moment.Nothing is here."


async def test_every_event_carries_its_number_as_the_id_of_its_frame(flow: StartFlow) -> None:
    served = await flow(SCRIPT)
    run = await begin(served)
    frames = parse_events(await stream(served, run["id"]))
    assert [frame.id for frame in frames] == [str(seq) for seq in range(1, len(frames) + 1)]


async def test_all_viewers_see_the_same_bytes_whenever_they_come(
    flow: StartFlow, tmp_path: Path
) -> None:
    served = await flow(SCRIPT)
    run = await begin(served)
    live = await asyncio.gather(*(stream(served, run["id"]) for _ in range(20)))
    later = await stream(served, run["id"])
    await served.gateway.close()
    again = await flow([], home=tmp_path)
    restarted = await stream(again, run["id"])
    assert {*live, later} == {restarted}


async def test_a_viewer_goes_on_exactly_after_any_event(flow: StartFlow) -> None:
    served = await flow(SCRIPT)
    run = await begin(served, wait=10)
    whole = await events(served, run["id"])
    for number in range(len(whole) + 1):
        by_query = await stream(served, run["id"], f"?after={number}")
        by_header = await stream(served, run["id"], headers={"Last-Event-ID": str(number)})
        assert read(by_query) == whole[number:]
        assert by_header == by_query


async def test_the_header_wins_over_the_query_of_the_first_request(flow: StartFlow) -> None:
    served = await flow(EchoModel())
    run = await begin(served, wait=10)
    told = await events(served, run["id"], "?after=1", headers={"Last-Event-ID": "2"})
    assert told[0]["seq"] == 3


async def test_a_viewer_who_drops_and_comes_back_misses_nothing(
    flow: StartFlow, tmp_path: Path
) -> None:
    served = await flow([HELD, Text("Done.")])
    run = await begin(served)
    url = f"{served.gateway.url}{RUNS}/{run['id']}/events"
    async with served.http.get(url) as response:
        first = await until(response, "tool.started")
    seen = read(first)
    release(tmp_path)
    rest = await events(served, run["id"], headers={"Last-Event-ID": str(seen[-1]["seq"])})
    assert seen + rest == await events(served, run["id"])


@pytest.mark.parametrize("after", ["1000", str(2**62)])
async def test_nothing_comes_after_the_end(flow: StartFlow, after: str) -> None:
    served = await flow(EchoModel())
    run = await begin(served, wait=10)
    assert await stream(served, run["id"], f"?after={after}") == ""


@pytest.mark.parametrize("after", ["-1", "two", "1.5", str(2**70)])
async def test_a_number_that_is_none_is_refused(flow: StartFlow, after: str) -> None:
    served = await flow(EchoModel())
    run = await begin(served, wait=10)
    path = f"{RUNS}/{run['id']}/events"
    status, answer = await served.answer("GET", f"{path}?after={after}")
    by_header, _ = await served.answer("GET", path, headers={"Last-Event-ID": after})
    assert (status, answer["error"]["param"], by_header) == (400, "after", 400)


async def test_whoever_has_seen_what_has_not_happened_is_told_so(flow: StartFlow) -> None:
    served = await flow([STALLED])
    run = await begin(served)
    await served.provider.wait_for_requests()
    status, answer = await served.answer("GET", f"{RUNS}/{run['id']}/events?after=3000")
    assert (status, answer["error"]["param"]) == (400, "after")


async def test_what_was_deleted_is_not_left_out_silently(flow: StartFlow) -> None:
    served = await flow(SCRIPT, runs=RunSettings(keep_deltas_hours=0))
    run = await begin(served, wait=10)
    whole = await events(served, run["id"])
    kept_runs(served).sweep(time.time() + 1)
    path = f"{RUNS}/{run['id']}/events"
    status, answer = await served.answer("GET", path)
    last = await events(served, run["id"], f"?after={len(whole) - 1}")

    assert (status, answer["error"]["code"]) == (410, "events_gone")
    assert answer["error"]["run"]["output"] == "Nothing is here."
    assert answer["error"]["run"]["has_all_events"] is False
    assert last == whole[-1:]


async def test_a_run_too_old_to_be_kept_is_not_found(flow: StartFlow) -> None:
    served = await flow(EchoModel(), runs=RunSettings(keep_deltas_hours=0, keep_days=0))
    run = await begin(served, wait=10)
    kept_runs(served).sweep(time.time() + 1)
    status, answer = await served.answer("GET", f"{RUNS}/{run['id']}/events")
    assert (status, answer["error"]["code"]) == (404, "run_not_found")


async def test_a_silent_stream_is_kept_alive(flow: StartFlow) -> None:
    served = await flow([STALLED], keepalive_seconds=0.05)
    run = await begin(served)
    async with served.http.get(f"{served.gateway.url}{RUNS}/{run['id']}/events") as response:
        assert response.headers["Content-Type"].startswith("text/event-stream")
        await until(response, ": keepalive")


async def test_a_chat_completion_from_memory_can_be_followed(flow: StartFlow) -> None:
    served = await flow([Text(pieces=["One ", "two ", "three."], interval=0.1)])
    body = {"model": "m", "messages": [{"role": "user", "content": "Hi"}], "stream": True}
    url = f"{served.gateway.url}/v1/chat/completions"
    async with served.http.post(url, json=body) as response:
        run_id = response.headers["X-Hermes-Run-Id"]
        following = asyncio.create_task(events(served, run_id))
        await response.text()
    told = await following
    afterwards = await events(served, run_id)
    _, run = await served.answer("GET", f"{RUNS}/{run_id}")

    assert kinds(told)[0] == "run.started"
    assert kinds(told)[-1] == "run.completed"
    assert "".join(event.get("delta", "") for event in told) == "One two three."
    assert [event["seq"] for event in told] == list(range(1, len(told) + 1))
    assert kinds(afterwards) == kinds(told)
    assert (run["kind"], run["status"], run["output"]) == ("chat", "completed", "One two three.")
    assert kept_runs(served).get(run_id) is None


async def test_a_chat_completion_from_memory_can_be_stopped(flow: StartFlow) -> None:
    served = await flow([STALLED])
    body = {"model": "m", "messages": [{"role": "user", "content": "Hi"}], "stream": True}
    url = f"{served.gateway.url}/v1/chat/completions"
    async with served.http.post(url, json=body) as response:
        run_id = response.headers["X-Hermes-Run-Id"]
        await until(response, "Half")
        status, run = await served.answer("POST", f"{RUNS}/{run_id}/stop")
        rest = await response.text()
    assert (status, run["status"]) == (200, "cancelled")
    assert rest.rstrip().endswith("[DONE]")


@settings(max_examples=8, deadline=None, suppress_health_check=list(HealthCheck))
@given(st.lists(st.integers(1, 6), min_size=1, max_size=4))
async def test_a_viewer_who_leaves_at_random_sees_the_log_of_one_who_stays(
    flow: StartFlow, tmp_path_factory: pytest.TempPathFactory, reads: list[int]
) -> None:
    served = await flow(
        [Text(pieces=[f"{number} " for number in range(30)], interval=0.005)],
        home=tmp_path_factory.mktemp("home"),
    )
    run = await begin(served)
    staying = asyncio.create_task(stream(served, run["id"]))
    seen = ""
    for frames in reads:
        url = f"{served.gateway.url}{RUNS}/{run['id']}/events"
        last = parse_events(seen)[-1].id if seen else "0"
        async with served.http.get(url, headers={"Last-Event-ID": str(last)}) as response:
            for _ in range(frames):
                seen += (await response.content.readuntil(b"\n\n")).decode()
    last = parse_events(seen)[-1].id
    seen += await stream(served, run["id"], headers={"Last-Event-ID": str(last)})
    assert seen == await staying
