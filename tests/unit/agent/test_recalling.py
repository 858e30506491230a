"""Memories are read when they change; a store that fails costs the memories, not the answer."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from hermes.agent import recalling
from hermes.agent.recalling import Plan, Recall
from hermes.core.memories import MemoryScope, Recollection
from hermes.core.todos import Todo, TodoScope
from hermes.store.memories import MemoryStore
from hermes.store.sessions import SessionDB
from hermes.store.todo_lists import ProcessTodoLists

ADA = MemoryScope(owner="web", session_key="ada")


@pytest.fixture
def store(tmp_path: Path) -> Iterator[MemoryStore]:
    store = MemoryStore(lambda: tmp_path / "memory.db")
    yield store
    store.close()


def texts(found: Recollection) -> list[str]:
    return [memory.text for memory in found.memories]


def test_what_was_just_remembered_is_recalled(store: MemoryStore) -> None:
    recall = Recall(store, lambda: 1000)
    assert texts(recall.of(ADA)) == []
    added = store.add(ADA, "one")
    assert texts(recall.of(ADA)) == ["one"]
    store.remove(ADA, added.id)
    assert texts(recall.of(ADA)) == []


def test_what_has_not_changed_is_not_read_again(store: MemoryStore) -> None:
    recall = Recall(store, lambda: 1000)
    store.add(ADA, "one")
    assert recall.of(ADA) is recall.of(ADA)


def test_another_limit_holds_at_once(store: MemoryStore) -> None:
    limit = [3]
    recall = Recall(store, lambda: limit[0])
    store.add(ADA, "one")
    store.add(ADA, "two")
    assert recall.of(ADA).left_out == 1
    limit[0] = 100
    assert recall.of(ADA).left_out == 0


def test_nothing_is_recalled_where_memories_are_off(tmp_path: Path, store: MemoryStore) -> None:
    store.add(ADA, "one")
    off = MemoryStore(lambda: tmp_path / "memory.db", is_enabled=lambda: False)
    assert Recall(off, lambda: 1000).of(ADA) == Recollection()
    assert Recall().of(ADA) == Recollection()


def test_a_damaged_store_is_logged_and_recalls_nothing(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    (tmp_path / "memory.db").write_bytes(b"no database" * 100)
    assert Recall(MemoryStore(lambda: tmp_path / "memory.db"), lambda: 1000).of(ADA) == (
        Recollection()
    )
    assert "is not a database" in caplog.text


def test_only_so_many_scopes_are_held(store: MemoryStore, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(recalling, "MOST_SCOPES", 2)
    recall = Recall(store, lambda: 1000)
    for number in range(5):
        scope = MemoryScope(owner=str(number))
        store.add(scope, f"fact {number}")
        assert texts(recall.of(scope)) == [f"fact {number}"]
    assert len(recall._known) <= 2


def test_a_plan_is_read_once_and_then_known(tmp_path: Path) -> None:
    sessions = SessionDB(tmp_path / "state.db")
    sessions.create_session("s1", "test")
    sessions.set_todos("s1", [Todo("Look")])
    lists, scope = ProcessTodoLists(lambda: sessions), TodoScope(session_id="s1", turn_id="t")
    plan = Plan(lists, scope)
    assert plan.todos() == (Todo("Look"),)
    lists.write(scope, [Todo("Fix")])
    sessions.close()
    assert plan.todos() == (Todo("Fix"),)


def test_a_plan_that_cannot_be_read_is_empty(tmp_path: Path) -> None:
    sessions = SessionDB(tmp_path / "state.db")
    sessions.close()
    lists = ProcessTodoLists(lambda: sessions)
    assert Plan(lists, TodoScope(session_id="s1", turn_id="t")).todos() == ()
    assert Plan(None, TodoScope(session_id="s1", turn_id="t")).todos() == ()


def test_lists_of_turns_are_forgotten_in_the_end(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("hermes.store.todo_lists.MOST_REMEMBERED", 2)
    lists = ProcessTodoLists(lambda: None)
    scopes = [TodoScope(session_id=None, turn_id=str(number)) for number in range(3)]
    for scope in scopes:
        lists.write(scope, [Todo(scope.turn_id)])
    assert [len(lists.read(scope)) for scope in scopes] == [0, 1, 1]
