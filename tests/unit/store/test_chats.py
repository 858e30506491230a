"""Chat completions that are kept."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from hermes.store.chats import ChatStore


def completion(chat_id: str, model: str = "m") -> dict[str, Any]:
    return {"id": chat_id, "model": model, "object": "chat.completion"}


@pytest.fixture(params=["memory", "file"])
def store(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[ChatStore]:
    made = ChatStore(3, None if request.param == "memory" else tmp_path / "chats.db")
    yield made
    made.close()


def ids(found: list[dict[str, Any]] | None) -> list[str]:
    assert found is not None
    return [chat["id"] for chat in found]


def test_a_completion_comes_back_with_its_metadata(store: ChatStore):
    store.put(completion("a"), [{"role": "user", "content": "Hi"}], {"k": "v"})
    assert store.get("a") == {**completion("a"), "metadata": {"k": "v"}}
    assert store.messages("a") == [{"role": "user", "content": "Hi"}]
    assert (store.get("b"), store.messages("b")) == (None, None)


def test_only_the_newest_are_kept(store: ChatStore):
    for name in "abcde":
        store.put(completion(name), [], {})
    assert ids(store.page(limit=9)) == ["c", "d", "e"]


def test_pages_go_in_both_directions(store: ChatStore):
    for name in "abc":
        store.put(completion(name), [], {})
    assert ids(store.page(limit=2)) == ["a", "b"]
    assert ids(store.page(limit=2, after="b")) == ["c"]
    assert ids(store.page(limit=2, newest_first=True)) == ["c", "b"]
    assert ids(store.page(limit=2, after="b", newest_first=True)) == ["a"]
    assert store.page(limit=2, after="x") is None


def test_lists_are_filtered_by_model_and_by_all_of_the_metadata(store: ChatStore):
    store.put(completion("a", "x"), [], {"k": "1", "l": "2"})
    store.put(completion("b", "y"), [], {"k": "1"})
    assert ids(store.page(limit=9, model="y")) == ["b"]
    assert ids(store.page(limit=9, metadata={"k": "1"})) == ["a", "b"]
    assert ids(store.page(limit=9, metadata={"k": "1", "l": "2"})) == ["a"]
    assert ids(store.page(limit=9, metadata={"k'\"]": "1"})) == []


def test_metadata_is_replaced_and_completions_deleted(store: ChatStore):
    store.put(completion("a"), [], {"k": "1"})
    changed = store.set_metadata("a", {"l": "2"})
    assert changed is not None
    assert changed["metadata"] == {"l": "2"}
    assert store.set_metadata("b", {}) is None
    assert (store.delete("a"), store.delete("a"), store.get("a")) == (True, False, None)
