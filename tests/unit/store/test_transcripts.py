"""Linked histories are read whole, share their beginnings and go when nobody holds them."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import closing

import pytest

from hermes.core.messages import Message, user
from hermes.store import transcripts


@pytest.fixture
def connection() -> Iterator[sqlite3.Connection]:
    with closing(sqlite3.connect(":memory:", isolation_level=None)) as opened:
        opened.execute("PRAGMA foreign_keys = ON")
        for statement in transcripts.SCHEMA:
            opened.execute(statement)
        yield opened


def said(*texts: str) -> list[Message]:
    return [user(text) for text in texts]


def nodes(connection: sqlite3.Connection) -> list[int]:
    return [node for (node,) in connection.execute("SELECT id FROM transcripts ORDER BY id")]


def test_a_history_is_read_from_its_beginning(connection: sqlite3.Connection) -> None:
    first = transcripts.add(connection, said("a", "b"))
    second = transcripts.add(connection, said("c"), after=first)
    third = transcripts.add(connection, said(), after=second)
    fourth = transcripts.add(connection, said("d"), after=third)
    assert transcripts.read(connection, fourth) == said("a", "b", "c", "d")
    lengths = [transcripts.length(connection, node) for node in (first, second, third, fourth)]
    assert lengths == [2, 3, 3, 4]


def test_two_histories_can_go_on_from_the_same_node(connection: sqlite3.Connection) -> None:
    first = transcripts.add(connection, said("a"))
    left = transcripts.add(connection, said("left"), after=first)
    right = transcripts.add(connection, said("right"), after=first)
    assert transcripts.read(connection, left) == said("a", "left")
    assert transcripts.read(connection, right) == said("a", "right")


def test_a_released_node_stays_while_another_goes_on_from_it(
    connection: sqlite3.Connection,
) -> None:
    first = transcripts.add(connection, said("a"))
    second = transcripts.add(connection, said("b"), after=first)
    transcripts.release(connection, first)
    assert transcripts.read(connection, second) == said("a", "b")
    transcripts.release(connection, second)
    assert nodes(connection) == []


def test_releasing_a_branch_leaves_what_the_other_branch_needs(
    connection: sqlite3.Connection,
) -> None:
    first = transcripts.add(connection, said("a"))
    left = transcripts.add(connection, said("left"), after=first)
    right = transcripts.add(connection, said("right"), after=first)
    transcripts.release(connection, first)
    transcripts.release(connection, left)
    assert nodes(connection) == [first, right]
    assert transcripts.read(connection, right) == said("a", "right")


def test_releasing_nothing_is_allowed(connection: sqlite3.Connection) -> None:
    kept = transcripts.add(connection, said("a"))
    transcripts.release(connection, None)
    assert nodes(connection) == [kept]
