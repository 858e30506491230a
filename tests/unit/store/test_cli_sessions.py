"""Which conversation of a CLI stands for which session: kept, replaced, forgotten."""

from __future__ import annotations

import stat
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from hermes.core.cli_sessions import CliMemory, fingerprint_of
from hermes.core.messages import assistant, tool, user
from hermes.core.usage import Usage
from hermes.store.cli_sessions import CliSessionStore

ONE = CliMemory(
    agent="codex",
    session_id="s1",
    home_id="h1",
    cli_session_id="thread-1",
    fingerprint="f1",
    used=Usage(input_tokens=120, output_tokens=30, total_tokens=150, cost_usd=0.25),
)


@pytest.fixture
def store(tmp_path: Path) -> Iterator[CliSessionStore]:
    opened = CliSessionStore(lambda: tmp_path / "cli.db")
    yield opened
    opened.close()


def test_what_is_kept_is_found_again_by_agent_and_session(store: CliSessionStore) -> None:
    store.keep(ONE)

    assert store.find("codex", "s1") == ONE
    assert store.find("claude", "s1") is None
    assert store.find("codex", "s2") is None


def test_it_outlasts_the_process_and_is_its_owner_s_alone(tmp_path: Path) -> None:
    path = tmp_path / "cli.db"
    first = CliSessionStore(lambda: path)
    first.keep(ONE)
    first.close()
    second = CliSessionStore(lambda: path)

    assert second.find("codex", "s1") == ONE
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    second.close()


def test_a_later_one_takes_its_place(store: CliSessionStore) -> None:
    store.keep(ONE)
    store.keep(replace(ONE, home_id="h2", fingerprint="f2"))

    found = store.find("codex", "s1")
    assert found is not None and (found.home_id, found.fingerprint) == ("h2", "f2")
    assert store.homes() == {("codex", "h2")}


def test_a_session_is_forgotten_with_all_that_stood_for_it(store: CliSessionStore) -> None:
    other = replace(ONE, agent="claude", home_id="h2")
    elsewhere = replace(ONE, session_id="s2", home_id="h3")
    for memory in (ONE, other, elsewhere):
        store.keep(memory)

    assert store.session_ids() == {"s1", "s2"}
    forgotten = store.forget("s1")

    assert sorted(memory.home_id for memory in forgotten) == ["h1", "h2"]
    assert store.find("codex", "s1") is None
    assert store.find("codex", "s2") == elsewhere
    assert store.forget("s1") == []


def test_a_fingerprint_is_of_what_was_said() -> None:
    said = [user("Hello"), assistant("Hi")]

    assert fingerprint_of(said) == fingerprint_of(
        [user([{"type": "text", "text": "Hello "}]), tool("1", "x", "y"), assistant("Hi", [])]
    )
    assert fingerprint_of(said) != fingerprint_of([user("Hello"), assistant("Hi!")])
    assert fingerprint_of(said) != fingerprint_of([assistant("Hello"), user("Hi")])
    assert fingerprint_of([user("ab"), user("c")]) != fingerprint_of([user("a"), user("bc")])
