"""`todo` keeps the whole list, for the session where there is one, else for the turn."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from hermes.core.todos import LONGEST, MOST
from hermes.store.sessions import SessionDB
from hermes.store.todo_lists import ProcessTodoLists
from hermes.tools.base import Scope, ToolContext
from hermes.tools.registry import Registry
from hermes.tools.services import Services

Use = Callable[..., str]

STEPS = [{"task": "Look", "status": "done"}, {"task": "Fix  it", "status": "in_progress"}]
SHOWN = "[x] Look\n[>] Fix it\n[1 of 2 finished]"


@pytest.fixture
def sessions(tmp_path: Path) -> Iterator[SessionDB]:
    store = SessionDB(tmp_path / "state.db")
    store.create_session("s1", "test")
    store.create_session("s2", "test")
    yield store
    store.close()


@pytest.fixture
def use(context: ToolContext, sessions: SessionDB) -> Use:
    lists = ProcessTodoLists(lambda: sessions)

    def call(scope: Scope, **arguments: Any) -> str:
        here = replace(context, services=Services(todos=lists), scope=scope)
        return Registry.builtin().run("todo", arguments, here)

    return call


KEPT = Scope(session_id="s1", is_kept=True, turn_id="t1")
PASSING = Scope(session_id="api-1", turn_id="t1")


@pytest.mark.parametrize("scope", [KEPT, PASSING])
def test_the_list_is_written_whole_and_read_again(use: Use, scope: Scope) -> None:
    assert use(scope) == "The list is empty."
    assert use(scope, items=STEPS) == SHOWN
    assert use(scope) == SHOWN
    assert use(scope, items=[{"task": "Only this"}]) == "[ ] Only this\n[0 of 1 finished]"
    assert use(scope, items=[]) == "The list is empty."
    assert use(scope) == "The list is empty."


def test_the_next_turn_of_a_session_has_the_list(use: Use, sessions: SessionDB) -> None:
    use(KEPT, items=STEPS)
    assert use(replace(KEPT, turn_id="t2")) == SHOWN
    assert use(replace(KEPT, session_id="s2")) == "The list is empty."
    assert [todo.task for todo in sessions.get_todos("s1")] == ["Look", "Fix it"]


def test_a_name_alone_shares_no_list_between_turns(use: Use) -> None:
    use(PASSING, items=STEPS)
    assert use(replace(PASSING, turn_id="t2")) == "The list is empty."


def test_a_deleted_session_takes_its_list_along(use: Use, sessions: SessionDB) -> None:
    use(KEPT, items=STEPS)
    sessions.delete_session("s1")
    assert sessions.get_todos("s1") == ()
    assert "There is no session" in use(KEPT, items=STEPS)


@pytest.mark.parametrize(
    ("items", "said"),
    [
        ([{"status": "done"}], "needs a `task`"),
        ([{"task": " ", "status": "done"}], "needs a `task`"),
        ([{"task": 7}], "needs a `task`"),
        ([{"task": "x", "status": "soon"}], "pending, in_progress, done, cancelled"),
        ([{"task": "x" * (LONGEST + 1)}], f"at most {LONGEST} characters"),
        ([{"task": "x"}] * (MOST + 1), f"at most {MOST} tasks"),
        (["x"], "must be"),
        ("nothing", "must be"),
    ],
)
def test_a_list_that_is_none_is_explained_and_not_kept(use: Use, items: Any, said: str) -> None:
    use(KEPT, items=STEPS)
    assert said in use(KEPT, items=items)
    assert use(KEPT) == SHOWN


def test_the_tool_is_not_offered_where_no_lists_are_kept() -> None:
    assert "todo" not in Registry.builtin().usable(Services()).names()
