"""The messages of a turn of Codex: each said once, also where Codex tries again. Pure."""

from __future__ import annotations

from hermes.backends.drivers.reconciling import Reconciliation


class Messages:
    """Hears messages by id. After a broken stream Codex tells the same one under a new id."""

    def __init__(self) -> None:
        self._message = Reconciliation()
        self._id: str | None = None
        self._is_again = False

    def hear(self, message_id: str, piece: str) -> str:
        """A message grows; returns what has to be said now."""
        return self._of(message_id).hear(piece)

    def hear_whole(self, message_id: str, whole: str) -> str:
        """A message is complete; returns what has to be said yet."""
        return self._of(message_id).hear_whole(whole)

    def begin_again(self) -> None:
        """What was said since the last call of the model that went well will be told again."""
        self._is_again = True
        self._message.begin_again()

    def settle(self) -> None:
        """A call of the model went well: what it said is final."""
        self._message = Reconciliation()
        self._id = None
        self._is_again = False

    def _of(self, message_id: str) -> Reconciliation:
        if message_id != self._id and not self._is_again:
            self._message = Reconciliation()
        self._id = message_id
        self._is_again = False
        return self._message
