"""Stored sessions as somebody at a terminal names them: by an id, or the beginning of one."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from hermes.core.errors import HermesError
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
    found = [] if store is None or not wanted else store.find_ids(wanted)
    if not found:
        raise HermesError(f"There is no session {wanted!r}; `hermes sessions list` shows them.")
    if len(found) > 1:
        raise HermesError(
            f"{wanted!r} is the beginning of {len(found)} session ids ({_some(found)}); "
            "give more of the one you mean."
        )
    return found[0]


def title_of(session: Mapping[str, Any], limit: int) -> str:
    """The session's title, else the first words its user said."""
    return one_line(str(session["title"] or session["auto_title"] or ""), limit)


def _some(ids: list[str]) -> str:
    rest = "" if len(ids) <= _SHOWN_CANDIDATES else ", …"
    return ", ".join(ids[:_SHOWN_CANDIDATES]) + rest
