"""Each schema change is applied once, in order, all or nothing."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import closing

import pytest

from hermes.store.errors import StoreUnusable
from hermes.store.migrations import Migration, migrate

FIRST: Migration = ("CREATE TABLE fruits (name TEXT)", "INSERT INTO fruits VALUES ('apple')")
SECOND: Migration = ("ALTER TABLE fruits ADD COLUMN colour TEXT",)
BROKEN: Migration = ("INSERT INTO fruits VALUES ('pear')", "CREATE NONSENSE")


@pytest.fixture
def connection() -> Iterator[sqlite3.Connection]:
    with closing(sqlite3.connect(":memory:", isolation_level=None)) as opened:
        yield opened


def versions(connection: sqlite3.Connection) -> list[int]:
    rows = connection.execute("SELECT version FROM schema_version ORDER BY version")
    return [version for (version,) in rows]


def fruits(connection: sqlite3.Connection) -> list[tuple[str | None, ...]]:
    return connection.execute("SELECT * FROM fruits").fetchall()


def test_a_new_database_gets_every_migration_in_order(connection: sqlite3.Connection) -> None:
    migrate(connection, [FIRST, SECOND], "x.db")
    assert versions(connection) == [1, 2]
    assert fruits(connection) == [("apple", None)]


def test_a_migration_is_not_applied_twice(connection: sqlite3.Connection) -> None:
    migrate(connection, [FIRST], "x.db")
    migrate(connection, [FIRST], "x.db")
    assert fruits(connection) == [("apple",)]


def test_an_older_database_gets_only_what_it_lacks(connection: sqlite3.Connection) -> None:
    migrate(connection, [FIRST], "x.db")
    migrate(connection, [FIRST, SECOND], "x.db")
    assert versions(connection) == [1, 2]
    assert fruits(connection) == [("apple", None)]


def test_a_failing_migration_changes_nothing(connection: sqlite3.Connection) -> None:
    migrate(connection, [FIRST], "x.db")
    with pytest.raises(sqlite3.OperationalError):
        migrate(connection, [FIRST, SECOND, BROKEN], "x.db")
    assert versions(connection) == [1]
    assert fruits(connection) == [("apple",)]
    assert not connection.in_transaction


def test_a_database_of_a_newer_program_is_refused_with_advice(
    connection: sqlite3.Connection,
) -> None:
    migrate(connection, [FIRST, SECOND], "x.db")
    with pytest.raises(StoreUnusable, match=r"^x\.db was written by a newer Hermes .* Upgrade"):
        migrate(connection, [FIRST], "x.db")


def test_a_database_of_another_program_is_refused_and_left_alone(
    connection: sqlite3.Connection,
) -> None:
    connection.execute("CREATE TABLE recipes (name TEXT)")
    with pytest.raises(StoreUnusable, match=r"^x\.db belongs to another program"):
        migrate(connection, [FIRST], "x.db")
    tables = connection.execute("SELECT name FROM sqlite_schema").fetchall()
    assert tables == [("recipes",)]
