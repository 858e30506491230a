"""Searching sessions: what is said can be found, what is gone cannot, and no query is an error."""

from __future__ import annotations

import sqlite3
import tempfile
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hermes.core.sessions import SearchPage
from hermes.store import session_index
from hermes.store.migrations import migrate
from hermes.store.search_query import MOST_BEGINNINGS, MOST_TERMS, match_expression
from hermes.store.session_schema import MIGRATIONS
from hermes.store.sessions import SessionDB
from tests.unit.store.test_encoding import texts


@pytest.fixture
def talks(sessions: SessionDB) -> SessionDB:
    for name in ("s", "t"):
        sessions.create_session(name, "api")
    sessions.append_message("s", "user", "Where is the Café Müller?")
    sessions.append_message("s", "assistant", "The café is closed on Mondays.")
    sessions.append_message("s", "tool", "exit code 3: no route", tool_call_id="c", tool_name="x")
    sessions.append_message("t", "user", [{"type": "text", "text": "Plan the budget, please"}])
    sessions.append_message("t", "system", "invisible instructions")
    sessions.set_session_title("t", "Yearly budget")
    return sessions


def search(store: SessionDB, query: str, *, limit: int = 20, offset: int = 0) -> SearchPage:
    page = store.search(query, limit=limit, offset=offset)
    assert page is not None
    return page


def found(store: SessionDB, query: str) -> set[tuple[str, str | None]]:
    return {(hit.session_id, hit.role) for hit in search(store, query).hits}


@pytest.mark.parametrize(
    ("query", "hits"),
    [
        ("café", {("s", "user"), ("s", "assistant")}),
        ("CAFE", {("s", "user"), ("s", "assistant")}),
        ("cafe closed", {("s", "assistant")}),
        ("closed cafe", {("s", "assistant")}),
        ('"cafe closed"', set()),
        ('"closed on"', {("s", "assistant")}),
        ("mon*", {("s", "assistant")}),
        ("mon", set()),
        ('"closed on mon"*', {("s", "assistant")}),
        ("route", {("s", "tool")}),
        ("budget", {("t", "user"), ("t", None)}),
        ("yearly", {("t", None)}),
        ("instructions", set()),
        ("budget cafe", set()),
    ],
)
def test_all_the_words_must_be_there_whatever_their_case_and_accents(
    talks: SessionDB, query: str, hits: set[tuple[str, str | None]]
) -> None:
    assert found(talks, query) == hits


def test_a_hit_says_where_it_is_and_marks_the_words(talks: SessionDB) -> None:
    [hit] = search(talks, "closed cafe").hits
    [message] = [each for each in talks.get_messages("s") if each["role"] == "assistant"]
    assert (hit.session_id, hit.message_id, hit.timestamp) == (
        "s",
        message["id"],
        message["timestamp"],
    )
    assert hit.title == "Where is the Café Müller?"
    assert hit.snippet == "The café is closed on Mondays."
    assert [hit.snippet[begin:end] for begin, end in hit.highlights] == ["café", "closed"]


def test_a_long_text_is_shown_around_its_hit(sessions: SessionDB) -> None:
    sessions.create_session("s", "api")
    sessions.append_message("s", "user", "before " * 500 + "needle " + "after " * 500)
    [hit] = search(sessions, "needle").hits
    assert len(hit.snippet) < 400
    assert [hit.snippet[begin:end] for begin, end in hit.highlights] == ["needle"]


def test_hits_come_in_pages_that_neither_repeat_nor_miss_one(sessions: SessionDB) -> None:
    sessions.create_session("s", "api")
    ids = [sessions.append_message("s", "user", f"word {'x ' * at}") for at in range(7)]
    pages = [search(sessions, "word", limit=3, offset=offset) for offset in (0, 3, 6, 9)]
    assert [page.has_more for page in pages] == [True, True, False, False]
    assert {page.total for page in pages} == {7}
    listed = [hit.message_id for page in pages for hit in page.hits]
    assert sorted(filter(None, listed)) == ids
    scores = [hit.score for page in pages for hit in page.hits]
    assert scores == sorted(scores, reverse=True)


def test_with_more_hits_than_anybody_reads_nobody_counts_them(
    sessions: SessionDB, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(session_index, "MOST_HITS", 3)
    sessions.create_session("s", "api")
    for _ in range(5):
        sessions.append_message("s", "user", "word")
    page = search(sessions, "word", limit=2)
    assert (page.total, page.has_more) == (None, True)


def test_of_too_many_hits_titles_and_the_latest_are_compared(
    sessions: SessionDB, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(session_index, "MOST_HITS", 2)
    sessions.create_session("s", "api")
    sessions.set_session_title("s", "word")
    ids = [sessions.append_message("s", "user", "word") for _ in range(5)]
    found_ids = {hit.message_id for hit in search(sessions, "word").hits}
    assert found_ids == {None, ids[4], ids[3]}


def test_what_is_gone_is_not_found(talks: SessionDB) -> None:
    talks.set_session_title("t", None)
    assert found(talks, "yearly") == set()
    talks.set_session_title("t", "Monthly budget")
    assert found(talks, "monthly") == {("t", None)}
    talks.delete_session("s")
    assert found(talks, "cafe") == set()
    talks.delete_session("t")
    assert found(talks, "budget") == set()


def test_a_step_that_was_there_already_is_not_found_twice(sessions: SessionDB) -> None:
    sessions.create_session("s", "api")
    for _ in range(2):
        sessions.append_message("s", "user", "word", run_id="run_1", step=0)
    assert search(sessions, "word").total == 1


def test_the_copies_in_a_fork_are_found_too(talks: SessionDB) -> None:
    talks.fork_session("t", "fork", title="Another budget")
    assert found(talks, "budget") == {("t", "user"), ("t", None), ("fork", "user"), ("fork", None)}


@settings(max_examples=300, deadline=None)
@given(query=texts | st.text(alphabet='ab"*^:(){}+-NEAR AND OR\x00é²_', max_size=40))
def test_no_query_is_an_error(searchable: SessionDB, query: str) -> None:
    page = search(searchable, query)
    assert all(hit.session_id == "s" for hit in page.hits)


@pytest.fixture(scope="module")
def searchable() -> Iterator[SessionDB]:
    with tempfile.TemporaryDirectory() as folder:
        store = SessionDB(Path(folder) / "state.db")
        store.create_session("s", "api")
        store.append_message("s", "user", "a b ab NEAR AND OR é ²")
        yield store
        store.close()


@settings(max_examples=60, deadline=None)
@given(text=texts)
def test_every_text_can_be_indexed(searchable: SessionDB, text: str) -> None:
    searchable.append_message("s", "user", text)
    for word in text.split()[:3]:
        for hit in search(searchable, word).hits:
            assert all(begin < end <= len(hit.snippet) for begin, end in hit.highlights)


def test_a_query_of_many_words_is_cut() -> None:
    expression = match_expression(" ".join(f"word{at}* word{at}*" for at in range(200)))
    assert expression is not None
    assert expression.count("AND") == MOST_TERMS - 1
    assert expression.count("*") == MOST_BEGINNINGS
    assert match_expression("same same same") == '"same"'
    assert match_expression(' * " !? ') is None


def test_a_file_from_before_there_was_an_index_gets_one(tmp_path: Path) -> None:
    path = tmp_path / "state.db"
    with closing(sqlite3.connect(path, isolation_level=None)) as connection:
        migrate(connection, MIGRATIONS[:2], str(path))
        connection.execute(
            "INSERT INTO sessions (id, source, title, started_at, updated_at)"
            " VALUES ('s', 'api', 'Old title', 1, 1), ('t', 'api', NULL, 1, 1)"
        )
        connection.execute(
            "INSERT INTO messages (session_id, role, content, timestamp) VALUES"
            " ('s', 'user', '\"old words\"', 1), ('t', 'user', '\"\\n Hello  there\"', 1),"
            " ('t', 'user', '\"and then\"', 1)"
        )
    store = SessionDB(path)
    assert found(store, "old") == {("s", "user"), ("s", None)}
    titles = {each["id"]: each["auto_title"] for each in store.list_sessions(limit=9, offset=0)}
    assert titles == {"s": "old words", "t": "Hello there"}
    store.close()


def test_where_nothing_can_be_searched_everything_else_works_and_is_made_good_later(
    tmp_path: Path,
) -> None:
    path = tmp_path / "state.db"
    first = SessionDB(path)
    first.create_session("s", "api")
    first.append_message("s", "user", "early")
    first.create_session("gone", "api")
    first.append_message("gone", "user", "vanished")
    first.close()

    without = SessionDB(path, can_search=False)
    assert without.search("early", limit=1, offset=0) is None
    without.append_message("s", "user", "meanwhile")
    without.delete_session("gone")
    without.set_session_title("s", "Name")
    without.fork_session("s", "fork")
    without.close()

    again = SessionDB(path)
    assert found(again, "meanwhile") == {("s", "user"), ("fork", "user")}
    assert found(again, "early") == {("s", "user"), ("fork", "user")}
    assert found(again, "name") == {("s", None), ("fork", None)}
    assert found(again, "vanished") == set()
    again.close()
