"""How long the gateway takes from its command to a first healthy answer, and for its imports."""

from __future__ import annotations

import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

from bench.processes import clean_environment, running
from bench.servers import gateway

_IMPORTED = "hermes_cli.main"
_SLOWEST_SHOWN = 10
# Nothing listens here: a gateway that starts must not wait for its provider.
_NO_UPSTREAM = "http://127.0.0.1:9/v1"


@dataclass(frozen=True, slots=True)
class ColdStart:
    """One start, from the command to the first 200 on /health."""

    wall_seconds: float
    cpu_seconds: float


@dataclass(frozen=True, slots=True)
class Import:
    """What one module took to import, without and with what it imports itself."""

    module: str
    own_ms: float
    total_ms: float


@dataclass(frozen=True, slots=True)
class Startup:
    """Cold starts of the gateway, and what importing the command line costs."""

    cold_starts: list[ColdStart]
    import_ms: float
    slowest_imports: list[Import]


def measure(starts: int) -> Startup:
    cold_starts = [_start() for _ in range(starts)]
    imports = _imports()
    slowest = sorted(imports, key=lambda one: one.total_ms, reverse=True)[:_SLOWEST_SHOWN]
    return Startup(cold_starts, sum(one.own_ms for one in imports), slowest)


def _start() -> ColdStart:
    with tempfile.TemporaryDirectory(prefix="hermes-bench-") as home:
        launch = gateway(_NO_UPSTREAM, "tokens-100", Path(home))
        begun = time.monotonic()
        with running(launch) as server:
            wall = time.monotonic() - begun
            return ColdStart(wall, server.usage().cpu_seconds)


def _imports() -> list[Import]:
    finished = subprocess.run(
        [sys.executable, "-X", "importtime", "-c", f"import {_IMPORTED}"],
        env=clean_environment({}),
        capture_output=True,
        text=True,
        check=True,
    )
    return parse_import_times(finished.stderr)


def parse_import_times(report: str) -> list[Import]:
    """The lines of `python -X importtime`: `import time: <own µs> | <total µs> | <module>`."""
    rows = [line.removeprefix("import time:").split("|") for line in report.splitlines()]
    return [
        Import(module.strip(), int(own) / 1e3, int(total) / 1e3)
        for own, total, module in (row for row in rows if len(row) == 3)
        if own.strip().isdigit()
    ]
