"""Sessions and messages: what is stored comes back, in order, whoever writes and whatever dies."""

from __future__ import annotations

import signal
import sqlite3
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from pathlib import Path
from threading import Barrier
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import hermes_state
from hermes.core.errors import HermesError
from hermes.core.ports import SessionStore
from hermes.store.errors import SessionExists, StoreClosed, UnknownSession
from hermes.store.migrations import migrate
from hermes.store.session_schema import MIGRATIONS
from hermes.store.sessions import SessionDB
from tests.unit.store.test_encoding import json_values, texts

CALL = {"id": "call_1", "type": "function", "function": {"name": "look", "arguments": "{}"}}


class Clock:
    """Stands still until a test moves it."""

    def __init__(self) -> None:
        self.now = 1_000.0

    def __call__(self) -> float:
        return self.now


def contents(store: SessionDB, session_id: str) -> list[Any]:
    return [message["content"] for message in store.get_messages(session_id)]


def listed(store: SessionDB, *, limit: int = 100, offset: int = 0) -> list[str]:
    return [session["id"] for session in store.list_sessions(limit=limit, offset=offset)]


def test_the_door_shows_the_store() -> None:
    assert hermes_state.SessionDB is SessionDB
    assert hermes_state.__all__ == ["SessionDB"]


def test_the_store_is_what_the_flows_ask_for(sessions: SessionDB) -> None:
    store: SessionStore = sessions
    assert store.count_sessions() == 0


def test_a_new_session_has_every_field(tmp_path: Path) -> None:
    store = SessionDB(tmp_path / "state.db", clock=Clock())
    assert store.create_session("s", "api", model="gpt") == "s"
    assert store.get_session("s") == {
        "id": "s",
        "source": "api",
        "model": "gpt",
        "title": None,
        "auto_title": None,
        "parent_session_id": None,
        "end_reason": None,
        "started_at": 1_000.0,
        "ended_at": None,
        "updated_at": 1_000.0,
        "message_count": 0,
    }
    store.close()


def test_creating_an_existing_session_leaves_it_as_it_is(sessions: SessionDB) -> None:
    sessions.create_session("s", "api", "gpt")
    sessions.set_session_title("s", "Mine")
    before = sessions.get_session("s")
    assert sessions.create_session("s", "cli", "other") == "s"
    assert sessions.get_session("s") == before


def test_an_unknown_session_is_none_and_has_no_messages(sessions: SessionDB) -> None:
    assert sessions.get_session("nobody") is None
    assert sessions.get_messages("nobody") == []
    assert sessions.get_messages_as_conversation("nobody") == []


def test_messages_come_back_in_order_with_their_ids_and_times(tmp_path: Path) -> None:
    clock = Clock()
    store = SessionDB(tmp_path / "state.db", clock=clock)
    store.create_session("s", "api")
    first = store.append_message("s", "user", "look")
    clock.now += 1
    second = store.append_message("s", "assistant", None, tool_calls=[CALL])
    third = store.append_message("s", "tool", "seen", tool_call_id="call_1", tool_name="look")
    assert store.get_messages("s") == [
        {"id": first, "role": "user", "content": "look", "timestamp": 1_000.0},
        {
            "id": second,
            "role": "assistant",
            "content": None,
            "tool_calls": [CALL],
            "timestamp": 1_001.0,
        },
        {
            "id": third,
            "role": "tool",
            "content": "seen",
            "tool_call_id": "call_1",
            "tool_name": "look",
            "timestamp": 1_001.0,
        },
    ]
    assert first < second < third
    store.close()


def test_a_conversation_has_the_chat_shape_and_nothing_else(sessions: SessionDB) -> None:
    sessions.create_session("s", "api")
    sessions.append_message("s", "user", "look")
    sessions.append_message("s", "assistant", None, tool_calls=[CALL])
    sessions.append_message("s", "tool", "seen", tool_call_id="call_1", tool_name="look")
    sessions.append_message("s", "assistant", "Done.", tool_calls=[])
    assert sessions.get_messages_as_conversation("s") == [
        {"role": "user", "content": "look"},
        {"role": "assistant", "content": None, "tool_calls": [CALL]},
        {"role": "tool", "content": "seen", "tool_call_id": "call_1"},
        {"role": "assistant", "content": "Done."},
    ]


def test_a_step_of_a_run_is_kept_once_per_session(sessions: SessionDB) -> None:
    sessions.create_session("s", "api")
    sessions.create_session("other", "api")
    first = sessions.append_message("s", "user", "look", run_id="run_1", step=0)
    again = sessions.append_message("s", "user", "look again", run_id="run_1", step=0)
    others = [
        sessions.append_message("s", "assistant", "seen", run_id="run_1", step=1),
        sessions.append_message("s", "user", "look", run_id="run_2", step=0),
        sessions.append_message("other", "user", "look", run_id="run_1", step=0),
        sessions.append_message("s", "user", "look"),
        sessions.append_message("s", "user", "look"),
    ]
    assert again == first
    assert len({first, *others}) == 6
    assert contents(sessions, "s") == ["look", "seen", "look", "look", "look"]
    session = sessions.get_session("s")
    assert session is not None
    assert session["message_count"] == 5
    assert [(each.get("run_id"), each.get("step")) for each in sessions.get_messages("s")] == [
        ("run_1", 0),
        ("run_1", 1),
        ("run_2", 0),
        (None, None),
        (None, None),
    ]


def test_a_conversation_can_be_read_without_one_of_its_runs(sessions: SessionDB) -> None:
    sessions.create_session("s", "api")
    sessions.append_message("s", "user", "before")
    sessions.append_message("s", "user", "first", run_id="run_1", step=0)
    sessions.append_message("s", "user", "second", run_id="run_2", step=0)

    def told(without: str | None) -> list[Any]:
        conversation = sessions.get_messages_as_conversation("s", without_run=without)
        return [message["content"] for message in conversation]

    assert told("run_1") == ["before", "second"]
    assert told("run_2") == ["before", "first"]
    assert told("run_3") == told(None) == ["before", "first", "second"]


def test_a_file_of_the_first_version_gets_what_it_lacks(tmp_path: Path) -> None:
    path = tmp_path / "state.db"
    with closing(sqlite3.connect(path, isolation_level=None)) as connection:
        migrate(connection, MIGRATIONS[:1], str(path))
        connection.execute(
            "INSERT INTO sessions (id, source, started_at, updated_at, message_count)"
            " VALUES ('s', 'api', 1, 1, 1)"
        )
        connection.execute(
            "INSERT INTO messages (session_id, role, content, timestamp)"
            " VALUES ('s', 'user', '\"hello\"', 1)"
        )
    store = SessionDB(path)
    store.append_message("s", "assistant", "hello", run_id="run_1", step=1)
    assert contents(store, "s") == ["hello", "hello"]
    store.close()


def test_appending_counts_and_marks_the_session_as_changed(tmp_path: Path) -> None:
    clock = Clock()
    store = SessionDB(tmp_path / "state.db", clock=clock)
    store.create_session("s", "api")
    clock.now += 5
    store.append_message("s", "user", "hello")
    session = store.get_session("s")
    assert session is not None
    assert (session["message_count"], session["updated_at"]) == (1, 1_005.0)
    assert session["started_at"] == 1_000.0
    store.close()


def test_appending_to_an_unknown_session_creates_nothing_and_says_so(sessions: SessionDB) -> None:
    with pytest.raises(UnknownSession, match=r"^There is no session 'nobody'\. Create it") as info:
        sessions.append_message("nobody", "user", "hello")
    assert isinstance(info.value, HermesError)
    assert isinstance(info.value, KeyError)
    assert sessions.count_sessions() == 0
    assert sessions.get_messages("nobody") == []


contents_of_messages = (
    st.none()
    | texts
    | st.lists(st.dictionaries(texts, json_values, max_size=3), max_size=3)
    | st.lists(texts.map(lambda text: {"type": "text", "text": text}), max_size=3)
)


@settings(max_examples=40, deadline=None)
@given(appended=st.lists(contents_of_messages, max_size=8), session_id=texts, title=texts)
def test_every_content_id_and_title_comes_back_as_it_was(
    appended: list[Any], session_id: str, title: str
) -> None:
    with tempfile.TemporaryDirectory() as home:
        store = SessionDB(Path(home) / "state.db")
        store.create_session(session_id, "api")
        store.set_session_title(session_id, title)
        for content in appended:
            store.append_message(session_id, "user", content)
        session = store.get_session(session_id)
        assert session is not None
        assert (session["id"], session["title"]) == (session_id, title)
        assert session["message_count"] == len(appended)
        assert contents(store, session_id) == appended
        store.close()


def test_sessions_are_listed_by_latest_change(tmp_path: Path) -> None:
    clock = Clock()
    store = SessionDB(tmp_path / "state.db", clock=clock)
    for session_id in ("a", "b", "c", "d"):
        clock.now += 1
        store.create_session(session_id, "api")
    clock.now += 1
    store.append_message("b", "user", "hello")
    clock.now += 1
    store.set_session_title("a", "Mine")
    assert listed(store) == ["a", "b", "d", "c"]
    store.close()


def test_pages_of_simultaneous_sessions_neither_repeat_nor_miss_one(tmp_path: Path) -> None:
    store = SessionDB(tmp_path / "state.db", clock=Clock())
    for number in range(7):
        store.create_session(f"s{number}", "api")
    pages = [listed(store, limit=3, offset=offset) for offset in (0, 3, 6, 9)]
    assert pages == [["s6", "s5", "s4"], ["s3", "s2", "s1"], ["s0"], []]
    store.close()


@pytest.mark.parametrize(
    ("limit", "offset", "count"), [(-1, 0, 0), (0, 0, 0), (10**30, -5, 2), (10, 10**30, 0)]
)
def test_a_page_out_of_range_is_short_or_empty(
    sessions: SessionDB, limit: int, offset: int, count: int
) -> None:
    sessions.create_session("a", "api")
    sessions.create_session("b", "api")
    assert len(listed(sessions, limit=limit, offset=offset)) == count
    assert sessions.count_sessions() == 2


def test_a_title_can_be_set_and_taken_away_but_not_for_nobody(sessions: SessionDB) -> None:
    sessions.create_session("s", "api")
    titles = []
    for title in ("First", "Second", None):
        assert sessions.set_session_title("s", title) is True
        session = sessions.get_session("s")
        assert session is not None
        titles.append(session["title"])
    assert titles == ["First", "Second", None]
    assert sessions.set_session_title("nobody", "X") is False


def test_an_ended_session_says_when_and_why(tmp_path: Path) -> None:
    clock = Clock()
    store = SessionDB(tmp_path / "state.db", clock=clock)
    store.create_session("s", "api")
    clock.now += 9
    assert store.end_session("s", "user_exit") is True
    session = store.get_session("s")
    assert session is not None
    assert (session["end_reason"], session["ended_at"]) == ("user_exit", 1_009.0)
    assert store.end_session("nobody", "user_exit") is False
    store.close()


def test_deleting_takes_the_messages_but_not_the_forks(sessions: SessionDB) -> None:
    sessions.create_session("s", "api")
    sessions.append_message("s", "user", "hello")
    sessions.fork_session("s", "fork")
    assert sessions.delete_session("s") is True
    assert sessions.delete_session("s") is False
    assert sessions.get_session("s") is None
    assert sessions.get_messages("s") == []
    fork = sessions.get_session("fork")
    assert fork is not None
    assert fork["parent_session_id"] == "s"
    assert contents(sessions, "fork") == ["hello"]


def test_a_session_created_again_after_deletion_starts_empty(sessions: SessionDB) -> None:
    sessions.create_session("s", "api")
    sessions.append_message("s", "user", "old")
    sessions.delete_session("s")
    sessions.create_session("s", "api")
    assert contents(sessions, "s") == []


def test_a_fork_has_its_own_copy_of_the_messages(tmp_path: Path) -> None:
    clock = Clock()
    store = SessionDB(tmp_path / "state.db", clock=clock)
    store.create_session("s", "api", "gpt")
    store.append_message("s", "user", [{"type": "text", "text": "look"}])
    store.append_message("s", "assistant", None, tool_calls=[CALL])
    store.append_message("s", "tool", "seen", tool_call_id="call_1", tool_name="look")
    clock.now += 60
    assert store.fork_session("s", "fork", title="Other way") == "fork"
    store.append_message("fork", "user", "only here")

    source, fork = store.get_session("s"), store.get_session("fork")
    assert source is not None
    assert (source["end_reason"], source["ended_at"]) == ("branched", 1_060.0)
    assert fork == {
        "id": "fork",
        "source": "api",
        "model": "gpt",
        "title": "Other way",
        "auto_title": "look",
        "parent_session_id": "s",
        "end_reason": None,
        "started_at": 1_060.0,
        "ended_at": None,
        "updated_at": 1_060.0,
        "message_count": 4,
    }
    copied = [
        {name: value for name, value in message.items() if name != "id"}
        for message in store.get_messages("fork")[:3]
    ]
    original = [
        {name: value for name, value in message.items() if name != "id"}
        for message in store.get_messages("s")
    ]
    assert copied == original
    assert listed(store) == ["fork", "s"]
    store.close()


def test_a_fork_without_a_title_has_the_title_of_its_source(sessions: SessionDB) -> None:
    sessions.create_session("s", "api")
    sessions.set_session_title("s", "Mine")
    sessions.fork_session("s", "fork")
    fork = sessions.get_session("fork")
    assert fork is not None
    assert fork["title"] == "Mine"


@pytest.mark.parametrize(
    ("source", "new_id", "error"),
    [("nobody", "fork", UnknownSession), ("s", "taken", SessionExists), ("s", "s", SessionExists)],
)
def test_a_fork_that_cannot_be_made_changes_nothing(
    sessions: SessionDB, source: str, new_id: str, error: type[HermesError]
) -> None:
    sessions.create_session("s", "api")
    sessions.create_session("taken", "api")
    before = sessions.list_sessions(limit=10, offset=0)
    with pytest.raises(error):
        sessions.fork_session(source, new_id)
    assert sessions.list_sessions(limit=10, offset=0) == before


def test_everything_is_there_after_closing_and_opening_again(tmp_path: Path) -> None:
    store = SessionDB(tmp_path / "state.db")
    store.create_session("s", "api")
    store.append_message("s", "user", "hello")
    before = store.get_session("s"), store.get_messages("s")
    store.close()
    store.close()
    with pytest.raises(StoreClosed):
        store.get_session("s")
    again = SessionDB(tmp_path / "state.db")
    assert (again.get_session("s"), again.get_messages("s")) == before
    again.close()


def test_many_threads_append_without_losing_a_row_and_share_commits(sessions: SessionDB) -> None:
    threads, each = 64, 10
    statements: list[str] = []
    sessions._database.write(lambda connection: connection.set_trace_callback(statements.append))
    sessions.create_session("s", "api")
    together = Barrier(threads, timeout=30)

    def append_some(thread: int) -> list[int]:
        together.wait()
        return [
            sessions.append_message("s", "user", f"{thread}:{number}") for number in range(each)
        ]

    with ThreadPoolExecutor(threads) as pool:
        ids = [message_id for some in pool.map(append_some, range(threads)) for message_id in some]
    assert len(set(ids)) == threads * each
    stored = contents(sessions, "s")
    assert sorted(stored) == sorted(f"{t}:{n}" for t in range(threads) for n in range(each))
    for thread in range(threads):
        own = [content for content in stored if content.startswith(f"{thread}:")]
        assert own == [f"{thread}:{number}" for number in range(each)]
    session = sessions.get_session("s")
    assert session is not None
    assert session["message_count"] == threads * each
    assert statements.count("COMMIT") < threads * each


APPEND_FOR_EVER = """
import sys
from hermes.store.sessions import SessionDB
store = SessionDB(sys.argv[1])
store.create_session("s", "api")
number = 0
while True:
    store.append_message("s", "user", str(number))
    print(number, flush=True)
    number += 1
"""


def test_no_acknowledged_message_is_lost_when_the_process_is_killed(tmp_path: Path) -> None:
    path = tmp_path / "state.db"
    command = [sys.executable, "-c", APPEND_FOR_EVER, str(path)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as child:
        assert child.stdout is not None
        acknowledged = [child.stdout.readline().strip() for _ in range(200)]
        child.send_signal(signal.SIGKILL)
        acknowledged += child.stdout.read().splitlines()
    assert acknowledged[:200] == [str(number) for number in range(200)]
    store = SessionDB(path)
    stored = contents(store, "s")
    # The very last one may be committed without its acknowledgement having got out.
    assert stored[: len(acknowledged)] == acknowledged
    assert len(stored) - len(acknowledged) in (0, 1)
    session = store.get_session("s")
    assert session is not None
    assert session["message_count"] == len(stored)
    store.close()
