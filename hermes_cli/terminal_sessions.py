"""Stored sessions as somebody at a terminal names them: by an id, or the beginning of one."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from hermes.core.errors import HermesError
from hermes.core.messages import text_of
from hermes.settings.paths import state_db
from hermes.tools.output import one_line
from hermes_state import SessionDB

_SHOWN_CANDIDATES = 5


@contextmanager
def stored_sessions(home: Path) -> Iterator[SessionDB | None]:
    """The sessions of this home; None, and nothing is created, when there have never been any."""
    path = state_db(home)
    if not path.exists():
        yield None
        return
    store = SessionDB(path)
    try:
        yield store
    finally:
        store.close()


def find_session(store: SessionDB | None, wanted: str) -> str:
    """The id of the one session that `wanted` means; it may be the beginning of the id."""
    if store is not None and store.get_session(wanted) is not None:
        return wanted
    found = [] if store is None else _ids_starting_with(store, wanted)
    if not found:
        raise HermesError(f"There is no session {wanted!r}; `hermes sessions list` shows them.")
    if len(found) > 1:
        raise HermesError(
            f"{wanted!r} is the beginning of {len(found)} session ids ({_some(found)}); "
            "give more of the one you mean."
        )
    return found[0]


def title_of(store: SessionDB, session: Mapping[str, Any], limit: int) -> str:
    """The session's title, else the first words its user said."""
    if session["title"]:
        return one_line(str(session["title"]), limit)
    for message in store.get_messages(str(session["id"])):
        if message["role"] == "user":
            return one_line(text_of(message["content"]), limit)
    return ""


def _ids_starting_with(store: SessionDB, wanted: str) -> list[str]:
    sessions = store.list_sessions(limit=sys.maxsize, offset=0) if wanted else []
    return [session["id"] for session in sessions if session["id"].startswith(wanted)]


def _some(ids: list[str]) -> str:
    rest = "" if len(ids) <= _SHOWN_CANDIDATES else ", …"
    return ", ".join(ids[:_SHOWN_CANDIDATES]) + rest
