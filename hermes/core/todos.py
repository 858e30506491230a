"""The list an agent plans its work with."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import Enum
from typing import Protocol

MOST = 50
LONGEST = 300
"""Characters of one task."""


class TodoStatus(Enum):
    PENDING = "pending"
    IN_PROGRESS = "in_progress"
    DONE = "done"
    CANCELLED = "cancelled"


@dataclass(frozen=True, slots=True)
class Todo:
    task: str
    status: TodoStatus = TodoStatus.PENDING


@dataclass(frozen=True, slots=True, kw_only=True)
class TodoScope:
    """Where a list belongs: to a stored session, else to the turn alone."""

    session_id: str | None
    """None: nothing is kept of the turn."""
    turn_id: str


class TodoLists(Protocol):
    """Every call but `latest` may block."""

    def read(self, scope: TodoScope) -> tuple[Todo, ...]: ...

    def write(self, scope: TodoScope, todos: Sequence[Todo]) -> None:
        """The whole list; an empty one forgets it."""

    def latest(self, scope: TodoScope) -> tuple[Todo, ...]:
        """The list as this process read or wrote it last."""


_MARKS = {
    TodoStatus.PENDING: "[ ]",
    TodoStatus.IN_PROGRESS: "[>]",
    TodoStatus.DONE: "[x]",
    TodoStatus.CANCELLED: "[-]",
}


def as_lines(todos: Sequence[Todo]) -> str:
    return "\n".join(f"{_MARKS[todo.status]} {todo.task}" for todo in todos)
