"""What must hold after a restart, compared with what clients were told before the kill."""

from __future__ import annotations

import asyncio
import json
import re
import sqlite3
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from tests.faults.clients import Told, ask, logged_frames
from tests.faults.planned_model import executions
from tests.faults.served import Served, until

ENDS = {"run.completed", "run.failed", "run.cancelled", "run.interrupted"}
_UNSETTLED = "queued,running,stopping"
_NUMBER = re.compile(rb'"sequence_number": ?(\d+)')

Log = list[dict[str, Any]]


async def hold(served: Served, told: Sequence[Told]) -> None:
    """Raises `AssertionError` for the first promise that was broken."""
    await everything_settles(served)
    logs = await logs_of(served, {each.run_id for each in told if each.run_id is not None})
    for each in told:
        await _kept(served, each)
    await everything_settles(served)  # also what was begun by asking again
    for session_id in {log[0]["session"] for log in logs.values() if log[0]["session"]}:
        await _session_matches(served, session_id)
    _no_tool_ran_twice(served.home, logs.values())
    await asyncio.to_thread(files_are_sound, served.home)


async def everything_settles(served: Served) -> None:
    """Nothing is at work for ever, whether it was given up or carried out now."""

    async def is_settled() -> bool:
        return not (await served.get(f"/v1/runs?limit=1&status={_UNSETTLED}"))["data"]

    await until(is_settled)


async def logs_of(served: Served, run_ids: Iterable[str]) -> dict[str, Log]:
    """The whole log of each run, which must be one; the first entry tells about the run."""
    logs: dict[str, Log] = {}
    for run_id in run_ids:
        run = await served.get(f"/v1/runs/{run_id}")
        body = await served.stream(run["events_url"])
        events = [_data(frame) for frame in logged_frames(body)]
        assert [event["seq"] for event in events] == list(range(1, len(events) + 1)), run
        assert [e["type"] for e in events if e["type"] in ENDS] == [f"run.{run['status']}"], run
        assert events[-1]["type"] in ENDS, run
        assert run["last_event"] == len(events), run
        logs[run_id] = [{"session": run["session_id"], "kind": run["kind"], "type": ""}, *events]
    return logs


def _data(frame: bytes) -> dict[str, Any]:
    return dict(json.loads(frame.partition(b"data: ")[2]))


async def _kept(served: Served, told: Told) -> None:
    """What this client was told is still true."""
    path = told.asked.path
    if path.endswith(("/events", "/chat/stream")):
        await _continues(served, path, told)
    elif path == "/v1/responses" and told.run_id is not None:
        await _response_is_kept(served, told)
    elif path == "/api/sessions" and told.is_acknowledged:
        made = json.loads(told.body)["session"]
        assert (await served.get(f"{path}/{made['id']}"))["session"]["title"] == made["title"]
    if told.asked.has_key:
        await _replayed(served, told)


async def _continues(served: Served, path: str, told: Told) -> None:
    """Whoever comes back sees the rest: no event twice, none missing."""
    last = told.last_event_id
    if last is None:
        return
    rest = logged_frames(await served.stream(path, headers={"Last-Event-ID": last}))
    assert [*told.frames, *rest] == await _whole(served, path, told)


async def _whole(served: Served, path: str, told: Told) -> list[bytes]:
    """All events of the stream. A session's is named by an event of it, such as its first."""
    if path.endswith("/events"):
        return logged_frames(await served.stream(path))
    since_first = {"Last-Event-ID": f"{told.run_id}:0"}
    return [*told.frames[:1], *logged_frames(await served.stream(path, headers=since_first))]


async def _response_is_kept(served: Served, told: Told) -> None:
    if not told.asked.is_streamed:
        if told.is_acknowledged:
            await _response_is(served, json.loads(told.body))
        return
    if not told.frames:
        return
    response_id = _data(told.frames[0])["response"]["id"]
    path = f"/v1/responses/{response_id}?stream=true"
    whole = logged_frames(await served.stream(path))
    numbers = [int(number) for number in _NUMBER.findall(b"\n\n".join(told.frames))]
    rest = logged_frames(await served.stream(f"{path}&starting_after={numbers[-1]}"))
    if b"[DONE]" in told.frames[-1]:
        rest = []
    assert [*told.frames, *rest] == whole
    stored = await served.get(f"/v1/responses/{response_id}")
    assert stored == _data(whole[-2])["response"]
    assert stored["status"] not in ("in_progress", "queued")


async def _response_is(served: Served, told: dict[str, Any]) -> None:
    """A response that was told in one piece; one in the background may have ended since."""
    stored = await served.get(f"/v1/responses/{told['id']}")
    assert stored["status"] not in ("in_progress", "queued")
    if not told["background"]:
        assert stored == told


async def _replayed(served: Served, told: Told) -> None:
    """The same request again is the same answer, as often as one asks."""
    first = await ask(served, told.asked)
    second = await ask(served, told.asked)
    assert second.headers.get("Idempotency-Replayed") == "true", (told, first, second)
    assert (first.status, _shown(first)) == (second.status, _shown(second))
    if told.run_id is not None:
        assert first.headers.get("X-Hermes-Run-Id") == told.run_id, (told, first)
        assert first.frames[: len(told.frames)] == told.frames
    if told.is_acknowledged:
        assert first.headers.get("Idempotency-Replayed") == "true"
        assert _shown(first) == _shown(told)


def _shown(told: Told) -> object:
    """What cannot change: of a run that is only begun, its id."""
    body = told.asked.body or {}
    if told.asked.is_streamed:
        return told.frames
    if told.asked.path == "/v1/runs" or body.get("background"):
        return told.headers.get("X-Hermes-Run-Id")
    return told.body


async def _session_matches(served: Served, session_id: str) -> None:
    """A session has exactly the messages that the logs of its runs have, each once."""
    page = await served.get(f"/v1/runs?limit=100&session_id={session_id}")
    logs = await logs_of(served, [run["id"] for run in page["data"]])
    if not any(event["type"] == "message.kept" for log in logs.values() for event in log):
        return  # a session named by a chat is made with its first message
    listed = (await served.get(f"/api/sessions/{session_id}/messages"))["data"]
    for run_id, log in logs.items():
        kept = [_said(event["message"]) for event in log if event["type"] == "message.kept"]
        assert [_said(m) for m in listed if m.get("run_id") == run_id] == kept, (run_id, listed)
    assert {message.get("run_id") for message in listed} <= set(logs)


def _said(message: dict[str, Any]) -> tuple[Any, ...]:
    return message["role"], message.get("content"), message.get("tool_call_id")


def _no_tool_ran_twice(home: Path, logs: Iterable[Log]) -> None:
    ran = executions(home)
    assert [token for token, times in ran.items() if times > 1] == []
    for log in logs:
        finished = {event["call_id"] for event in log if event["type"] == "tool.finished"}
        for event in log:
            if event["type"] == "tool.started" and event["call_id"] in finished:
                token = event["arguments"]["command"].split()[1]
                assert ran[token] == 1, event


def files_are_sound(home: Path) -> None:
    """Every database is intact, and nothing can be read by others."""
    databases = list(home.glob("*.db"))
    for path in databases:
        database = sqlite3.connect(f"file:{path}?mode=ro", uri=True)
        try:
            assert database.execute("PRAGMA integrity_check").fetchall() == [("ok",)], path
        finally:
            database.close()
    files = [path for path in home.rglob("*") if path.is_file() and "workspace" not in path.parts]
    assert {path.name: oct(path.stat().st_mode & 0o777) for path in files} == {
        path.name: "0o600" for path in files
    }
