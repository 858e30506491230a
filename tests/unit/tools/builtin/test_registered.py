"""What every builtin tool promises, whatever it is asked."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

Run = Callable[..., str]

REST: dict[str, dict[str, Any]] = {
    "read_file": {},
    "write_file": {"content": "x"},
    "patch_file": {"old_text": "x", "new_text": "y"},
    "list_files": {},
    "search_files": {"pattern": "x"},
}


@pytest.mark.parametrize("name", REST)
@pytest.mark.parametrize("path", ["n" * 300, "a/" * 3000 + "b", "\ud800", "a\0b"])
def test_impossible_paths_are_problems_and_no_crashes(run: Run, name: str, path: str) -> None:
    assert "unexpectedly" not in run(name, path=path, **REST[name])
    assert "unexpectedly" not in run("terminal", command="true", workdir=path)


@pytest.mark.parametrize("name", ["read_file", "write_file", "patch_file", "list_files"])
@given(path=st.text(max_size=20))
@settings(
    max_examples=40, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
def test_no_path_crashes_a_file_tool(run: Run, name: str, path: str) -> None:
    assert "unexpectedly" not in run(name, path=path, **REST[name])
