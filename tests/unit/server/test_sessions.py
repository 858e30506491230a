"""/api/sessions, without an agent."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from hermes.core.errors import Unavailable
from hermes.core.events import Notice, ReasoningDelta, TextDelta, ToolProgress
from hermes.core.turn import Outcome, TurnResult
from hermes.store.sessions import SessionDB
from hermes.testing.sse import parse_events
from tests.unit.server.conftest import Serve
from tests.unit.server.fakes import FakeTurns

SESSIONS = "/api/sessions"
EXPORTED = {
    "object": "hermes.session.export",
    "version": 1,
    "session": {"id": "s", "source": "x", "started_at": 1},
    "messages": [],
}


async def new_session(client: Any) -> str:
    return str((await (await client.post(SESSIONS, json={})).json())["session"]["id"])


@pytest.mark.parametrize(
    ("method", "path", "body"),
    [
        ("GET", "", None),
        ("POST", "", {}),
        ("GET", "/any", None),
        ("PATCH", "/any", {"title": "x"}),
        ("DELETE", "/any", None),
        ("GET", "/any/messages", None),
        ("GET", "/any/messages?limit=1", None),
        ("GET", "/any/todos", None),
        ("GET", "/any/export", None),
        ("GET", "/search?q=x", None),
        ("POST", "/import", EXPORTED),
        ("POST", "/any/compact", {}),
        ("POST", "/any/fork", {}),
        ("POST", "/any/chat", {"message": "x"}),
        ("POST", "/any/chat/stream", {"message": "x"}),
    ],
)
async def test_a_store_that_cannot_be_opened_is_said_to_be_so(
    serve: Serve, method: str, path: str, body: Any
) -> None:
    turns = FakeTurns()
    client = await serve(turns, sessions=lambda: None)
    response = await client.request(method, SESSIONS + path, json=body)

    assert response.status == 503
    assert (await response.json())["error"]["code"] == "session_store_unavailable"
    assert response.headers["Retry-After"]
    assert turns.calls == []


async def test_a_store_that_cannot_search_is_said_to_be_so(serve: Serve, tmp_path: Path) -> None:
    store = SessionDB(tmp_path / "other.db", can_search=False)
    client = await serve(FakeTurns(), sessions=lambda: store)
    response = await client.get(f"{SESSIONS}/search?q=word")

    assert response.status == 503
    assert (await response.json())["error"]["code"] == "search_unavailable"
    store.close()


async def test_a_session_is_compacted_by_one_request_at_a_time(serve: Serve) -> None:
    turns = FakeTurns()
    compacting: set[str] = set()
    client = await serve(turns, compacting=compacting)
    session_id = await new_session(client)
    compacting.add(session_id)
    response = await client.post(f"{SESSIONS}/{session_id}/compact")

    assert response.status == 409
    assert (await response.json())["error"]["code"] == "compaction_running"
    assert turns.calls == []


async def test_the_logs_of_its_runs_go_with_a_session(serve: Serve) -> None:
    deleted: list[str] = []

    class Runs:
        def delete_session(self, session_id: str) -> int:
            deleted.append(session_id)
            return 1

    client = await serve(FakeTurns(), runs_store=Runs)
    session_id = await new_session(client)
    assert (await client.delete(f"{SESSIONS}/nobody")).status == 404
    assert (await client.delete(f"{SESSIONS}/{session_id}")).status == 200
    assert deleted == [session_id]


async def test_a_chat_is_a_turn_that_belongs_to_the_session(serve: Serve) -> None:
    turns = FakeTurns()
    client = await serve(turns)
    session_id = await new_session(client)
    body = {"message": "Hello", "system_message": "Be brief."}
    response = await client.post(f"{SESSIONS}/{session_id}/chat", json=body)
    [call] = turns.calls

    assert (call.session_id, call.system_prompt, call.user_message) == (
        session_id,
        "Be brief.",
        "Hello",
    )
    assert call.parameters.persist is True
    assert response.headers["X-Hermes-Session-Id"] == session_id


async def test_a_failed_turn_is_an_error(serve: Serve) -> None:
    client = await serve(FakeTurns(TurnResult(outcome=Outcome.FAILED, error="no luck")))
    session_id = await new_session(client)
    response = await client.post(f"{SESSIONS}/{session_id}/chat", json={"message": "x"})

    assert response.status == 502
    assert "no luck" in await response.text()


async def test_a_stream_shows_everything_that_happens(serve: Serve) -> None:
    events = [
        ReasoningDelta("Hm."),
        ToolProgress("reasoning.available", "_thinking", "Hm."),
        Notice("provider_retry", "Trying again."),
        TextDelta("Hello"),
    ]
    client = await serve(FakeTurns(TurnResult(text="Hello"), events))
    session_id = await new_session(client)
    response = await client.post(f"{SESSIONS}/{session_id}/chat/stream", json={"message": "x"})
    told = [(event.event, json.loads(event.data)) for event in parse_events(await response.text())]

    assert [name for name, _ in told] == [
        "run.started",
        "message.started",
        "assistant.reasoning",
        "tool.progress",
        "notice",
        "assistant.delta",
        "assistant.completed",
        "run.completed",
        "done",
    ]


async def test_a_draining_gateway_starts_no_turn_in_a_session(serve: Serve) -> None:
    from_drain = FakeTurns()
    client = await serve(from_drain, admit_turn=_refuse)
    session_id = await new_session(client)
    for path in ("chat", "chat/stream"):
        response = await client.post(f"{SESSIONS}/{session_id}/{path}", json={"message": "x"})
        assert response.status == 503
    assert from_drain.calls == []


def _refuse() -> None:
    raise Unavailable("Not now.", code="draining")
