"""A bridge for each test, with a stand-in for the CLI and a folder of its own."""

from __future__ import annotations

import shlex
import sys
from collections.abc import AsyncIterator
from pathlib import Path

import httpx
import pytest

from app import main
from tests.flows.bridge.server import FAKE_CLAUDE, TOKEN, serving
from tests.unit.backends.processes import WAIT_SECONDS


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("HERMES_HOME", str(tmp_path / "hermes-home"))
    return tmp_path / "hermes-home"


@pytest.fixture
def workspace(home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Settings for a bridge in a folder of its own, with the stand-in for a CLI."""
    fake = tmp_path / "fake_claude.py"
    fake.write_text(FAKE_CLAUDE)
    command = f"{shlex.quote(sys.executable)} {shlex.quote(str(fake))}"
    monkeypatch.setenv("API_BEARER_TOKEN", TOKEN)
    monkeypatch.setattr(main, "API_TOKEN", TOKEN)
    monkeypatch.setenv("CLAUDE_COMMAND", command)
    monkeypatch.setenv("WORKSPACE_DIR", str(tmp_path / "workspace"))
    for name in ("BRIDGE_TIMEOUT_SECONDS", "BRIDGE_STREAMING", "MAX_CONCURRENCY"):
        monkeypatch.delenv(name, raising=False)
    return tmp_path / "workspace"


@pytest.fixture
async def client(workspace: Path) -> AsyncIterator[httpx.AsyncClient]:
    headers = {"Authorization": f"Bearer {TOKEN}"}
    async with (
        serving() as url,
        httpx.AsyncClient(base_url=url, headers=headers, timeout=WAIT_SECONDS) as client,
    ):
        yield client
