"""`session_search` finds and reads what was said before, and never the turn that is asking."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from hermes.store.sessions import SessionDB
from hermes.tools.base import Scope, ToolContext
from hermes.tools.registry import Registry
from hermes.tools.services import Services

Use = Callable[..., str]


@pytest.fixture
def sessions(tmp_path: Path) -> Iterator[SessionDB]:
    store = SessionDB(tmp_path / "state.db", clock=lambda: 1_700_000_000.0)
    yield store
    store.close()


@pytest.fixture
def use(context: ToolContext, sessions: SessionDB) -> Use:
    def call(scope: Scope | None = None, **arguments: Any) -> str:
        services = Services(past_sessions=lambda: sessions)
        here = replace(context, services=services, scope=scope or Scope())
        return Registry.builtin().run("session_search", arguments, here)

    return call


def say(sessions: SessionDB, session_id: str, *texts: str, run_id: str | None = None) -> list[int]:
    sessions.create_session(session_id, "test")
    return [
        sessions.append_message(
            session_id,
            "user" if number % 2 == 0 else "assistant",
            text,
            run_id=run_id,
            step=number if run_id else None,
        )
        for number, text in enumerate(texts)
    ]


def test_a_hit_names_session_title_message_and_day(use: Use, sessions: SessionDB) -> None:
    [_, answered] = say(sessions, "s1", "Where is the walrus?", "The walrus is in the zoo.")
    told = use(query="walrus zoo")
    assert told == (
        f"s1 (Where is the walrus?), message {answered}, assistant, 2023-11-14 22:13: "
        "The walrus is in the zoo."
    )


def test_nothing_found_is_said(use: Use) -> None:
    assert "Nothing was said" in use(query="walrus")


def test_a_part_around_a_message_is_read(use: Use, sessions: SessionDB) -> None:
    ids = say(sessions, "s1", *(f"Message number {n}." for n in range(9)))
    told = use(session_id="s1", around=ids[4], limit=3)
    shown = [n for n in range(9) if f"number {n}." in told.partition("\n\n")[2]]
    assert shown == [3, 4, 5]
    assert f"message {ids[4]}, user, 2023-11-14 22:13:\nMessage number 4." in told


def test_without_a_message_the_end_is_read(use: Use, sessions: SessionDB) -> None:
    say(sessions, "s1", *(f"Message number {n}." for n in range(9)))
    told = use(session_id="s1", limit=2).partition("\n\n")[2]
    assert [n for n in range(9) if f"number {n}." in told] == [7, 8]


def test_calls_are_named_and_long_messages_cut(use: Use, sessions: SessionDB) -> None:
    say(sessions, "s1", "x" * 5000)
    call = {"id": "c", "type": "function", "function": {"name": "terminal", "arguments": "{}"}}
    sessions.append_message("s1", "assistant", None, tool_calls=[call])
    told = use(session_id="s1")
    assert "[called terminal]" in told
    assert "characters cut" in told


def test_the_turn_of_a_run_does_not_find_itself(use: Use, sessions: SessionDB) -> None:
    [before] = say(sessions, "s1", "The walrus is grey.", run_id="run_1")
    say(sessions, "s1", *["Tell me about the walrus."] * 120, run_id="run_2")
    scope = Scope(session_id="s1", is_kept=True, run_id="run_2")
    told = use(scope, query="walrus", limit=50)
    assert f"message {before}," in told
    assert "Tell me" not in told
    assert "Tell me" not in use(scope, session_id="s1").partition("\n\n")[2]
    assert "Tell me" not in use(scope, session_id="s1", around=before, limit=9).partition("\n\n")[2]


def test_without_a_run_what_was_said_since_the_user_spoke_is_not_found(
    use: Use, sessions: SessionDB
) -> None:
    say(sessions, "s1", "The walrus is grey.", "Yes.", "What colour has the walrus?")
    scope = Scope(session_id="s1", is_kept=True)
    told = use(scope, query="walrus")
    assert "grey" in told
    assert "colour" not in told.partition(":")[2].partition(":")[2]


def test_other_sessions_are_found_whole(use: Use, sessions: SessionDB) -> None:
    say(sessions, "s1", "What colour has the walrus?")
    say(sessions, "s2", "A walrus.")
    told = use(Scope(session_id="s2", is_kept=True), query="walrus")
    assert "colour" in told
    assert "s2" not in told


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ({}, "`query` must have"),
        ({"query": "x" * 501}, "`query` must have"),
        ({"session_id": "none"}, "There is no session 'none'"),
        ({"query": "x", "limit": 0}, "between 1 and 50"),
    ],
)
def test_what_cannot_be_done_is_explained(use: Use, arguments: dict[str, Any], said: str) -> None:
    assert said in use(**arguments)


def test_an_empty_session_and_a_store_without_an_index_are_explained(
    use: Use, context: ToolContext, sessions: SessionDB, tmp_path: Path
) -> None:
    sessions.create_session("empty", "test")
    assert "no messages" in use(session_id="empty")
    other = SessionDB(tmp_path / "other.db", can_search=False)
    services = Services(past_sessions=lambda: other)
    told = Registry.builtin().run(
        "session_search", {"query": "x"}, replace(context, services=services)
    )
    other.close()
    assert "FTS5" in told


def test_a_store_that_cannot_be_opened_is_explained(context: ToolContext) -> None:
    services = Services(past_sessions=lambda: None)
    here = replace(context, services=services)
    assert "hermes doctor" in Registry.builtin().run("session_search", {"query": "x"}, here)


def test_the_tool_is_not_offered_where_nothing_is_stored() -> None:
    assert "session_search" not in Registry.builtin().usable(Services()).names()
