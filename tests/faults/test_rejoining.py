"""Viewers that drop and come back see the same bytes as one that stayed."""

from __future__ import annotations

import asyncio
import json
import random
import re
from collections.abc import AsyncIterator, Callable
from pathlib import Path

import aiohttp
import pytest

from hermes.testing.fake_provider import FakeProvider
from tests.faults.chance import a_seed
from tests.faults.clients import logged_frames
from tests.faults.planned_model import PlannedModel, plan
from tests.faults.served import Served, serving

PLAN = plan(words=60, pause=0.02, tools=("one", "two"))
VIEWERS = 6
DONE = b"data: [DONE]"
_ID = re.compile(rb"^id: (\S+)$", re.MULTILINE)
_NUMBER = re.compile(rb'"sequence_number": ?(\d+)')

Resume = Callable[[list[bytes]], tuple[str, dict[str, str]]]
"""The path and the headers with which a viewer that has seen these frames comes back."""


@pytest.fixture
async def served(tmp_path: Path) -> AsyncIterator[Served]:
    async with (
        FakeProvider(PlannedModel()) as provider,
        serving(tmp_path / "home", provider) as served,
    ):
        yield served


async def dropping_viewer(served: Served, chance: random.Random, resume: Resume) -> list[bytes]:
    """Everything seen by a viewer that leaves after every few frames."""
    seen: list[bytes] = []
    while True:
        path, headers = resume(seen)
        if await _watch(served, path, headers, seen, patience=chance.randint(1, 12)):
            return seen
        if seen[-1] == DONE:
            return seen


async def _watch(
    served: Served, path: str, headers: dict[str, str], seen: list[bytes], patience: int
) -> bool:
    """Watch until so many frames have come; True when the stream has ended before."""
    body = b""
    async with served.http.get(served.url + path, headers=headers) as response:
        assert response.status == 200, await response.text()
        async for chunk in response.content.iter_any():
            body += chunk
            if len(logged_frames(body)) >= patience:
                # What came in the middle of a frame is lost with the connection.
                seen += logged_frames(body)
                response.close()
                return False
    seen += logged_frames(body)
    return True


async def all_see_the_same(served: Served, path: str, resume: Resume) -> None:
    """One that stays, and some that come and go."""
    chance = random.Random(a_seed())
    stayed, *dropped = await asyncio.gather(
        served.stream(path),
        *(dropping_viewer(served, chance, resume) for _ in range(VIEWERS)),
    )
    whole = logged_frames(stayed)
    assert len(whole) > 20
    for seen in dropped:
        assert seen == whole


def last_id(seen: list[bytes]) -> str | None:
    return _ID.findall(seen[-1])[0].decode() if seen else None


async def begun(served: Served) -> str:
    _, run = await served.answer("POST", "/v1/runs", json={"input": PLAN})
    return f"/v1/runs/{run['id']}/events"


async def test_viewers_of_a_run_that_come_back_with_last_event_id_miss_nothing(
    served: Served,
) -> None:
    path = await begun(served)

    def resume(seen: list[bytes]) -> tuple[str, dict[str, str]]:
        last = last_id(seen)
        return path, {"Last-Event-ID": last} if last else {}

    await all_see_the_same(served, path, resume)


async def test_viewers_of_a_run_that_come_back_with_after_miss_nothing(served: Served) -> None:
    path = await begun(served)
    await all_see_the_same(served, path, lambda seen: (f"{path}?after={last_id(seen) or 0}", {}))


async def test_readers_of_a_response_that_come_back_miss_nothing(served: Served) -> None:
    body = {"input": PLAN, "background": True}
    _, response = await served.answer("POST", "/v1/responses", json=body)
    path = f"/v1/responses/{response['id']}?stream=true"

    def resume(seen: list[bytes]) -> tuple[str, dict[str, str]]:
        numbers = _NUMBER.findall(seen[-1]) if seen else []
        return (f"{path}&starting_after={numbers[0].decode()}" if numbers else path), {}

    await all_see_the_same(served, path, resume)


async def test_readers_of_a_session_stream_that_come_back_miss_nothing(served: Served) -> None:
    _, made = await served.answer("POST", "/api/sessions", json={})
    path = f"/api/sessions/{made['session']['id']}/chat/stream"
    opened = await served.http.post(served.url + path, json={"message": PLAN})
    assert await opened.content.readline()

    def resume(seen: list[bytes]) -> tuple[str, dict[str, str]]:
        last = last_id(seen)
        return path, {"Last-Event-ID": last} if last else {}

    await all_see_the_same(served, path, resume)
    opened.close()


async def test_a_reader_of_the_first_stream_may_go_on_with_a_second_one(served: Served) -> None:
    """The stream of the request itself and a stream that is joined later are one."""
    body = {"input": PLAN, "stream": True}
    response = await served.http.post(served.url + "/v1/responses", json=body)
    first = b""
    async for chunk in response.content.iter_any():
        first += chunk
        if len(logged_frames(first)) > 15:
            break
    response.close()
    seen = logged_frames(first)
    response_id = json.loads(seen[0].partition(b"data: ")[2])["response"]["id"]
    path = f"/v1/responses/{response_id}?stream=true"
    number = _NUMBER.findall(seen[-1])[0].decode()
    rest = logged_frames(await served.stream(f"{path}&starting_after={number}"))

    assert [*seen, *rest] == logged_frames(await served.stream(path))
    assert rest[-1] == DONE


async def test_a_stream_that_was_seen_to_its_end_ends_at_once(served: Served) -> None:
    path = await begun(served)
    seen = logged_frames(await served.stream(path))
    async with served.http.get(
        served.url + path, headers={"Last-Event-ID": last_id(seen) or ""}
    ) as again:
        assert isinstance(again, aiohttp.ClientResponse)
        assert await again.read() == b""
