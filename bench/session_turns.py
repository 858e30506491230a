"""How long a turn takes in sessions of any length, against the tenth turn of one.

The long sessions are put into the store before the server starts, as they would be by then: older
messages summarised, at the default settings.
"""

from __future__ import annotations

import asyncio
import tempfile
from collections.abc import Sequence
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path

import orjson

from bench.answers import Script
from bench.client import Connection, connect, post, take_apart
from bench.load import percentile
from bench.outcomes import Announce, Effort, Outcome, Pair
from bench.processes import running
from bench.servers import gateway, upstream
from hermes.core.sessions import GivenMessage, HistorySummary, MessageQuery, SessionHead
from hermes.settings.model import SessionSettings
from hermes.settings.paths import state_db
from hermes.store.sessions import SessionDB
from hermes.wire.session_compaction import KEEP_LAST

_MODEL = "tokens-20"
_SCRIPT = Script.of_model(_MODEL)
_REFERENCE = 10
_TURNS_IN_A_ROUND = 4


@dataclass(frozen=True, slots=True)
class Case:
    """The turn of this number, and the few that follow."""

    turn: int

    @property
    def name(self) -> str:
        return f"turn-{self.turn}"

    @property
    def title(self) -> str:
        return f"session turn {self.turn:,}"


CASES = (Case(100), Case(1_000), Case(5_000))


def play(cases: Sequence[Case], effort: Effort, announce: Announce) -> list[Outcome]:
    with tempfile.TemporaryDirectory(prefix="hermes-bench-") as home, running(upstream()) as model:
        _prepare(Path(home), cases)
        with running(gateway(model.base_url, _MODEL, Path(home))) as server:
            outcomes = []
            for case in cases:
                announce(case.title)
                outcomes.append(asyncio.run(_measure(case, server.port, effort)))
            return outcomes


def _prepare(home: Path, cases: Sequence[Case]) -> None:
    with closing(SessionDB(state_db(home))) as store:
        for case in cases:
            _put_session(store, _session(case, _REFERENCE), _REFERENCE)
            _put_session(store, _session(case, case.turn), case.turn)


def _session(case: Case, turn: int) -> str:
    """Every case has a tenth turn of its own, since every turn that is played makes it longer."""
    return f"bench-{case.turn}-at-{turn}"


def _put_session(store: SessionDB, session_id: str, turn: int) -> None:
    said = [
        GivenMessage(role=role, content=f"{_SCRIPT.text} ({number})", timestamp=float(number))
        for number in range(turn - 1)
        for role in ("user", "assistant")
    ]
    store.import_session(session_id, SessionHead(source="bench", started_at=0.0), said)
    told = told_messages(turn - 1)
    if told < len(said):
        query = MessageQuery(limit=told + 1, newest_first=True)
        newest = store.page_messages(session_id, query).messages
        store.add_summary(session_id, HistorySummary(int(newest[-1]["id"]), _SCRIPT.text))


def told_messages(turns: int) -> int:
    """How many messages are not summarised after so many turns."""
    told = 0
    for _ in range(turns):
        told += 2
        if told > SessionSettings().compact_after_messages:
            told = KEEP_LAST
    return told


async def _measure(case: Case, port: int, effort: Effort) -> Outcome:
    titles = (f"turn {_REFERENCE}", f"turn {case.turn:,}")
    outcome = Outcome(case.name, case.title, titles)
    line = await connect(port)
    for turn in (_REFERENCE, case.turn):
        await _turn(line, _session(case, turn), outcome)  # neither side pays for what is cold
    for number in range(effort.pairs):
        took: dict[int, list[float]] = {_REFERENCE: [], case.turn: []}
        for turn in sorted(took, reverse=number % 2 == 1) * _TURNS_IN_A_ROUND:
            took[turn].append(await _turn(line, _session(case, turn), outcome))
        sides = [{"latency_p50_ms": percentile(sorted(took[turn]), 0.5) * 1e3} for turn in took]
        outcome.pairs.append(Pair(*sides))
    line.give_up("the round is over")
    return outcome


async def _turn(line: Connection, session_id: str, outcome: Outcome) -> float:
    request = post(f"/api/sessions/{session_id}/chat", {"message": "Say your words, please."}, {})
    exchange = await line.exchange(request)
    problem = exchange.problem or _difference(exchange.raw)
    if problem:
        outcome.problems.append(f"{session_id}: {problem}")
    return exchange.seconds


def _difference(raw: bytes) -> str | None:
    status, body = take_apart(raw)
    if status != 200 or orjson.loads(body)["message"]["content"] != _SCRIPT.text:
        return f"status {status}: {body[:200].decode(errors='replace')}"
    return None
