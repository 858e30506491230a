"""What a chain of stored responses takes on the disk: a turn must not cost more than the first.

Each turn continues the one before by `previous_response_id`. Counted are the pages in use, in the
databases of the responses and of the runs that made them.
"""

from __future__ import annotations

import asyncio
import sqlite3
import tempfile
from collections.abc import Sequence
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import orjson

from bench.client import Connection, connect, post, take_apart
from bench.outcomes import Announce, Effort, Numbers, Outcome, Pair
from bench.processes import ChildFailed, running
from bench.servers import gateway, upstream
from hermes.settings.paths import response_db, run_db

_MODEL = "tokens-100"
_TURNS = 50
_STRETCH = 10
"""Turns that are compared: the first so many with the last."""
_MESSAGE = "Say your words, please, and think of all that was said before. " * 4


@dataclass(frozen=True, slots=True)
class Case:
    name: str = f"chain-{_TURNS}"
    title: str = f"disk space in a chain of {_TURNS} responses"


CASES = (Case(),)


def play(cases: Sequence[Case], effort: Effort, announce: Announce) -> list[Outcome]:
    with (
        tempfile.TemporaryDirectory(prefix="hermes-bench-") as home,
        running(upstream()) as model,
        running(gateway(model.base_url, _MODEL, Path(home))) as server,
    ):
        return [_measure(case, server.port, Path(home), effort, announce) for case in cases]


def _measure(case: Case, port: int, home: Path, effort: Effort, announce: Announce) -> Outcome:
    announce(case.title)
    sides = (f"turns 1-{_STRETCH}", f"turns {_TURNS - _STRETCH + 1}-{_TURNS}")
    outcome = Outcome(case.name, case.title, sides)
    asyncio.run(_chain(port, home))  # the first rows of a table take a page each
    for _ in range(effort.slow_pairs):
        outcome.pairs.append(asyncio.run(_chain(port, home)))
    return outcome


async def _chain(port: int, home: Path) -> Pair:
    line = await connect(port)
    sizes = [_sizes(home)]
    previous: dict[str, Any] = {}
    for turn in range(1, _TURNS + 1):
        previous = {"previous_response_id": await _respond(line, previous)}
        if turn % _STRETCH == 0:
            sizes.append(_sizes(home))
    line.give_up("the chain is whole")
    return Pair(_per_turn(sizes[0], sizes[1]), _per_turn(sizes[-2], sizes[-1]))


async def _respond(line: Connection, previous: dict[str, Any]) -> str:
    body = {"model": _MODEL, "input": _MESSAGE, **previous}
    exchange = await line.exchange(post("/v1/responses", body, {}))
    status, answer = take_apart(exchange.raw) if exchange.problem is None else (0, b"")
    if status != 200:
        said = exchange.problem or answer[:200].decode(errors="replace")
        raise ChildFailed(f"no response in the chain: {status} {said}")
    return str(orjson.loads(answer)["id"])


def _sizes(home: Path) -> Numbers:
    return {
        "responses_bytes": used_bytes(response_db(home)),
        "runs_bytes": used_bytes(run_db(home)),
    }


def used_bytes(path: Path) -> int:
    with closing(sqlite3.connect(path, timeout=10)) as connection:
        connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchall()
        pages, free, size = (
            int(connection.execute(f"PRAGMA {name}").fetchone()[0])
            for name in ("page_count", "freelist_count", "page_size")
        )
    return (pages - free) * size


def _per_turn(before: Numbers, after: Numbers) -> Numbers:
    grown = {name: (after[name] - before[name]) / _STRETCH for name in before}
    return {"bytes_per_turn": sum(grown.values()), **grown}
