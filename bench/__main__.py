"""`python -m bench`: measure the gateway against a bare relay of the same stream, side by side."""

from __future__ import annotations

import argparse
import signal
import sys
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Protocol, TypeVar

from bench import (
    agent_loop,
    durable_log,
    response_chain,
    scenarios,
    session_turns,
    startup,
    warm_start,
)
from bench.outcomes import FULL, QUICK, Effort, Outcome
from bench.processes import ChildFailed
from bench.report import Results, as_text, write_json

_RESULTS = Path(__file__).resolve().parent / "results"
_STARTUP = "startup"


class _Case(Protocol):
    @property
    def name(self) -> str: ...


Case = TypeVar("Case", bound=_Case)

_MEASURED: tuple[_Case, ...] = (
    *scenarios.SCENARIOS,
    *durable_log.CASES,
    *session_turns.CASES,
    *response_chain.CASES,
    *agent_loop.CASES,
    agent_loop.PROMPT,
    *warm_start.CASES,
)
_NAMES = ", ".join([*(case.name for case in _MEASURED), _STARTUP])


def main(arguments: Sequence[str] | None = None) -> int:
    """0 when every answer was right, however slow; 1 when one was not; 130 when stopped."""
    options = _parser().parse_args(arguments)
    if not sys.platform.startswith("linux"):
        print("bench: reads /proc, so it needs Linux", file=sys.stderr)
        return 1
    signal.signal(signal.SIGTERM, _stop)
    try:
        results = _run(options)
    except ChildFailed as problem:
        print(f"bench: {problem}", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        print("bench: stopped", file=sys.stderr)
        return 130
    path = options.json or _RESULTS / f"{results.started_at.replace(':', '')}.json"
    write_json(results, path)
    print(f"\n{as_text(results)}\n\n{path}")
    return 1 if results.problems else 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m bench", description=__doc__)
    parser.add_argument("--quick", action="store_true", help="about half a minute; rough figures")
    parser.add_argument("--only", metavar="NAME", help=f"one of {_NAMES}, or a beginning of it")
    parser.add_argument("--json", metavar="PATH", type=Path, help="where to write the results")
    parser.add_argument(
        "--calibrate",
        action="store_true",
        help="play every reference against itself: the ratios show the noise of this machine",
    )
    return parser


def _stop(number: int, frame: object) -> None:
    """Treat SIGTERM like Ctrl-C, so that every child is ended on the way out."""
    raise KeyboardInterrupt


def _run(options: argparse.Namespace) -> Results:
    effort = QUICK if options.quick else FULL
    started_at = datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
    only = options.only or ""
    if options.calibrate:
        return Results(started_at, _calibrate(only, effort), None)
    wants_startup = _STARTUP.startswith(only)
    outcomes = _measure(only, effort)
    if not outcomes and not wants_startup:
        raise ChildFailed(f"nothing is called {only!r}; there are {_NAMES}")
    if not wants_startup:
        return Results(started_at, outcomes, None)
    _announce("cold start")
    return Results(started_at, outcomes, startup.measure(effort.starts))


def _calibrate(only: str, effort: Effort) -> list[Outcome]:
    chosen = _chosen(scenarios.SCENARIOS, only)
    return scenarios.play([*map(scenarios.calibrating, chosen)], effort, _announce)


def _measure(only: str, effort: Effort) -> list[Outcome]:
    outcomes: list[Outcome] = []
    if chat := _chosen(scenarios.SCENARIOS, only):
        outcomes += scenarios.play(chat, effort, _announce)
    if logs := _chosen(durable_log.CASES, only):
        outcomes += durable_log.play(logs, effort, _announce)
    if turns := _chosen(session_turns.CASES, only):
        outcomes += session_turns.play(turns, effort, _announce)
    if chains := _chosen(response_chain.CASES, only):
        outcomes += response_chain.play(chains, effort, _announce)
    if loops := _chosen(agent_loop.CASES, only):
        outcomes += agent_loop.play(loops, effort, _announce)
    if warm := _chosen(warm_start.CASES, only):
        outcomes += warm_start.play(warm, effort, _announce)
    if _chosen([agent_loop.PROMPT], only):
        outcomes.append(agent_loop.play_prompt(_announce))
    return outcomes


def _chosen(cases: Sequence[Case], only: str) -> list[Case]:
    return [case for case in cases if case.name.startswith(only)]


def _announce(title: str) -> None:
    print(f"... {title}", file=sys.stderr, flush=True)


if __name__ == "__main__":
    sys.exit(main())
