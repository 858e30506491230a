"""Idempotency keys of requests that create something, where the store fails."""

from __future__ import annotations

from typing import Any

from hermes.core.run_ports import KeptAnswer
from tests.unit.server.conftest import Serve

SESSIONS = "/api/sessions"
KEYED = {"Idempotency-Key": "k-1"}


class BrokenStore:
    """Keeps nothing; `is_readable` says whether that shows when it is asked."""

    def __init__(self, *, is_readable: bool) -> None:
        self._is_readable = is_readable

    def kept_answer(self, *_: str) -> KeptAnswer | None:
        if not self._is_readable:
            raise OSError("the disk is gone")
        return None

    def keep_answer(self, *_: Any) -> None:
        raise OSError("the disk is full")

    def close(self) -> None:
        """There is nothing to close."""


async def test_what_cannot_be_looked_up_is_not_created(serve: Serve) -> None:
    client = await serve(runs_store=lambda: BrokenStore(is_readable=False))
    answer = await client.post(SESSIONS, json={}, headers=KEYED)
    listed = await (await client.get(SESSIONS)).json()

    assert (answer.status, (await answer.json())["error"]["code"]) == (503, "run_store_unavailable")
    assert answer.headers["Retry-After"]
    assert listed["data"] == []


async def test_what_is_created_is_answered_even_if_the_answer_cannot_be_kept(serve: Serve) -> None:
    store = BrokenStore(is_readable=True)
    client = await serve(runs_store=lambda: store)
    first = await client.post(SESSIONS, json={}, headers=KEYED)
    again = await client.post(SESSIONS, json={}, headers=KEYED)

    assert (first.status, again.status) == (201, 201)
    assert await first.json() == await again.json()
    assert "Idempotency-Replayed" in again.headers
