"""Stored responses: records come back equal, chains share history, the least recently used go."""

from __future__ import annotations

import sqlite3
import time
from collections import OrderedDict
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hermes.core.messages import Message, assistant, user
from hermes.core.ports import ResponseRecords
from hermes.store.errors import StoreClosed
from hermes.store.responses import ResponseStore
from tests.unit.store.test_encoding import json_values, texts


def stored_messages(store: ResponseStore) -> int:
    def query(connection: sqlite3.Connection) -> int:
        statement = "SELECT total(json_array_length(messages)) FROM transcripts"
        return int(connection.execute(statement).fetchone()[0])

    return store._database.read(query)


def stored_nodes(store: ResponseStore) -> int:
    statement = "SELECT count(*) FROM transcripts"
    return store._database.read(lambda connection: int(connection.execute(statement).fetchone()[0]))


def record(history: list[Message], name: str = "") -> dict[str, Any]:
    return {
        "response": {"id": name},
        "conversation_history": history,
        "instructions": None,
        "session_id": "s",
    }


def put_chain(store: ResponseStore, links: int) -> list[Message]:
    """Responses r0, r1, …, each with two messages more than the one before; the last history."""
    history: list[Message] = []
    for number in range(links):
        longer = [*history, user(f"question {number}"), assistant(f"answer {number}")]
        store.put(
            f"r{number}",
            record(longer, f"r{number}"),
            continues=f"r{number - 1}" if number else None,
            inherited=len(history),
        )
        history = longer
    return history


def test_the_store_is_what_the_flows_ask_for(responses: ResponseStore) -> None:
    store: ResponseRecords = responses
    assert store.get("missing") is None


@pytest.mark.parametrize(
    "stored",
    [
        {},
        {"output": "hello"},
        {"conversation_history": []},
        {"conversation_history": None},
        {"conversation_history": "not a list", "response": {}},
        {"response": {"id": "r"}, "conversation_history": [{"role": "user", "content": "hi"}]},
        {"text": "\ud800\x00", "conversation_history": [{"content": "\udfff\x00😀"}]},
    ],
)
def test_a_record_of_any_shape_comes_back_equal(
    responses: ResponseStore, stored: dict[str, Any]
) -> None:
    responses.put("r", stored)
    assert responses.get("r") == stored


@settings(max_examples=60, deadline=None)
@given(stored=st.dictionaries(texts | st.just("conversation_history"), json_values), name=texts)
def test_every_json_record_under_every_id_comes_back_equal(
    stored: dict[str, Any], name: str
) -> None:
    store = ResponseStore()
    store.put(name, stored)
    store.set_conversation(name, name)
    assert store.get(name) == stored
    assert store.get_conversation(name) == name
    store.close()


def test_a_record_that_is_not_json_is_refused_and_nothing_is_stored(
    responses: ResponseStore,
) -> None:
    for wrong in ({"x": object()}, {"conversation_history": [object()]}):
        with pytest.raises(TypeError):
            responses.put("r", wrong)
    assert len(responses) == 0
    assert stored_nodes(responses) == 0


def test_the_least_recently_used_response_goes_first() -> None:
    store = ResponseStore(max_size=3)
    for name in ("1", "2", "3"):
        store.put(name, {"output": name})
    store.get("1")
    store.put("4", {"output": "4"})
    assert [name for name in ("1", "2", "3", "4") if store.get(name)] == ["1", "3", "4"]
    assert len(store) == 3
    store.close()


def test_recency_survives_closing_and_opening_again(tmp_path: Path) -> None:
    path = tmp_path / "responses.db"
    store = ResponseStore(max_size=2, db_path=str(path))
    store.put("1", {})
    store.put("2", {})
    store.get("1")
    store.close()
    again = ResponseStore(max_size=2, db_path=path)
    again.put("3", {})
    assert [name for name in ("1", "2", "3") if again.get(name) is not None] == ["1", "3"]
    again.close()


def test_a_smaller_store_drops_what_is_too_much_at_the_next_put(tmp_path: Path) -> None:
    path = tmp_path / "responses.db"
    store = ResponseStore(db_path=path)
    put_chain(store, 10)
    store.close()
    small = ResponseStore(max_size=2, db_path=path)
    small.put("new", {})
    assert len(small) == 2
    assert small.get("r9") is not None
    small.close()


def test_replacing_keeps_one_response_and_its_conversation(responses: ResponseStore) -> None:
    responses.put("r", {"output": "v1"})
    responses.set_conversation("chat", "r")
    responses.put("r", {"output": "v2"})
    assert responses.get("r") == {"output": "v2"}
    assert len(responses) == 1
    assert responses.get_conversation("chat") == "r"


def test_deleting_takes_the_conversation_names_along(responses: ResponseStore) -> None:
    responses.put("r", {})
    responses.put("other", {})
    responses.set_conversation("a", "r")
    responses.set_conversation("b", "r")
    responses.set_conversation("c", "other")
    assert responses.delete("r") is True
    assert responses.delete("r") is False
    assert responses.get("r") is None
    names = [responses.get_conversation(name) for name in ("a", "b", "c", "unknown")]
    assert names == [None, None, "other", None]


def test_eviction_takes_the_conversation_names_along() -> None:
    store = ResponseStore(max_size=1)
    store.put("1", {})
    store.set_conversation("chat", "1")
    store.put("2", {})
    assert store.get_conversation("chat") is None
    store.close()


def test_a_conversation_can_move_on_to_another_response(responses: ResponseStore) -> None:
    responses.put("1", {})
    responses.put("2", {})
    responses.set_conversation("chat", "1")
    responses.set_conversation("chat", "2")
    responses.delete("1")
    assert responses.get_conversation("chat") == "2"


def test_a_chain_stores_each_message_once(responses: ResponseStore) -> None:
    history = put_chain(responses, 50)
    assert stored_messages(responses) == len(history) == 100
    for number in (0, 17, 49):
        found = responses.get(f"r{number}")
        assert found == record(history[: 2 * number + 2], f"r{number}")


def test_after_deleting_every_response_no_node_is_left(responses: ResponseStore) -> None:
    put_chain(responses, 20)
    for number in (*range(0, 20, 2), *range(1, 20, 2)):
        assert responses.delete(f"r{number}") is True
    assert stored_nodes(responses) == 0


def test_children_outlive_a_deleted_parent(responses: ResponseStore) -> None:
    start = [user("start")]
    left, right = [*start, user("left")], [*start, user("right")]
    responses.put("parent", record(start))
    responses.put("left", record(left), continues="parent", inherited=1)
    responses.put("right", record(right), continues="parent", inherited=1)
    responses.delete("parent")
    assert stored_messages(responses) == 3
    assert responses.get("left") == record(left)
    responses.delete("left")
    assert responses.get("right") == record(right)
    assert stored_messages(responses) == 2


def test_a_child_outlives_an_evicted_parent_and_history_is_collected() -> None:
    store = ResponseStore(max_size=1)
    history = put_chain(store, 5)
    assert store.get("r4") == record(history, "r4")
    store.put("unrelated", {})
    assert stored_nodes(store) == 0
    store.close()


def test_children_keep_their_history_when_their_parent_is_replaced(
    responses: ResponseStore,
) -> None:
    responses.put("parent", record([user("old")]))
    responses.put("child", record([user("old"), user("more")]), continues="parent", inherited=1)
    responses.put("parent", record([user("new"), user("newer")]))
    assert responses.get("child") == record([user("old"), user("more")])
    assert responses.get("parent") == record([user("new"), user("newer")])


def test_a_response_can_be_replaced_by_its_own_continuation(responses: ResponseStore) -> None:
    responses.put("r", record([user("a")]))
    responses.put("r", record([user("a"), user("b")]), continues="r", inherited=1)
    assert responses.get("r") == record([user("a"), user("b")])
    responses.delete("r")
    assert stored_nodes(responses) == 0


@pytest.mark.parametrize(
    ("continues", "inherited"),
    [("gone", 2), ("parent", 1), ("parent", 3), ("parent", 0), ("bare", 0), (None, 2)],
)
def test_a_history_that_does_not_fit_is_stored_whole(
    responses: ResponseStore, continues: str | None, inherited: int
) -> None:
    responses.put("parent", record([user("x"), user("y")]))
    responses.put("bare", {"output": "no history"})
    own = [user("a"), user("b"), user("c")]
    responses.put("child", record(own), continues=continues, inherited=inherited)
    assert responses.get("child") == record(own)


def test_a_history_shorter_than_what_it_claims_to_inherit_is_stored_whole(
    responses: ResponseStore,
) -> None:
    responses.put("parent", record([user("x"), user("y")]))
    responses.put("child", record([user("x")]), continues="parent", inherited=2)
    assert responses.get("child") == record([user("x")])


def test_a_chain_of_two_thousand_links_is_read_quickly(responses: ResponseStore) -> None:
    history = put_chain(responses, 2_000)
    started = time.perf_counter()
    found = responses.get("r1999")
    elapsed = time.perf_counter() - started
    assert found == record(history, "r1999")
    # About 10 ms on a quiet machine; a query per message or a quadratic walk takes seconds.
    assert elapsed < 1.0


def test_a_long_chain_is_collected_without_recursion(responses: ResponseStore) -> None:
    put_chain(responses, 1_500)
    for number in range(1_500):
        responses.delete(f"r{number}")
    assert stored_nodes(responses) == 0


def test_many_threads_put_and_get_at_once(responses: ResponseStore) -> None:
    def one(number: int) -> bool:
        own = record([user(str(number))])
        responses.put(str(number), own)
        return responses.get(str(number)) == own

    with ThreadPoolExecutor(16) as pool:
        assert all(pool.map(one, range(200)))
    assert len(responses) == 200


def test_a_closed_store_says_so(responses: ResponseStore) -> None:
    responses.close()
    responses.close()
    with pytest.raises(StoreClosed):
        responses.get("r")


names = st.sampled_from(["a", "b", "c", "d", "e"])
puts = st.tuples(st.just("put"), names, st.none() | names, st.integers(0, 3), st.booleans())
deletes = st.tuples(st.just("delete"), names)
gets = st.tuples(st.just("get"), names)


class Model:
    """What a response store means, as a plain dict that copies everything."""

    def __init__(self, max_size: int) -> None:
        self.records: OrderedDict[str, dict[str, Any]] = OrderedDict()
        self._max_size = max_size

    def put(self, name: str, stored: dict[str, Any]) -> None:
        self.records[name] = stored
        self.records.move_to_end(name)
        while len(self.records) > self._max_size:
            self.records.popitem(last=False)

    def get(self, name: str) -> dict[str, Any] | None:
        if name in self.records:
            self.records.move_to_end(name)
        return self.records.get(name)

    def history(self, name: str | None) -> list[Message]:
        history: list[Message] = self.records.get(name or "", {}).get("conversation_history", [])
        return history


@settings(max_examples=150, deadline=None)
@given(steps=st.lists(puts | deletes | gets, max_size=40), max_size=st.integers(1, 5))
def test_any_tree_of_responses_behaves_like_a_plain_dict(
    steps: list[tuple[Any, ...]], max_size: int
) -> None:
    store, model = ResponseStore(max_size=max_size), Model(max_size)
    for number, step in enumerate(steps):
        match step:
            case ("put", name, continues, added, claims_rightly):
                inherited = model.history(continues)
                history = [*inherited, *(user(f"{number}.{n}") for n in range(added))]
                claimed = len(inherited) if claims_rightly else len(inherited) + 1
                store.put(name, record(history), continues=continues, inherited=claimed)
                model.put(name, record(history))
            case ("delete", name):
                assert store.delete(name) is (model.records.pop(name, None) is not None)
            case (_, name):
                assert store.get(name) == model.get(name)
            case _:
                raise AssertionError(step)
    assert len(store) == len(model.records)
    for name in list(model.records):
        assert store.get(name) == model.records[name]
        assert store.delete(name) is True
    assert stored_nodes(store) == 0
    store.close()


def test_what_a_dead_process_left_in_progress_becomes_incomplete(tmp_path):
    path = tmp_path / "responses.db"
    said = 'he wrote "status":"in_progress"'
    call = {"type": "function_call", "status": "in_progress"}
    store = ResponseStore(db_path=path)
    store.put("resp_open", {"response": {"status": "in_progress", "output": [call]}})
    store.put("resp_done", {"response": {"status": "completed", "output": [{"text": said}]}})
    store.put("resp_text", {"output": said})
    store.close()
    store = ResponseStore(db_path=path)
    assert store.settle_unfinished() == 1
    assert store.settle_unfinished() == 0
    settled = {"status": "incomplete", "output": [{**call, "status": "incomplete"}]}
    assert store.get("resp_open") == {"response": settled}
    done = store.get("resp_done")
    assert done is not None
    assert done["response"]["status"] == "completed"
    store.close()
