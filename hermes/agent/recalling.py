"""What an agent remembers at the beginning of a turn."""

from __future__ import annotations

import logging
from collections.abc import Callable, Hashable
from functools import partial

from hermes.core.errors import HermesError
from hermes.core.memories import NOTHING, Memories, MemoryScope, Recollection
from hermes.core.todos import Todo, TodoLists, TodoScope
from hermes.fibers import blocking

MOST_SCOPES = 1000

log = logging.getLogger(__name__)


class Recall:
    """The memories of each scope, read again only when some have changed."""

    def __init__(
        self, memories: Memories | None = None, characters: Callable[[], int] = int
    ) -> None:
        """`characters`: how much of them a model is told."""
        self._memories = memories
        self._characters = characters
        self._known: dict[MemoryScope, tuple[Hashable, Recollection]] = {}

    def of(self, scope: MemoryScope) -> Recollection:
        """Nothing when they cannot be read: an answer without them is better than none."""
        if self._memories is None or not self._memories.is_enabled():
            return NOTHING
        characters = self._characters()
        stamp = (self._memories.stamp(), characters)
        known = self._known.get(scope)
        if known is not None and known[0] == stamp:
            return known[1]
        try:
            found = blocking(partial(self._memories.recollect, scope, characters=characters))
        except HermesError as error:
            log.warning("nothing is remembered: %s", error)
            found = NOTHING
        if len(self._known) >= MOST_SCOPES:
            self._known.clear()
        self._known[scope] = (stamp, found)
        return found


class Plan:
    """The todo list of one turn: read when it is first asked for, then as tools change it."""

    def __init__(self, lists: TodoLists | None, scope: TodoScope) -> None:
        """Without `lists` it is always empty."""
        self._lists = lists
        self._scope = scope
        self._is_read = False

    def todos(self) -> tuple[Todo, ...]:
        if self._lists is None:
            return ()
        if not self._is_read and self._scope.session_id is not None:
            self._is_read = True
            return self._read(self._lists)
        return self._lists.latest(self._scope)

    def _read(self, lists: TodoLists) -> tuple[Todo, ...]:
        try:
            return blocking(partial(lists.read, self._scope))
        except HermesError as error:
            log.warning("the todo list is not shown: %s", error)
            return ()
