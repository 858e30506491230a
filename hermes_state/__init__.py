"""The door to stored sessions: `SessionDB(path)`."""

from __future__ import annotations

from hermes.store.sessions import SessionDB as SessionDB

__all__ = ["SessionDB"]
