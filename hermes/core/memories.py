"""What an agent remembers from one conversation to the next: facts, and whom they belong to."""

from __future__ import annotations

import re
from collections.abc import Hashable
from dataclasses import dataclass
from typing import Protocol

from hermes.core.errors import HermesError

LONGEST = 2000
"""Characters of one memory: a fact, not a document."""
MOST = 1000
"""Memories of one scope."""

_LOOKS_SECRET = re.compile(
    r"\b(?:sk|pk|rk)[-_][A-Za-z0-9_-]{16,}"
    r"|\bgh[pousr]_[A-Za-z0-9]{20,}|\bgithub_pat_[A-Za-z0-9_]{20,}"
    r"|\bxox[a-z]-[A-Za-z0-9-]{10,}|\bAKIA[A-Z0-9]{16}\b|\bAIza[A-Za-z0-9_-]{30,}"
    r"|\beyJ[A-Za-z0-9_-]{8,}\.eyJ[A-Za-z0-9_-]{8,}\."
    r"|-----BEGIN [A-Z ]{0,40}PRIVATE KEY-----"
)


class UnfitMemory(HermesError):
    """This text is not remembered; the message says why and what to do instead."""


class MemoryFull(HermesError):
    """The scope has as many memories as it may have."""


@dataclass(frozen=True, slots=True, kw_only=True)
class MemoryScope:
    """Whose memories: those of one key, and of one person or room behind it."""

    owner: str
    """The name of the key."""
    session_key: str = ""
    """As `X-Hermes-Session-Key` says; empty: the key's own."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Memory:
    id: str
    text: str
    created_at: int
    updated_at: int


@dataclass(frozen=True, slots=True, kw_only=True)
class MemoryPage:
    memories: tuple[Memory, ...]
    has_more: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Recollection:
    """What a model is told: the latest memories, oldest first, as far as there is room."""

    memories: tuple[Memory, ...] = ()
    left_out: int = 0
    """How many older ones there are beside."""


NOTHING = Recollection()


class Memories(Protocol):
    """Where memories are kept. Every call but `is_enabled` and `stamp` may block."""

    def is_enabled(self) -> bool:
        """Whether anything is to be remembered, or recalled, at all."""

    def add(self, scope: MemoryScope, text: str) -> Memory:
        """What is remembered already is not remembered twice. Raises `MemoryFull`."""

    def get(self, scope: MemoryScope, memory_id: str) -> Memory | None: ...

    def change(self, scope: MemoryScope, memory_id: str, text: str) -> Memory | None:
        """None when there is no such memory."""

    def remove(self, scope: MemoryScope, memory_id: str) -> bool:
        """Afterwards nothing of it is left in the file."""

    def clear(self, scope: MemoryScope) -> int:
        """How many there were."""

    def page(
        self, scope: MemoryScope, *, limit: int, after: str | None, newest_first: bool
    ) -> MemoryPage | None:
        """None when `after` is not one of them."""

    def find(self, scope: MemoryScope, words: str, *, limit: int) -> MemoryPage:
        """Those that have all these words, the latest first; without words all of them."""

    def recollect(self, scope: MemoryScope, *, characters: int) -> Recollection: ...

    def stamp(self) -> Hashable:
        """The same value for as long as nothing has changed. Cheap."""


def fit_text(text: str) -> str:
    """The text as it is remembered; raises `UnfitMemory` for one that is not to be."""
    fact = text.strip()
    if not fact:
        raise UnfitMemory("There is nothing to remember: the text is empty.")
    if len(fact) > LONGEST:
        raise UnfitMemory(
            f"A memory has at most {LONGEST:,} characters; keep the fact and leave out the rest."
        )
    if _LOOKS_SECRET.search(fact):
        raise UnfitMemory(
            "This looks like a key or a token. Memories are sent to the model provider with every "
            "request, so secrets are not remembered; say where it is kept instead."
        )
    return fact
