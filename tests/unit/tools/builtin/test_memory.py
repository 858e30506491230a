"""`memory` keeps facts for the scope it runs in, and explains what it refuses."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from hermes.store.memories import MemoryStore
from hermes.tools.base import Scope, ToolContext
from hermes.tools.registry import Registry
from hermes.tools.services import Services

Use = Callable[..., str]


@pytest.fixture
def memories(tmp_path: Path) -> Iterator[MemoryStore]:
    store = MemoryStore(lambda: tmp_path / "memory.db")
    yield store
    store.close()


@pytest.fixture
def use(context: ToolContext, memories: MemoryStore) -> Use:
    """Uses the tool for a scope: `use("add", text="…", session_key="ada")`."""

    def call(action: str, session_key: str | None = None, owner: str = "web", **more: Any) -> str:
        here = replace(
            context,
            services=Services(memories=memories),
            scope=Scope(owner=owner, session_key=session_key),
        )
        return Registry.builtin().run("memory", {"action": action, **more}, here)

    return call


def id_in(told: str) -> str:
    return told.removeprefix("Remembered as ").rstrip(".")


def test_a_fact_is_remembered_listed_changed_and_forgotten(use: Use) -> None:
    memory_id = id_in(use("add", text=" Ada likes tea. "))
    assert use("list") == f"{memory_id}: Ada likes tea."
    assert use("update", id=memory_id, text="Ada likes coffee.") == f"{memory_id} is changed."
    assert use("list") == f"{memory_id}: Ada likes coffee."
    assert use("remove", id=memory_id) == f"{memory_id} is forgotten."
    assert use("list") == "Nothing is remembered."


def test_neither_another_person_nor_another_key_is_told(use: Use) -> None:
    memory_id = id_in(use("add", session_key="ada", text="Ada likes tea."))
    for others in ({"session_key": "bob"}, {}, {"session_key": "ada", "owner": "mobile"}):
        assert use("list", **others) == "Nothing is remembered."
        assert "There is no memory" in use("remove", id=memory_id, **others)
        assert "There is no memory" in use("update", id=memory_id, text="x", **others)
    assert "tea" in use("list", session_key="ada")


def test_words_choose_what_is_listed(use: Use) -> None:
    use("add", text="The cat is called Pangur.")
    use("add", text="The dog is called Rex.")
    assert "Rex" not in use("list", text="cat")
    assert use("list", text="horse") == "Nothing is remembered that has the words 'horse'."


def test_of_many_the_latest_are_listed(use: Use) -> None:
    for number in range(52):
        use("add", text=f"Fact {number}.")
    told = use("list")
    assert "Fact 51." in told
    assert "Fact 1." not in told
    assert "Only the latest 50" in told


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ({"action": "add"}, "the text is empty"),
        ({"action": "add", "text": "x" * 2001}, "at most 2,000 characters"),
        ({"action": "add", "text": "key: sk-" + "a" * 40}, "looks like a key"),
        ({"action": "update", "text": "x"}, "`id` is required"),
        ({"action": "remove"}, "`id` is required"),
        ({"action": "remove", "id": "mem_x"}, "There is no memory 'mem_x'"),
        ({"action": "burn"}, "must be one of"),
    ],
)
def test_what_cannot_be_done_is_explained(use: Use, arguments: dict[str, str], said: str) -> None:
    assert said in use(**arguments)


def test_a_damaged_store_is_explained_too(use: Use, tmp_path: Path) -> None:
    (tmp_path / "memory.db").write_bytes(b"no database" * 100)
    assert "is not a database" in use("list")


def test_where_memories_are_off_the_tool_is_not_offered_and_says_so(
    context: ToolContext, tmp_path: Path
) -> None:
    off = MemoryStore(lambda: tmp_path / "memory.db", is_enabled=lambda: False)
    for services in (Services(), Services(memories=off)):
        usable = Registry.builtin().usable(services)
        assert "memory" not in usable.names()
        told = usable.run("memory", {"action": "list"}, replace(context, services=services))
        assert "memory.enabled: true" in told
        whole = Registry.builtin()
        assert "memory.enabled: true" in whole.run(
            "memory", {"action": "list"}, replace(context, services=services)
        )
