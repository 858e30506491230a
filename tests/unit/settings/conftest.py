"""A home folder of its own for every test, and a way to write its config.yaml."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

WriteConfig = Callable[[str], Path]


@pytest.fixture
def home(tmp_path: Path) -> Path:
    folder = tmp_path / "home"
    folder.mkdir(mode=0o700)
    return folder


@pytest.fixture
def environ(home: Path) -> dict[str, str]:
    return {"HERMES_HOME": str(home), "HOME": str(home.parent)}


@pytest.fixture
def write_config(home: Path) -> WriteConfig:
    def write(text: str) -> Path:
        path = home / "config.yaml"
        path.write_text(text, encoding="utf-8")
        path.chmod(0o600)
        return path

    return write
