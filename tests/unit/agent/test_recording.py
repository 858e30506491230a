"""Messages are kept as they happen, and a failing store costs nobody an answer."""

from __future__ import annotations

import logging
from pathlib import Path
from typing import Any

import pytest

from hermes.agent.recording import Recorder
from hermes.core.errors import Fenced
from hermes.core.events import MessageKept
from hermes.core.messages import assistant, tool, user
from hermes.core.turn import Outcome, Resumption
from hermes.store.sessions import SessionDB
from tests.unit.agent.stage import Link, Stage, calls, reply


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


# --- for a run ------------------------------------------------------------------------------------


class PlacedStore:
    """Notes from where its messages come."""

    def __init__(self, log: list[tuple[str, Any]]) -> None:
        self.log = log

    def create_session(self, session_id: str, source: str, model: str | None = None) -> str:
        return session_id

    def append_message(self, session_id: str, role: str, content: Any, **fields: Any) -> int:
        self.log.append(("stored", (role, fields["run_id"], fields["step"])))
        return 1


def run_recording(
    log: list[tuple[str, Any]], link: Link, resumption: Resumption | None = None
) -> Any:
    return Recorder(
        PlacedStore(log),
        "s1",
        "m",
        link=link,
        emit=lambda event: log.append(("event", event)),
        resumption=resumption,
    ).record


def test_a_message_is_in_the_log_for_good_before_the_session_has_it() -> None:
    log: list[tuple[str, Any]] = []
    record = run_recording(log, Link(log))
    record(user("Hi."))
    record(assistant("Hello."))
    assert log == [
        ("event", MessageKept(user("Hi."))),
        ("barrier", None),
        ("stored", ("user", "run_1", 0)),
        ("event", MessageKept(assistant("Hello."))),
        ("barrier", None),
        ("stored", ("assistant", "run_1", 1)),
    ]


def test_without_a_session_nobody_waits_for_the_log() -> None:
    log: list[tuple[str, Any]] = []
    recorder = Recorder(
        None, None, "m", link=Link(log), emit=lambda event: log.append(("event", event))
    )
    recorder.record(user("Hi."))
    assert log == [("event", MessageKept(user("Hi.")))]


def test_the_steps_of_a_turn_that_goes_on_are_counted_on() -> None:
    log: list[tuple[str, Any]] = []
    resumption = Resumption(messages=(user("Hi."),), started=frozenset(), steps=3)
    run_recording(log, Link(log), resumption)(assistant("Hello."))
    assert log[-1] == ("stored", ("assistant", "run_1", 3))


def test_what_the_log_refuses_is_kept_nowhere() -> None:
    log: list[tuple[str, Any]] = []
    link = Link(log)
    link.fails_after = 0
    with pytest.raises(Fenced):
        run_recording(log, link)(user("Hi."))
    assert log == [("event", MessageKept(user("Hi.")))]


def test_a_turn_whose_run_was_taken_over_ends_as_interrupted_and_says_so(tmp_path: Path) -> None:
    link = Link()
    link.fails_after = 0
    turn = Stage([], tmp_path, record=run_recording(link.log, link), link=link)
    result = turn.play()
    assert result.outcome is Outcome.INTERRUPTED
    assert result.error == "Another process has taken this run over."
    assert turn.asked == []


def test_a_tool_is_not_begun_before_its_beginning_is_kept(tmp_path: Path) -> None:
    link = Link()
    turn = Stage([reply(None, calls("echo")), reply("Done.")], tmp_path, link=link)
    link.log = turn.log
    turn.play()
    kinds = [kind if kind != "event" else type(value).__name__ for kind, value in turn.log]
    at = kinds.index("ToolStarted")
    assert kinds[at : at + 4] == ["ToolStarted", "barrier", "ran", "ToolFinished"]


def test_a_tool_whose_beginning_cannot_be_kept_is_not_run(tmp_path: Path) -> None:
    link = Link()
    link.fails_after = 0
    turn = Stage([reply(None, calls("echo"))], tmp_path, link=link)
    assert turn.play().outcome is Outcome.INTERRUPTED
    assert "ran" not in [kind for kind, _ in turn.log]
