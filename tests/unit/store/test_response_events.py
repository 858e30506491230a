"""Event logs: what was appended comes back in order, and goes with its response."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hermes.store.response_events import EventLogs
from hermes.store.responses import ResponseStore


def stored(store: ResponseStore, *response_ids: str) -> ResponseStore:
    for response_id in response_ids:
        store.put(response_id, {"response": {"id": response_id, "status": "in_progress"}})
    return store


@given(st.lists(st.binary(max_size=100), max_size=10))
def test_a_log_is_what_was_appended_in_that_order(parts: list[bytes]) -> None:
    store = stored(ResponseStore(), "resp_1", "resp_2")
    for part in parts:
        store.events.append("resp_1", part)
        store.events.append("resp_2", b"other")

    assert store.events.read("resp_1") == b"".join(parts)
    store.close()


def test_a_log_survives_a_restart(tmp_path: Path) -> None:
    path = tmp_path / "responses.db"
    before = stored(ResponseStore(db_path=path), "resp_1")
    before.events.append("resp_1", b"one")
    before.close()
    after = ResponseStore(db_path=path)
    after.events.append("resp_1", b" two")

    assert after.events.read("resp_1") == b"one two"
    after.close()


def test_a_log_goes_with_its_response() -> None:
    store = stored(ResponseStore(), "resp_1")
    store.events.append("resp_1", b"one")
    store.delete("resp_1")
    store.events.append("resp_1", b"late")
    stored(store, "resp_1")

    assert store.events.read("resp_1") == b""


def test_an_updated_response_keeps_its_log() -> None:
    store = stored(ResponseStore(), "resp_1")
    store.events.append("resp_1", b"one")
    stored(store, "resp_1")

    assert store.events.read("resp_1") == b"one"


def test_an_evicted_response_takes_its_log_along() -> None:
    store = stored(ResponseStore(max_size=1), "resp_1")
    store.events.append("resp_1", b"one")
    stored(store, "resp_2")

    assert store.events.read("resp_1") == b""


def test_only_the_newest_logs_are_kept() -> None:
    store = stored(ResponseStore(), *(f"resp_{number}" for number in range(5)))
    logs = EventLogs(store._database, most_logs=2)
    for number in range(5):
        logs.append(f"resp_{number}", b"x")
    logs.append("resp_0", b"late")

    kept = [number for number in range(5) if logs.read(f"resp_{number}")]
    assert kept[-1] == 4
    assert len(kept) == 2


def test_items_are_found_by_their_ids_until_their_response_goes() -> None:
    store = ResponseStore()
    asked, answer = {"id": "msg_1", "type": "message"}, {"id": "msg_2", "type": "message"}
    store.put("resp_1", {"response": {"output": [answer]}, "input_items": [asked]})
    store.put("resp_2", {"response": {"output": []}, "input_items": [answer]})

    assert store.find_items(["msg_1", "msg_2", "msg_3"]) == {"msg_1": asked, "msg_2": answer}
    store.delete("resp_1")
    assert store.find_items(["msg_1"]) == {}


@pytest.mark.parametrize("record", [{}, {"response": None}, {"response": {"output": [1, {}]}}])
def test_records_of_any_shape_are_stored(record: dict[str, object]) -> None:
    store = ResponseStore()
    store.put("resp_1", record)
    assert store.get("resp_1") == record


def test_the_signing_key_stays_the_same(tmp_path: Path) -> None:
    path = tmp_path / "responses.db"
    store = ResponseStore(db_path=path)
    key = store.signing_key()
    store.close()
    again = ResponseStore(db_path=path)

    assert again.signing_key() == key
    assert len(key) == 32
    assert ResponseStore().signing_key() != key
    again.close()
