"""Memories belong to their scope, come back as they were, and are gone when they are removed."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from hermes.core.memories import MOST, MemoryFull, MemoryScope, Recollection
from hermes.store.memories import MemoryStore

ADA = MemoryScope(owner="web", session_key="ada")
BOB = MemoryScope(owner="web", session_key="bob")
OTHER_KEY = MemoryScope(owner="mobile", session_key="ada")
NOBODY = MemoryScope(owner="web")


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "memory.db"


@pytest.fixture
def store(path: Path) -> Iterator[MemoryStore]:
    now = iter(range(1000, 100_000))
    store = MemoryStore(lambda: path, clock=lambda: float(next(now)))
    yield store
    store.close()


def texts(store: MemoryStore, scope: MemoryScope) -> list[str]:
    return [memory.text for memory in store.find(scope, "", limit=MOST).memories]


def test_a_memory_is_found_again_by_its_id(store: MemoryStore) -> None:
    added = store.add(ADA, "Ada likes tea.")
    assert store.get(ADA, added.id) == added
    assert (added.created_at, added.updated_at) == (1000, 1000)


def test_no_scope_sees_or_touches_what_belongs_to_another(store: MemoryStore) -> None:
    added = store.add(ADA, "Ada likes tea.")
    for scope in (BOB, OTHER_KEY, NOBODY):
        assert store.get(scope, added.id) is None
        assert store.change(scope, added.id, "Ada likes coffee.") is None
        assert not store.remove(scope, added.id)
        assert store.clear(scope) == 0
        assert texts(store, scope) == []
        assert store.page(scope, limit=10, after=added.id, newest_first=True) is None
        assert store.recollect(scope, characters=100) == Recollection()
    assert texts(store, ADA) == ["Ada likes tea."]


def test_a_changed_memory_keeps_its_id_and_its_place(store: MemoryStore) -> None:
    first = store.add(ADA, "one")
    store.add(ADA, "two")
    changed = store.change(ADA, first.id, "uno")
    assert changed is not None
    assert (changed.id, changed.text, changed.created_at) == (first.id, "uno", first.created_at)
    assert changed.updated_at > first.updated_at
    assert texts(store, ADA) == ["two", "uno"]


def test_a_fact_is_remembered_once(store: MemoryStore) -> None:
    assert store.add(ADA, "one") == store.add(ADA, "one")
    assert texts(store, ADA) == ["one"]


def test_pages_follow_each_other_in_both_orders(store: MemoryStore) -> None:
    for number in range(5):
        store.add(ADA, f"fact {number}")
    for newest_first in (True, False):
        seen: list[str] = []
        after: str | None = None
        while True:
            page = store.page(ADA, limit=2, after=after, newest_first=newest_first)
            assert page is not None
            seen += [memory.text for memory in page.memories]
            after = page.memories[-1].id
            if not page.has_more:
                break
        wanted = [f"fact {number}" for number in range(5)]
        assert seen == (wanted[::-1] if newest_first else wanted)


def test_words_find_memories_whatever_their_case_and_order(store: MemoryStore) -> None:
    store.add(ADA, "Ada's cat is called Pangur.")
    store.add(ADA, "Ada lives in Bern.")
    found = store.find(ADA, "CALLED cat", limit=10)
    assert [memory.text for memory in found.memories] == ["Ada's cat is called Pangur."]


def test_the_latest_are_recalled_as_far_as_there_is_room(store: MemoryStore) -> None:
    for letter in "abc":
        store.add(ADA, letter * 10)
    told = store.recollect(ADA, characters=25)
    assert [memory.text for memory in told.memories] == ["b" * 10, "c" * 10]
    assert told.left_out == 1


def test_nothing_is_made_before_something_is_remembered(store: MemoryStore, path: Path) -> None:
    assert store.recollect(ADA, characters=100) == Recollection()
    store.stamp()
    assert not path.exists()


def test_a_scope_is_full_at_some_point(store: MemoryStore, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("hermes.store.memories.MOST", 2)
    store.add(ADA, "one")
    store.add(ADA, "two")
    with pytest.raises(MemoryFull, match="remove some"):
        store.add(ADA, "three")
    store.add(BOB, "three")


def everything_in(folder: Path) -> bytes:
    return b"".join(file.read_bytes() for file in folder.iterdir())


def test_what_is_removed_changed_or_cleared_is_gone_from_the_file(
    store: MemoryStore, path: Path
) -> None:
    removed = store.add(ADA, "The removed fact is tangerine.")
    changed = store.add(ADA, "The changed fact is mulberry.")
    store.add(BOB, "The cleared fact is physalis.")
    store.add(ADA, "The kept fact is quince.")
    assert all(
        word in everything_in(path.parent) for word in (b"tangerine", b"mulberry", b"physalis")
    )
    assert store.remove(ADA, removed.id)
    store.change(ADA, changed.id, "The changed fact is apple.")
    assert store.clear(BOB) == 1
    left = everything_in(path.parent)
    assert not any(word in left for word in (b"tangerine", b"mulberry", b"physalis"))
    assert b"quince" in left


def test_what_a_killed_process_left_behind_is_removed_when_the_file_is_opened(path: Path) -> None:
    store = MemoryStore(lambda: path)
    store.add(ADA, "The removed fact is tangerine.")
    database = store._later.database()
    database.write(lambda connection: connection.execute("DELETE FROM memories").rowcount)
    database.write(lambda connection: connection.execute("PRAGMA user_version = 1").rowcount)
    store.close()
    again = MemoryStore(lambda: path)
    assert texts(again, ADA) == []
    again.close()
    assert b"tangerine" not in everything_in(path.parent)


def test_only_its_owner_can_read_the_file(store: MemoryStore, path: Path) -> None:
    store.add(ADA, "one")
    modes = {stat.S_IMODE(file.stat().st_mode) for file in path.parent.glob("memory.db*")}
    assert modes == {0o600}


def test_the_stamp_changes_with_every_change_and_not_otherwise(store: MemoryStore) -> None:
    stamps = [store.stamp()]
    added = store.add(ADA, "one")
    stamps.append(store.stamp())
    store.change(ADA, added.id, "two")
    stamps.append(store.stamp())
    store.remove(ADA, added.id)
    stamps.append(store.stamp())
    assert len(set(stamps)) == len(stamps)


def test_the_stamp_tells_of_other_processes(
    store: MemoryStore, path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("hermes.store.memories.LOOK_EVERY_SECONDS", 0)
    store.add(ADA, "one")
    before = store.stamp()
    assert store.stamp() == before
    other = MemoryStore(lambda: path)
    other.add(ADA, "two")
    assert store.stamp() != before
    other.close()


def test_the_store_survives_being_closed(store: MemoryStore) -> None:
    store.add(ADA, "one")
    store.close()
    store.close()
    assert texts(store, ADA) == ["one"]


@settings(max_examples=30, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(text=st.text(min_size=1, max_size=50))
def test_any_text_comes_back_as_it_was(store: MemoryStore, text: str) -> None:
    scope = MemoryScope(owner=text, session_key=os.urandom(8).hex())
    assert store.get(scope, store.add(scope, text).id).text == text  # type: ignore[union-attr]
