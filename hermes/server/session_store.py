"""The way to the session store: in a storage thread, with answers for what is not there."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

from hermes.core.errors import NotFound, Unavailable
from hermes.core.ports import SessionStore
from hermes.server.seams import Seams

T = TypeVar("T")


async def in_store(seams: Seams, work: Callable[[SessionStore], T]) -> T:
    def run() -> T:
        store = seams.sessions()
        if store is None:
            raise Unavailable(
                "The session store cannot be opened; `hermes doctor` says why.",
                code="session_store_unavailable",
                headers={"Retry-After": "5"},
            )
        return work(store)

    return await seams.storage.run(run)


def existing(store: SessionStore, session_id: str) -> dict[str, Any]:
    row = store.get_session(session_id)
    if row is None:
        raise unknown_session(session_id)
    return row


def unknown_session(session_id: str) -> NotFound:
    return NotFound(
        f"No session has the id '{session_id[:100]}'.", code="session_not_found", param="session_id"
    )
