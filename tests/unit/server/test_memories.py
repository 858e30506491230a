"""/api/memories, without an agent."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from hermes.core.memories import LONGEST
from hermes.store.memories import MemoryStore
from tests.unit.server.conftest import Serve

MEMORIES = "/api/memories"
KEY = "k" * 20
ADA = {"X-Hermes-Session-Key": "ada"}


async def answer(client: Any, method: str, path: str = "", **options: Any) -> tuple[int, Any]:
    response = await client.request(method, MEMORIES + path, **options)
    return response.status, await response.json()


async def add(client: Any, text: str, headers: dict[str, str] | None = None) -> dict[str, Any]:
    status, memory = await answer(client, "POST", json={"text": text}, headers=headers)
    assert status == 201
    assert isinstance(memory, dict)
    return memory


async def test_a_memory_is_made_read_changed_and_deleted(serve: Serve) -> None:
    client = await serve(key=KEY)
    made = await add(client, " Ada likes tea. ", ADA)
    assert made == {
        "id": made["id"],
        "object": "hermes.memory",
        "text": "Ada likes tea.",
        "created_at": made["created_at"],
        "updated_at": made["created_at"],
    }
    place = f"/{made['id']}"
    assert await answer(client, "GET", place, headers=ADA) == (200, made)
    status, changed = await answer(
        client, "PATCH", place, json={"text": "Ada likes coffee."}, headers=ADA
    )
    assert (status, changed["id"], changed["text"]) == (200, made["id"], "Ada likes coffee.")
    assert await answer(client, "DELETE", place, headers=ADA) == (
        200,
        {"id": made["id"], "object": "hermes.memory.deleted", "deleted": True},
    )
    status, gone = await answer(client, "GET", place, headers=ADA)
    assert (status, gone["error"]["code"]) == (404, "memory_not_found")


async def test_a_scope_neither_sees_nor_changes_another(serve: Serve) -> None:
    client = await serve(key=KEY)
    made = await add(client, "Ada likes tea.", ADA)
    for headers in ({}, {"X-Hermes-Session-Key": "bob"}):
        place = f"/{made['id']}"
        for method, body in (("GET", None), ("PATCH", {"text": "x"}), ("DELETE", None)):
            status, refusal = await answer(client, method, place, json=body, headers=headers)
            assert (status, refusal["error"]["code"]) == (404, "memory_not_found")
        assert (await answer(client, "GET", headers=headers))[1]["data"] == []
        assert (await answer(client, "DELETE", headers=headers))[1]["deleted"] == 0
    assert (await answer(client, "GET", headers=ADA))[1]["data"] == [made]


async def test_pages_lead_from_one_to_the_next(serve: Serve) -> None:
    client = await serve()
    made = [await add(client, f"Fact {number}.") for number in range(3)]
    _, newest = await answer(client, "GET", "?limit=2")
    assert newest == {
        "object": "list",
        "data": [made[2], made[1]],
        "first_id": made[2]["id"],
        "last_id": made[1]["id"],
        "has_more": True,
    }
    _, rest = await answer(client, "GET", f"?limit=2&after={newest['last_id']}")
    assert (rest["data"], rest["has_more"]) == ([made[0]], False)
    _, oldest = await answer(client, "GET", "?order=asc")
    assert oldest["data"] == made
    status, refusal = await answer(client, "GET", "?after=mem_x")
    assert (status, refusal["error"]["param"]) == (404, "after")


async def test_all_memories_of_a_scope_are_forgotten_at_once(serve: Serve) -> None:
    client = await serve(key=KEY)
    await add(client, "one", ADA)
    await add(client, "two", ADA)
    kept = await add(client, "three")
    assert await answer(client, "DELETE", headers=ADA) == (
        200,
        {"object": "hermes.memory.list.deleted", "deleted": 2},
    )
    assert (await answer(client, "GET"))[1]["data"] == [kept]


async def test_the_same_fact_is_answered_with_the_memory_there_is(serve: Serve) -> None:
    client = await serve()
    assert await add(client, "one") == await add(client, "one")


async def test_a_repeated_request_is_carried_out_once(serve: Serve) -> None:
    client = await serve()
    headers = {"Idempotency-Key": "again"}
    first = await add(client, "one", headers)
    await answer(client, "DELETE", f"/{first['id']}")
    assert await add(client, "one", headers) == first
    assert (await answer(client, "GET"))[1]["data"] == []


@pytest.mark.parametrize(
    ("body", "code"),
    [
        ({}, "missing_required_parameter"),
        ({"text": None}, "missing_required_parameter"),
        ({"text": 7}, "invalid_type"),
        ({"text": "  "}, "invalid_value"),
        ({"text": "x" * (LONGEST + 1)}, "invalid_value"),
        ({"text": "key sk-" + "a" * 40}, "invalid_value"),
    ],
)
async def test_a_text_that_is_none_is_refused(serve: Serve, body: Any, code: str) -> None:
    client = await serve()
    for method, path in (("POST", ""), ("PATCH", "/mem_x")):
        status, refusal = await answer(client, method, path, json=body)
        assert (status, refusal["error"]["param"]) == (400, "text")
        assert refusal["error"]["code"] == code


async def test_a_session_key_needs_a_key(serve: Serve) -> None:
    client = await serve()
    status, refusal = await answer(client, "GET", headers=ADA)
    assert (status, refusal["error"]["code"]) == (403, "api_key_required")


async def test_memories_need_the_key_too(serve: Serve) -> None:
    client = await serve(key=KEY)
    status, _ = await answer(client, "GET", headers={"Authorization": "Bearer wrong"})
    assert status == 401


async def test_where_memories_are_off_that_is_said(serve: Serve, tmp_path: Path) -> None:
    off = MemoryStore(lambda: tmp_path / "m.db", is_enabled=lambda: False)
    for memories in (lambda: off, lambda: None):
        client = await serve(memories=memories)
        for method in ("GET", "DELETE"):
            status, refusal = await answer(client, method)
            assert (status, refusal["error"]["code"]) == (403, "memory_disabled")


async def test_a_damaged_store_is_said_to_be_so_without_its_path(
    serve: Serve, tmp_path: Path
) -> None:
    (tmp_path / "memory.db").write_bytes(b"no database" * 100)
    client = await serve()
    status, refusal = await answer(client, "GET")
    assert (status, refusal["error"]["code"]) == (503, "memory_store_unavailable")
    assert str(tmp_path) not in refusal["error"]["message"]


async def test_a_full_scope_refuses_more(serve: Serve, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("hermes.store.memories.MOST", 1)
    client = await serve()
    await add(client, "one")
    status, refusal = await answer(client, "POST", json={"text": "two"})
    assert (status, refusal["error"]["code"]) == (409, "memory_full")
