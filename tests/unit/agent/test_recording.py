"""Messages are kept as they happen, and a failing store costs nobody an answer."""

from __future__ import annotations

import logging
from pathlib import Path
from typing import Any

import pytest

from hermes.agent.recording import Recorder
from hermes.core.messages import assistant, tool, user
from hermes.store.sessions import SessionDB
from tests.unit.agent.stage import Stage, calls, reply


class CountingStore:
    """Notes what it is asked to do."""

    def __init__(self) -> None:
        self.calls: list[str] = []

    def create_session(self, session_id: str, source: str, model: str | None = None) -> str:
        self.calls.append("create")
        return session_id

    def append_message(self, session_id: str, role: str, content: Any, **_: Any) -> int:
        self.calls.append(role)
        return len(self.calls)


class FailingStore:
    """A store on a full disk."""

    def __init__(self) -> None:
        self.tried: list[str] = []

    def create_session(self, session_id: str, source: str, model: str | None = None) -> str:
        self.tried.append("create")
        raise OSError("disk is full")

    def append_message(self, *_: Any, **__: Any) -> int:
        raise AssertionError("a session that does not exist gets no messages")


def test_messages_are_kept_in_order_with_all_their_fields(tmp_path: Path) -> None:
    database = SessionDB(tmp_path / "state.db")
    record = Recorder(database, "s1", "m").record
    part = calls("ls").as_message_part()
    said = [
        user("Hi."),
        assistant("Looking.", [part]),
        tool("c1", "ls", "a.txt"),
        assistant("One."),
    ]
    for message in said:
        record(message)
    kept = database.get_messages("s1")
    session = database.get_session("s1")
    database.close()
    for message in kept:
        del message["id"], message["timestamp"]
    assert kept == said
    assert session is not None
    assert (session["source"], session["model"]) == ("api_server", "m")


def test_the_session_is_made_sure_of_once_per_turn() -> None:
    store = CountingStore()
    record = Recorder(store, "s1", "m").record
    record(user("Hi."))
    record(assistant("Hello."))
    assert store.calls == ["create", "user", "assistant"]


def test_without_a_session_nothing_is_kept(tmp_path: Path) -> None:
    database = SessionDB(tmp_path / "state.db")
    Recorder(database, None, "m").record(user("Hi."))
    Recorder(None, "s1", "m").record(user("Hi."))
    assert database.count_sessions() == 0
    database.close()


def test_a_failing_store_does_not_end_the_turn_and_is_tried_again(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    store = FailingStore()
    turn = Stage(
        [reply(None, calls("echo")), reply("Done.")],
        tmp_path,
        record=Recorder(store, "s1", "m").record,
    )
    with caplog.at_level(logging.ERROR, "hermes.agent.recording"):
        assert turn.play().text == "Done."
    assert store.tried == ["create"] * 4
    assert [record.__dict__["session_id"] for record in caplog.records] == ["s1"] * 4
