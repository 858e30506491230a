"""The gateway as users start it: `hermes serve`, a process of its own with a home of its own."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import IO

KEY = "client-key-0123456789"
MODEL = "hermes-agent"

_STOP_SECONDS = 10.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Served:
    """A gateway that answers: where, and where its tools work."""

    base_url: str
    """What OpenAI's clients call the base URL."""
    workspace: Path
    log: Path

    @property
    def url(self) -> str:
        """Scheme, host and port."""
        return self.base_url.removesuffix("/v1")

    @property
    def headers(self) -> dict[str, str]:
        return {"Authorization": f"Bearer {KEY}"}


@contextmanager
def serving(folder: Path, **environment: str) -> Iterator[Served]:
    """A gateway with its home in `folder`; without a provider the demo model answers."""
    home = folder / "home"
    home.mkdir(mode=0o700)
    (home / "config.yaml").write_text("runs: {disconnect_responses: cancel}\n")
    log = folder / "gateway.log"
    with log.open("ab") as file:
        process = subprocess.Popen(
            [sys.executable, "-m", "hermes_cli.main", "serve"],
            env=_environment(home) | environment,
            cwd=folder,
            stdout=subprocess.PIPE,
            stderr=file,
            text=True,
        )
    try:
        assert process.stdout is not None
        yield Served(base_url=_base_url(process.stdout, log), workspace=home / "workspace", log=log)
    finally:
        _stop(process)


def _environment(home: Path) -> dict[str, str]:
    """All the process gets to see of the outside."""
    return {
        "PATH": os.environ["PATH"],
        "HOME": str(home.parent),
        "HERMES_HOME": str(home),
        "API_SERVER_PORT": "0",
        "API_SERVER_KEY": KEY,
    }


def _base_url(banner: IO[str], log: Path) -> str:
    for line in banner:
        if found := re.search(r"Base URL: +(\S+)", line):
            return found[1]
    raise AssertionError(f"the gateway did not start:\n{log.read_text()}")


def _stop(process: subprocess.Popen[str]) -> None:
    process.terminate()
    try:
        process.communicate(timeout=_STOP_SECONDS)
    except subprocess.TimeoutExpired:
        process.kill()
        process.communicate()
