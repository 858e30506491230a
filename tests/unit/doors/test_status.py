"""The door `gateway.status`."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from gateway.status import read_runtime_status, write_runtime_status


def test_the_status_belongs_to_the_home_of_the_moment(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HERMES_HOME", str(tmp_path / "one"))
    assert read_runtime_status() is None
    write_runtime_status(gateway_state="running", active_agents=1)
    found = read_runtime_status()
    assert found is not None
    assert (found["gateway_state"], found["active_agents"]) == ("running", 1)
    assert found["pid"] == os.getpid()
    assert (tmp_path / "one" / "gateway_state.json").is_file()
    monkeypatch.setenv("HERMES_HOME", str(tmp_path / "two"))
    assert read_runtime_status() is None
