"""What an agent may look up of its own past: the stored sessions."""

from __future__ import annotations

from typing import Any, Protocol

from hermes.core.sessions import MessagePage, MessageQuery, SearchPage


class PastSessions(Protocol):
    """Every call may block."""

    def get_session(self, session_id: str) -> dict[str, Any] | None: ...

    def page_messages(self, session_id: str, wanted: MessageQuery) -> MessagePage: ...

    def search(self, query: str, *, limit: int, offset: int) -> SearchPage | None:
        """None when the store cannot search."""
