"""The todo lists of a process: those of stored sessions in the store, those of a turn in memory."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Callable, Sequence
from typing import Protocol

from hermes.core.todos import Todo, TodoScope

MOST_REMEMBERED = 1000


class SessionTodos(Protocol):
    """The part of a session store that keeps them."""

    def get_todos(self, session_id: str) -> tuple[Todo, ...]: ...

    def set_todos(self, session_id: str, todos: Sequence[Todo]) -> None: ...


class ProcessTodoLists:
    """Any thread may call. Where the store cannot be opened, lists last as long as the process."""

    def __init__(self, sessions: Callable[[], SessionTodos | None]) -> None:
        self._sessions = sessions
        self._lock = threading.Lock()
        self._latest: OrderedDict[str, tuple[Todo, ...]] = OrderedDict()

    def read(self, scope: TodoScope) -> tuple[Todo, ...]:
        store = self._store_for(scope)
        if store is None or scope.session_id is None:
            return self.latest(scope)
        todos = store.get_todos(scope.session_id)
        self._remember(scope, todos)
        return todos

    def write(self, scope: TodoScope, todos: Sequence[Todo]) -> None:
        store = self._store_for(scope)
        if store is not None and scope.session_id is not None:
            store.set_todos(scope.session_id, todos)
        self._remember(scope, tuple(todos))

    def latest(self, scope: TodoScope) -> tuple[Todo, ...]:
        return self._latest.get(_name(scope), ())

    def _store_for(self, scope: TodoScope) -> SessionTodos | None:
        return None if scope.session_id is None else self._sessions()

    def _remember(self, scope: TodoScope, todos: tuple[Todo, ...]) -> None:
        with self._lock:
            self._latest[_name(scope)] = todos
            self._latest.move_to_end(_name(scope))
            if len(self._latest) > MOST_REMEMBERED:
                self._latest.popitem(last=False)


def _name(scope: TodoScope) -> str:
    return f"turn {scope.turn_id}" if scope.session_id is None else f"session {scope.session_id}"
