"""How long a CLI agent takes to its first word: from a process that waits, and from a cold start.

Needs the real `claude`: the one that `make test-cli` installs, or the one on the PATH. It asks a
fake provider on this machine, so that the model's own time does not count.
"""

from __future__ import annotations

import asyncio
import shutil
import statistics
import sys
import tempfile
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from bench.client import connect, post
from bench.outcomes import Announce, Effort, Numbers, Outcome, Pair
from bench.processes import ChildFailed, Launch, free_port, running
from bench.servers import hermes

_INSTALLED = Path(__file__).resolve().parent.parent / "tests/cli/node_modules/.bin/claude"
_FILLING_SECONDS = 4.0
"""For the next process to be ready: nobody is told when it is."""
_CONFIG = """
cli:
  agents:
    cold: {{driver: claude, command: {command}, models: [haiku], base_url: "{origin}", api_key: k}}
    warm: {{driver: claude, command: {command}, models: [haiku], base_url: "{origin}", api_key: k,
            warm: 1}}
"""


@dataclass(frozen=True, slots=True)
class Case:
    name: str = "warm"
    title: str = "first word of a CLI agent: cold, and from a process that waits"


CASES = (Case(),)


def play(cases: Sequence[Case], effort: Effort, announce: Announce) -> list[Outcome]:
    command = str(_INSTALLED) if _INSTALLED.exists() else shutil.which("claude")
    if command is None:
        announce("no claude here, so nothing to be warm; `make test-cli` installs one")
        return []
    port = free_port()
    model = [sys.executable, "-m", "hermes.testing.fake_provider", "--port", str(port)]
    launch = Launch("provider", [*model, "--tokens", "10"], port, {}, probe="/v1/models")
    with (
        tempfile.TemporaryDirectory(prefix="hermes-bench-") as home,
        running(launch),
        running(_gateway(Path(home), command, f"http://127.0.0.1:{port}")) as server,
    ):
        return [_measure(case, server.port, effort, announce) for case in cases]


def _gateway(home: Path, command: str, origin: str) -> Launch:
    (home / "config.yaml").write_text(_CONFIG.format(command=command, origin=origin))
    port = free_port()
    environment = {"HERMES_HOME": str(home), "API_SERVER_PORT": str(port)}
    return Launch("gateway", [str(hermes()), "serve"], port, environment)


def _measure(case: Case, port: int, effort: Effort, announce: Announce) -> Outcome:
    announce(case.title)
    outcome = Outcome(case.name, case.title, ("cold", "warm"))
    asyncio.run(_first_word(port, "cold/haiku"))  # the version is asked for once
    for _ in range(effort.pairs):
        cold = [asyncio.run(_first_word(port, "cold/haiku"))]
        time.sleep(_FILLING_SECONDS)
        warm = [asyncio.run(_first_word(port, "warm/haiku"))]
        outcome.pairs.append(Pair(_numbers(cold), _numbers(warm)))
    return outcome


def _numbers(seconds: list[float]) -> Numbers:
    return {"first_token_p50_ms": statistics.median(seconds) * 1e3}


async def _first_word(port: int, model: str) -> float:
    line = await connect(port)
    said = [{"role": "user", "content": "Say your words."}]
    body = {"model": model, "stream": True, "messages": said}
    exchange = await line.exchange(post("/v1/chat/completions", body, {}))
    line.give_up("it has answered")
    if exchange.problem is not None or exchange.first_token is None:
        said_instead = exchange.raw[-300:].decode(errors="replace")
        raise ChildFailed(f"{model} did not answer: {exchange.problem or said_instead}")
    return exchange.seconds_to_first_token
