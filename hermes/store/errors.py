"""What can go wrong with stored data, in words that say what to do next.

HermesError
├── StoreUnusable       the database file cannot be used as it is
├── StoreClosed         the store was used after it was closed
├── UnknownSession      no session has this id (also a `KeyError`)
└── SessionExists       a new session was given an id that is taken
"""

from __future__ import annotations

from hermes.core.errors import HermesError


class StoreUnusable(HermesError):
    """The database file is damaged, foreign, too new, locked, full or out of reach."""

    def __init__(self, place: str, problem: str, advice: str) -> None:
        super().__init__(f"{place} {problem}. {advice}.")
        self.place = place


class StoreClosed(HermesError):
    """The store was used after it was closed."""

    def __init__(self, place: str) -> None:
        super().__init__(f"{place} is closed. Open a new store to go on.")
        self.place = place


class UnknownSession(HermesError, KeyError):
    """No session has this id."""

    def __init__(self, session_id: str) -> None:
        super().__init__(f"There is no session {session_id!r}. Create it first.")
        self.session_id = session_id

    def __str__(self) -> str:
        # KeyError would show the message in quotes.
        return str(self.args[0])


class SessionExists(HermesError):
    """A new session was given an id that is taken."""

    def __init__(self, session_id: str) -> None:
        super().__init__(f"There is already a session {session_id!r}. Choose another id.")
        self.session_id = session_id
