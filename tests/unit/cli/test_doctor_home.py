"""Folders and databases: looked at, never changed."""

from __future__ import annotations

from pathlib import Path

import pytest

from hermes_cli import doctor_home
from hermes_cli.doctor_finding import Level
from hermes_state import SessionDB


def test_a_home_that_does_not_exist_yet_is_fine(home: Path) -> None:
    assert doctor_home.home_folder(home).level is Level.OK
    assert not home.exists()


def test_a_home_open_to_others_is_told_with_the_command(home: Path) -> None:
    home.mkdir()
    home.chmod(0o755)

    found = doctor_home.home_folder(home)

    assert (found.level, found.fix) == (Level.WARNING, f"chmod 700 {home}")


def test_a_private_home_is_fine(home: Path) -> None:
    home.mkdir(mode=0o700)

    assert doctor_home.home_folder(home).level is Level.OK


@pytest.mark.parametrize("below", [".", "deeper/still"])
def test_a_file_in_the_place_of_the_home_is_a_problem(home: Path, below: str) -> None:
    home.write_text("")

    assert doctor_home.home_folder(home / below).level is Level.PROBLEM


@pytest.mark.parametrize(
    ("free", "level"),
    [(10, Level.PROBLEM), (500_000_000, Level.WARNING), (10**12, Level.OK)],
)
def test_little_space_is_told_in_time(home: Path, free: int, level: Level) -> None:
    assert doctor_home.disk_space(home, free).level is level


def test_the_space_is_that_of_the_folder_which_exists(home: Path) -> None:
    assert doctor_home.disk_space(home / "not" / "yet").detail.count("free") == 1


def test_a_database_that_does_not_exist_is_not_made(home: Path) -> None:
    home.mkdir()

    assert doctor_home.database("Sessions", home / "state.db").level is Level.OK
    assert list(home.iterdir()) == []


def test_a_database_in_use_is_healthy(home: Path, store: SessionDB) -> None:
    store.create_session("s1", "cli")

    assert doctor_home.database("Sessions", home / "state.db").level is Level.OK
    assert store.count_sessions() == 1


def test_a_database_at_rest_is_left_without_a_trace(home: Path) -> None:
    SessionDB(home / "state.db").close()
    before = {path.name: path.stat().st_mtime_ns for path in home.iterdir()}

    assert doctor_home.database("Sessions", home / "state.db").level is Level.OK
    assert {path.name: path.stat().st_mtime_ns for path in home.iterdir()} == before


def test_a_database_that_is_none_is_a_problem_with_advice(home: Path) -> None:
    home.mkdir()
    (home / "state.db").write_text("this is a text file, not a database " * 100)

    found = doctor_home.database("Sessions", home / "state.db")

    assert found.level is Level.PROBLEM
    assert found.detail.endswith("state.db is not a database")
    assert "backup" in found.fix


def test_a_damaged_page_is_found(home: Path) -> None:
    path = home / "state.db"
    store = SessionDB(path)
    for number in range(500):
        store.create_session(f"session-{number}", "cli")
    store.close()
    content = bytearray(path.read_bytes())
    content[4096:] = b"\xff" * (len(content) - 4096)
    path.write_bytes(content)

    assert doctor_home.database("Sessions", path).level is Level.PROBLEM


def test_a_database_others_can_read_is_told_with_the_command(home: Path) -> None:
    path = home / "state.db"
    SessionDB(path).close()
    path.chmod(0o644)

    found = doctor_home.database("Sessions", path)

    assert (found.level, found.fix) == (Level.WARNING, f"chmod 600 {path}")


def test_a_workspace_must_be_a_folder(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")

    assert doctor_home.workspace(tmp_path / "file").level is Level.PROBLEM
    assert doctor_home.workspace(tmp_path / "later").level is Level.OK
    assert doctor_home.workspace(tmp_path).level is Level.OK
