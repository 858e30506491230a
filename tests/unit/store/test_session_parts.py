"""Parts of sessions: pages, branches, summaries, titles, and whole sessions from elsewhere."""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hermes.core.messages import settle_open_calls, summary_note
from hermes.core.sessions import GivenMessage, HistorySummary, MessageQuery, SessionHead
from hermes.store.errors import UnknownMessage
from hermes.store.session_forks import CUT_OFF
from hermes.store.session_titles import LONGEST, auto_title
from hermes.store.sessions import SessionDB
from tests.unit.store.test_sessions import contents, contents_of_messages


def call(call_id: str) -> dict[str, Any]:
    return {"id": call_id, "type": "function", "function": {"name": "look", "arguments": "{}"}}


def talk(store: SessionDB, session_id: str, count: int) -> list[int]:
    store.create_session(session_id, "api")
    return [store.append_message(session_id, "user", f"number {at}") for at in range(count)]


def told(store: SessionDB, session_id: str, **how: Any) -> list[Any]:
    return [each["content"] for each in store.get_messages_as_conversation(session_id, **how)]


# --- pages ----------------------------------------------------------------------------------------


@settings(max_examples=60, deadline=None)
@given(
    limit=st.none() | st.integers(1, 12),
    after=st.none() | st.integers(0, 25),
    before=st.none() | st.integers(0, 25),
    newest_first=st.booleans(),
)
def test_a_page_is_the_wanted_part_of_the_whole(
    pages: tuple[SessionDB, list[int]],
    limit: int | None,
    after: int | None,
    before: int | None,
    newest_first: bool,
) -> None:
    store, ids = pages
    query = MessageQuery(limit=limit, after=after, before=before, newest_first=newest_first)
    page = store.page_messages("s", query)
    wanted = [
        each
        for each in sorted(ids, reverse=newest_first)
        if (after is None or each > after) and (before is None or each < before)
    ]
    assert [message["id"] for message in page.messages] == wanted[:limit]
    assert page.has_more == (limit is not None and len(wanted) > limit)


@pytest.fixture(scope="module")
def pages() -> Any:
    with tempfile.TemporaryDirectory() as folder:
        store = SessionDB(Path(folder) / "state.db")
        store.create_session("other", "api")
        store.create_session("s", "api")
        ids = []
        for _ in range(10):
            store.append_message("other", "user", "between")
            ids.append(store.append_message("s", "user", "wanted"))
        yield store, ids
        store.close()


def test_messages_are_counted_and_known_by_their_session(sessions: SessionDB) -> None:
    ids = talk(sessions, "s", 5)
    talk(sessions, "other", 2)
    assert sessions.count_messages("s", after=0) == 5
    assert sessions.count_messages("s", after=ids[2]) == 2
    assert sessions.count_bytes("s", after=ids[4]) == 0
    assert 0 < sessions.count_bytes("s", after=ids[2]) < sessions.count_bytes("s", after=0)
    assert sessions.has_message("s", ids[0])
    assert not sessions.has_message("other", ids[0])
    assert not sessions.has_message("s", 10**30)


# --- branches -------------------------------------------------------------------------------------


def test_a_branch_has_everything_up_to_the_chosen_message(sessions: SessionDB) -> None:
    ids = talk(sessions, "s", 4)
    sessions.fork_session("s", "fork", up_to=ids[1])
    fork = sessions.get_session("fork")
    assert fork is not None
    assert (fork["message_count"], fork["auto_title"]) == (2, "number 0")
    assert contents(sessions, "fork") == ["number 0", "number 1"]
    assert contents(sessions, "s") == [f"number {at}" for at in range(4)]


@pytest.mark.parametrize("kept", range(1, 5))
def test_a_call_that_is_open_where_the_branch_begins_is_answered(
    sessions: SessionDB, kept: int
) -> None:
    sessions.create_session("s", "api")
    ids = [
        sessions.append_message("s", "user", "look twice"),
        sessions.append_message("s", "assistant", None, tool_calls=[call("a"), call("b")]),
        sessions.append_message("s", "tool", "seen a", tool_call_id="a", tool_name="look"),
        sessions.append_message("s", "tool", "seen b", tool_call_id="b", tool_name="look"),
        sessions.append_message("s", "assistant", "Done."),
    ]
    sessions.fork_session("s", "fork", up_to=ids[kept - 1])
    conversation = sessions.get_messages_as_conversation("fork")
    answers = [message["content"] for message in conversation if message["role"] == "tool"]
    expected = {1: [], 2: [CUT_OFF, CUT_OFF], 3: ["seen a", CUT_OFF], 4: ["seen a", "seen b"]}
    assert answers == expected[kept]
    assert settle_open_calls(conversation) == conversation
    fork = sessions.get_session("fork")
    assert fork is not None
    assert fork["message_count"] == len(conversation)


def test_a_branch_off_an_unknown_message_changes_nothing(sessions: SessionDB) -> None:
    [elsewhere] = talk(sessions, "other", 1)
    talk(sessions, "s", 1)
    before = sessions.list_sessions(limit=9, offset=0)
    with pytest.raises(UnknownMessage, match=r"^Session 's' has no message"):
        sessions.fork_session("s", "fork", up_to=elsewhere)
    assert sessions.list_sessions(limit=9, offset=0) == before


def test_copies_belong_to_no_run(sessions: SessionDB) -> None:
    sessions.create_session("s", "api")
    sessions.append_message("s", "user", "hello", run_id="run_1", step=0)
    sessions.fork_session("s", "fork")
    assert ["run_id" in message for message in sessions.get_messages("fork")] == [False]


# --- summaries ------------------------------------------------------------------------------------


def test_a_summary_stands_for_the_messages_it_is_about(sessions: SessionDB) -> None:
    ids = talk(sessions, "s", 6)
    talk(sessions, "other", 1)
    assert sessions.get_summary("s") is None
    assert sessions.add_summary("s", HistorySummary(ids[1], "first")) is True
    assert sessions.add_summary("s", HistorySummary(ids[3], "second")) is True
    assert sessions.add_summary("nobody", HistorySummary(1, "none")) is False

    assert sessions.get_summary("s") == HistorySummary(ids[3], "second")
    assert sessions.get_messages_as_conversation("s")[0] == summary_note("second")
    assert told(sessions, "s")[1:] == ["number 4", "number 5"]
    assert contents(sessions, "s") == [f"number {at}" for at in range(6)]
    assert told(sessions, "other") == ["number 0"]


def test_the_history_behind_a_summary_can_be_read_without_a_run(sessions: SessionDB) -> None:
    ids = talk(sessions, "s", 2)
    sessions.append_message("s", "user", "mine", run_id="run_1", step=0)
    sessions.add_summary("s", HistorySummary(ids[0], "short"))
    assert told(sessions, "s", without_run="run_1")[1:] == ["number 1"]


def test_a_branch_that_goes_beyond_the_summary_has_it_too(sessions: SessionDB) -> None:
    ids = talk(sessions, "s", 6)
    talk(sessions, "between", 3)
    sessions.add_summary("s", HistorySummary(ids[3], "short"))
    sessions.fork_session("s", "all")
    sessions.fork_session("s", "beyond", up_to=ids[4])
    sessions.fork_session("s", "before", up_to=ids[3])
    assert told(sessions, "all") == told(sessions, "s")
    assert told(sessions, "beyond") == [summary_note("short")["content"], "number 4"]
    assert told(sessions, "before") == [f"number {at}" for at in range(4)]


def test_a_deleted_session_takes_its_summaries_along(sessions: SessionDB) -> None:
    ids = talk(sessions, "s", 2)
    sessions.add_summary("s", HistorySummary(ids[0], "short"))
    sessions.delete_session("s")
    talk(sessions, "s", 2)
    assert sessions.get_summary("s") is None


# --- titles ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("role", "content", "title"),
    [
        ("user", "Hello", "Hello"),
        ("user", "\n \t\n  What   is\there?\nAnd there?", "What is here?"),
        ("user", "x" * LONGEST, "x" * LONGEST),
        ("user", "x" * (LONGEST + 1), "x" * (LONGEST - 1) + "…"),
        ("user", [{"type": "image_url"}, {"type": "text", "text": "Look"}], "Look"),
        ("user", [{"type": "image_url"}], None),
        ("user", "", None),
        ("user", None, None),
        ("assistant", "Hello", None),
    ],
)
def test_a_title_is_the_first_line_that_says_something(
    role: str, content: Any, title: str | None
) -> None:
    assert auto_title(role, content) == title


def test_a_session_is_called_after_the_first_words_of_its_user(sessions: SessionDB) -> None:
    sessions.create_session("s", "api")
    for role, text in (("assistant", "Hi"), ("user", " "), ("user", "First"), ("user", "Second")):
        sessions.append_message("s", role, text)
    session = sessions.get_session("s")
    assert session is not None
    assert (session["title"], session["auto_title"]) == (None, "First")


# --- from elsewhere -------------------------------------------------------------------------------


def test_a_session_from_elsewhere_is_as_it_was(sessions: SessionDB) -> None:
    head = SessionHead(
        source="cli",
        model="gpt",
        title="Theirs",
        parent_session_id="p",
        end_reason="branched",
        started_at=5.5,
        ended_at=9.25,
    )
    messages = [
        GivenMessage(role="user", content="look", timestamp=6.5),
        GivenMessage(role="assistant", content=None, timestamp=7.5, tool_calls=[call("a")]),
        GivenMessage(
            role="tool", content="seen", timestamp=8.5, tool_call_id="a", tool_name="look"
        ),
    ]
    assert sessions.import_session("s", head, messages) is True
    assert sessions.import_session("s", head, []) is False
    session = sessions.get_session("s")
    assert session is not None
    assert session["updated_at"] > 1_000_000
    del session["updated_at"]
    assert session == {
        "id": "s",
        "source": "cli",
        "model": "gpt",
        "title": "Theirs",
        "auto_title": "look",
        "parent_session_id": "p",
        "end_reason": "branched",
        "started_at": 5.5,
        "ended_at": 9.25,
        "message_count": 3,
    }
    kept = [
        {name: value for name, value in message.items() if name != "id"}
        for message in sessions.get_messages("s")
    ]
    assert kept == [
        {"role": "user", "content": "look", "timestamp": 6.5},
        {"role": "assistant", "content": None, "timestamp": 7.5, "tool_calls": [call("a")]},
        {
            "role": "tool",
            "content": "seen",
            "timestamp": 8.5,
            "tool_call_id": "a",
            "tool_name": "look",
        },
    ]
    found = sessions.search("theirs", limit=9, offset=0)
    assert found is not None
    assert found.total == 1


@settings(max_examples=30, deadline=None)
@given(given_contents=st.lists(contents_of_messages, max_size=6))
def test_every_content_from_elsewhere_is_kept(given_contents: list[Any]) -> None:
    with tempfile.TemporaryDirectory() as folder:
        store = SessionDB(Path(folder) / "state.db")
        messages = [GivenMessage(role="user", content=c, timestamp=1.5) for c in given_contents]
        store.import_session("s", SessionHead(source="x", started_at=1.0), messages)
        assert contents(store, "s") == given_contents
        store.close()


def test_ids_are_found_by_their_beginning(sessions: SessionDB) -> None:
    for name in ("ab%1", "ab_2", "AB3", "b"):
        sessions.create_session(name, "api")
    assert set(sessions.find_ids("ab")) == {"ab%1", "ab_2"}
    assert sessions.find_ids("ab%") == ["ab%1"]
    assert sessions.find_ids("x") == []
