"""Conversations: an ordered list of items, read in pages, edited by clients."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from hermes.core.ports import ConversationHead, ConversationStore
from hermes.store.responses import ResponseStore


def items(*numbers: int) -> list[dict[str, Any]]:
    return [{"id": f"msg_{number}", "text": f"number {number}"} for number in numbers]


def test_a_conversation_comes_back_after_a_restart(tmp_path: Path) -> None:
    path = tmp_path / "responses.db"
    before = ResponseStore(db_path=path)
    made = before.conversations.create("conv_1", {"a": "b"}, items(1, 2))
    before.close()
    after = ResponseStore(db_path=path)

    assert after.conversations.get("conv_1") == made
    assert after.conversations.items("conv_1") == items(1, 2)
    after.close()


@given(st.integers(0, 9), st.integers(1, 5), st.booleans())
def test_pages_put_together_are_the_whole_list(count: int, limit: int, newest_first: bool) -> None:
    store: ConversationStore = ResponseStore().conversations
    store.create("conv_0", {}, items(90, 91))
    store.create("conv_1", {}, items(*range(count)))
    read: list[dict[str, Any]] = []
    after = None
    while True:
        page = store.page("conv_1", limit=limit, after=after, newest_first=newest_first)
        assert page is not None
        read += page.items
        if not page.has_more:
            break
        assert len(page.items) == limit
        after = read[-1]["id"]

    expected = items(*range(count))
    assert read == (expected[::-1] if newest_first else expected)


def test_a_page_behind_an_unknown_item_is_none() -> None:
    store = ResponseStore().conversations
    store.create("conv_1", {}, items(1))
    assert store.page("conv_1", limit=1, after="msg_9", newest_first=False) is None


def test_an_item_that_is_there_already_is_not_added_again() -> None:
    store = ResponseStore().conversations
    store.create("conv_1", {}, items(1, 2))
    store.add_items("conv_1", items(2, 3))
    assert store.items("conv_1") == items(1, 2, 3)


def test_an_edit_makes_the_last_response_forgotten() -> None:
    store = ResponseStore().conversations

    def last() -> str | None:
        head = store.get("conv_1")
        assert isinstance(head, ConversationHead)
        return head.response_id

    store.create("conv_1", {}, [])
    store.add_turn("conv_1", items(1), "resp_1")
    assert last() == "resp_1"
    assert not store.delete_item("conv_1", "msg_9")
    assert last() == "resp_1"
    store.add_items("conv_1", items(2))
    assert last() is None
    store.add_turn("conv_1", items(3), "resp_2")
    assert store.delete_item("conv_1", "msg_1")
    assert last() is None


def test_nothing_is_added_to_a_conversation_that_is_gone() -> None:
    store = ResponseStore().conversations
    store.create("conv_1", {}, items(1))
    assert store.delete("conv_1")
    assert not store.delete("conv_1")
    assert not store.add_items("conv_1", items(2))
    assert not store.add_turn("conv_1", items(2), "resp_1")
    assert store.items("conv_1") == []
    assert store.set_metadata("conv_1", {}) is None


def test_items_of_conversations_are_found_by_their_ids() -> None:
    store = ResponseStore()
    store.conversations.create("conv_1", {}, items(1))
    assert store.find_items(["msg_1", "msg_2"]) == {"msg_1": items(1)[0]}
    assert store.conversations.get_item("conv_1", "msg_1") == items(1)[0]
    assert store.conversations.get_item("conv_1", "msg_2") is None
