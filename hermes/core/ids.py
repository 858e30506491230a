"""Identifiers with a telling prefix: random ones, and ones that are derived from others."""

from __future__ import annotations

import hashlib
from os import urandom

_DERIVED = "api-"


def new_id(prefix: str) -> str:
    """A fresh, unguessable id such as `resp_6f0c…` (96 random bits)."""
    return prefix + urandom(12).hex()


def derived_id(prefix: str, seed: str, number: int) -> str:
    """The same id for the same seed and number, in every process; as hard to guess as the seed."""
    digest = hashlib.sha256(f"{seed}\x00{number}".encode(errors="surrogatepass")).hexdigest()
    return prefix + digest[:24]


def derive_chat_session_id(system_prompt: str | None, first_user_message: str) -> str:
    """The name of a chat whose client keeps the history itself.

    The same opening gives the same name on every turn. It only names: two callers with the same
    opening get the same id, so nothing may ever be loaded by it.
    """
    opening = f"{system_prompt or ''}\x00{first_user_message}".encode(errors="surrogatepass")
    return _DERIVED + hashlib.sha256(opening).hexdigest()[:16]


def is_derived_chat_session_id(session_id: str) -> bool:
    """Whether it may be the name of several chats."""
    return session_id.startswith(_DERIVED)
