"""What can go wrong with stored data, in words that say what to do next.

HermesError
├── StoreUnusable       the database file cannot be used as it is
├── StoreClosed         the store was used after it was closed
├── UnknownSession      no session has this id (also a `KeyError`)
├── UnknownMessage      the session has no message with this id (also a `KeyError`)
├── SessionExists       a new session was given an id that is taken
├── RunExists           a new run was given an id that is taken
└── LogGap              an event would leave a hole in its log
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


class UnknownMessage(HermesError, KeyError):
    """The session has no message with this id."""

    def __init__(self, session_id: str, message_id: int) -> None:
        super().__init__(f"Session {session_id!r} has no message {message_id}.")
        self.message_id = message_id

    def __str__(self) -> str:
        return str(self.args[0])


class SessionExists(HermesError):
    """A new session was given an id that is taken."""

    def __init__(self, session_id: str) -> None:
        super().__init__(f"There is already a session {session_id!r}. Choose another id.")
        self.session_id = session_id


class RunExists(HermesError):
    """A new run was given an id that is taken."""

    def __init__(self, run_id: str) -> None:
        super().__init__(f"There is already a run {run_id!r}. Every run needs an id of its own.")
        self.run_id = run_id


class LogGap(HermesError):
    """An event would leave a hole in its log; a mistake in the program that numbers them."""

    def __init__(self, run_id: str, seq: int, expected: int) -> None:
        super().__init__(
            f"Event {seq} of run {run_id} cannot be kept before event {expected}. "
            "Please report this; the run cannot go on."
        )
        self.run_id = run_id
