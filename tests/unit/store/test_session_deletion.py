"""Deleted text is gone from the files, and a deletion that was cut off is finished later."""

from __future__ import annotations

import random
import sqlite3
import threading
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path

import pytest

from hermes.store import leftovers
from hermes.store.sessions import SessionDB


def bytes_of(folder: Path) -> bytes:
    return b"".join(path.read_bytes() for path in sorted(folder.glob("state.db*")))


def fill(store: SessionDB, sessions: int, messages: int, chance: random.Random) -> None:
    """Sessions that talk at the same time, with short and long messages."""
    for number in range(sessions):
        store.create_session(f"talk{number:03}", "api")
        store.set_session_title(f"talk{number:03}", f"title{number:03}x")
    for at in range(messages):
        number = chance.randrange(sessions)
        filling = " ".join(f"w{chance.randrange(900)}" for _ in range(chance.choice([3, 60, 900])))
        store.append_message(f"talk{number:03}", "user", f"{filling} secret{number:03}x{at}")


@contextmanager
def another_reader(path: Path) -> Iterator[None]:
    with closing(sqlite3.connect(path, isolation_level=None)) as connection:
        connection.execute("BEGIN")
        connection.execute("SELECT * FROM sessions").fetchall()
        yield


def test_nothing_of_a_deleted_session_is_left_in_the_files(tmp_path: Path) -> None:
    chance = random.Random(4)
    store = SessionDB(tmp_path / "state.db")
    fill(store, 12, 400, chance)
    for number in chance.sample(range(12), 11):
        for mark in (b"secret%03dx", b"title%03dx", b"talk%03d"):
            assert mark % number in bytes_of(tmp_path)
        assert store.delete_session(f"talk{number:03}") is True
        kept = bytes_of(tmp_path)
        for mark in (b"secret%03dx", b"title%03dx", b"talk%03d"):
            assert mark % number not in kept
    assert b"secret" in bytes_of(tmp_path)
    store.close()


def test_several_sessions_are_deleted_at_once_and_unknown_ones_do_not_count(
    sessions: SessionDB,
) -> None:
    for name in ("a", "b", "c"):
        sessions.create_session(name, "api")
    assert sessions.delete_sessions(["a", "nobody", "c"]) == 2
    assert [session["id"] for session in sessions.list_sessions(limit=9, offset=0)] == ["b"]


def test_a_deletion_that_was_cut_off_is_finished_when_the_file_is_opened_again(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    path = tmp_path / "state.db"
    store = SessionDB(path)
    store.create_session("s", "api")
    store.append_message("s", "user", "secret")
    # What a process leaves behind that is killed right after its commit.
    store._database.write(
        lambda connection: (
            leftovers.mark(connection),
            store._delete(connection, "s"),
        )
    )
    store.close()
    again = SessionDB(path)
    assert not again._database.read(leftovers.are_marked)
    assert b"secret" not in bytes_of(tmp_path)
    assert caplog.records == []
    again.close()


def test_somebody_who_reads_meanwhile_delays_the_end_of_a_deletion_but_not_the_deletion(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    path = tmp_path / "state.db"
    store = SessionDB(path)
    store._database.write_alone(lambda connection: connection.execute("PRAGMA busy_timeout = 50"))
    store.create_session("s", "api")
    store.append_message("s", "user", "secret")
    with another_reader(path):
        assert store.delete_session("s") is True
        assert store.get_session("s") is None
    assert "another process is reading it" in caplog.text
    store.create_session("other", "api")
    assert store.delete_session("other") is True
    assert b"secret" not in bytes_of(tmp_path)
    store.close()


def test_messages_are_kept_while_sessions_are_deleted(sessions: SessionDB) -> None:
    sessions.create_session("kept", "api")
    done = threading.Event()

    def delete() -> None:
        for number in range(20):
            sessions.create_session(f"gone{number}", "api")
            sessions.append_message(f"gone{number}", "user", "x" * 5000)
            sessions.delete_session(f"gone{number}")
        done.set()

    thread = threading.Thread(target=delete)
    thread.start()
    said = []
    while not done.is_set() or len(said) < 10:
        said.append(f"message {len(said)}")
        sessions.append_message("kept", "user", said[-1])
    thread.join()
    assert [message["content"] for message in sessions.get_messages("kept")] == said
