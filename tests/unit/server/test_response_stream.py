"""What is stored of a streamed response, however its stream ends."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from aiohttp import web

from hermes.core.events import TextDelta
from hermes.core.turn import TurnResult
from hermes.runs.feed import Feed
from hermes.server.response_stream import write_responses
from hermes.server.seams import NewRecord
from hermes.server.streaming import TurnView
from hermes.store.responses import ResponseStore
from hermes.wire.responses import ResponseHead
from tests.unit.server.fakes import FakeTurns, fake_seams

HEAD = ResponseHead(id="resp_1", created_at=1, model="any")
RECORD = NewRecord(
    store=True, opening=[{"role": "user", "content": "Hello"}], given_history=(), whole_history=()
)


class Wire:
    """A response whose client hears everything until `leaves` says that it is gone."""

    def __init__(self, leaves: Callable[[bytes], bool]) -> None:
        self._leaves = leaves

    async def prepare(self, _request: Any) -> None:
        pass

    async def write(self, data: bytes) -> None:
        if self._leaves(data):
            raise ConnectionResetError


async def stored_after(
    home: Path, monkeypatch: pytest.MonkeyPatch, leaves: Callable[[bytes], bool]
) -> Any:
    store = ResponseStore()
    seams = fake_seams(home, FakeTurns(), responses=lambda: store)
    feed = Feed()
    task = asyncio.get_running_loop().create_future()
    task.set_result(TurnResult(text="Hello there"))
    feed.put(TextDelta("Hello there"))
    feed.put(None)
    view = TurnView(
        source=feed, task=task, read_result=lambda result: result, interrupt=lambda _: None
    )
    monkeypatch.setattr(web, "StreamResponse", lambda **_: Wire(leaves))
    await write_responses(
        None,  # type: ignore[arg-type]  (nothing of it is read)
        HEAD,
        view,
        RECORD,
        seams,
        headers={},
        keepalive=60,
    )
    seams.storage.close()
    sessions = seams.sessions()
    assert sessions is not None
    sessions.close()  # type: ignore[attr-defined]
    return store.get("resp_1")


async def test_a_client_that_leaves_in_the_middle_leaves_an_incomplete_response(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    record = await stored_after(tmp_path, monkeypatch, lambda data: b"delta" in data)

    assert record["response"]["status"] == "incomplete"
    assert record["conversation_history"] == [
        {"role": "user", "content": "Hello"},
        {"role": "assistant", "content": "Hello there"},
    ]


async def test_a_client_that_misses_only_the_last_event_leaves_a_complete_response(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    record = await stored_after(tmp_path, monkeypatch, lambda data: b"[DONE]" in data)

    assert record["response"]["status"] == "completed"


async def test_a_client_that_stays_leaves_a_complete_response(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    record = await stored_after(tmp_path, monkeypatch, lambda _: False)

    assert record["response"]["status"] == "completed"
