"""The status file: whole, private, and honest about who wrote it."""

from __future__ import annotations

import json
import os
import stat
from datetime import UTC, datetime
from pathlib import Path

import pytest

from hermes.settings.runtime_status import read_status, write_status


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "home" / "gateway_state.json"


def test_what_was_written_is_read(path: Path) -> None:
    platforms = {"api_server": {"state": "connected"}}
    write_status(path, gateway_state="running", platforms=platforms, active_agents=2)
    found = read_status(path)
    assert found is not None
    updated = datetime.fromisoformat(found.pop("updated_at"))
    assert abs((datetime.now(UTC) - updated).total_seconds()) < 60
    assert found == {
        "gateway_state": "running",
        "platforms": platforms,
        "active_agents": 2,
        "pid": os.getpid(),
        "exit_reason": None,
    }


def test_fields_that_are_not_given_stay(path: Path) -> None:
    write_status(path, gateway_state="running", active_agents=2)
    write_status(path, gateway_state="stopped", exit_reason="SIGTERM")
    found = read_status(path) or {}
    assert (found["gateway_state"], found["active_agents"]) == ("stopped", 2)
    assert found["exit_reason"] == "SIGTERM"


def test_what_another_process_left_behind_is_forgotten(path: Path) -> None:
    path.parent.mkdir()
    path.write_text(json.dumps({"pid": os.getpid() + 1, "exit_reason": "old", "active_agents": 9}))
    write_status(path, gateway_state="starting")
    found = read_status(path) or {}
    assert (found["exit_reason"], found["active_agents"]) == (None, 0)


def test_the_file_is_private_and_nothing_else_is_left(path: Path) -> None:
    write_status(path, gateway_state="running")
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert stat.S_IMODE(path.parent.stat().st_mode) == 0o700
    assert list(path.parent.iterdir()) == [path]


def test_a_status_that_cannot_be_written_leaves_the_old_one(path: Path) -> None:
    write_status(path, gateway_state="running")
    with pytest.raises(TypeError):
        write_status(path, gateway_state=object())
    assert (read_status(path) or {})["gateway_state"] == "running"
    assert list(path.parent.iterdir()) == [path]


def test_an_unknown_field_is_refused(path: Path) -> None:
    with pytest.raises(TypeError):
        write_status(path, gateway_stat="running")


@pytest.mark.parametrize("data", [b"", b"{", b"[]", b"\xff", b"null"])
def test_a_broken_file_counts_as_none(path: Path, data: bytes) -> None:
    assert read_status(path) is None
    path.parent.mkdir()
    path.write_bytes(data)
    assert read_status(path) is None
