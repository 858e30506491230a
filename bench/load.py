"""The load generator, a process of its own: reads orders, one JSON line each, and says what it saw.

Every answer is judged, after the clock stopped, so that judging never disturbs what is measured.
"""

from __future__ import annotations

import asyncio
import json
import math
import sys
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, field
from itertools import count

import uvloop

from bench.answers import Script, Verdict, judge_completion, judge_stream
from bench.client import Connection, Exchange, connect, post, take_apart

_PATH = "/v1/chat/completions"
_OPEN_AT_ONCE = 16
_PATIENCE_SECONDS = 30.0
_PROBLEMS_SHOWN = 5


@dataclass(frozen=True, slots=True, kw_only=True)
class Order:
    """One round: `clients` connections ask on and on for `seconds`, at least once each."""

    port: int
    model: str
    stream: bool
    clients: int
    seconds: float
    headers: dict[str, str] = field(default_factory=dict)
    on_time_seconds: float | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Seen:
    """What one round looked like from the client's side."""

    answers: int
    failed: int
    problems: list[str]
    seconds: float
    on_time: int
    deltas: int
    latency_p50: float
    latency_p99: float
    first_token_p50: float
    first_token_p99: float
    slowest: float


async def run_round(order: Order) -> Seen:
    connections = await _connect_all(order)
    requests = _requests(order)
    loop = asyncio.get_running_loop()
    started = loop.time()
    impatience = loop.call_later(order.seconds + _PATIENCE_SECONDS, _give_up, connections)
    clients = [_ask_repeatedly(line, order, requests, started) for line in connections]
    exchanges = [exchange for asked in await asyncio.gather(*clients) for exchange in asked]
    impatience.cancel()
    for connection in connections:
        connection.give_up("the round is over")
    return _summary(order, exchanges)


async def _connect_all(order: Order) -> list[Connection]:
    """Open the lines a few at a time: the length of a listen queue is not what is measured."""
    lines: list[Connection] = []
    while len(lines) < order.clients:
        some = min(_OPEN_AT_ONCE, order.clients - len(lines))
        lines += await asyncio.gather(*(connect(order.port) for _ in range(some)))
    return lines


def _requests(order: Order) -> Iterator[bytes]:
    """Every request opens another conversation, as different users would."""
    for number in count():
        message = {"role": "user", "content": f"Say your words, please. ({number:09d})"}
        body = {"model": order.model, "stream": order.stream, "messages": [message]}
        yield post(_PATH, body, order.headers)


def _give_up(connections: Sequence[Connection]) -> None:
    for connection in connections:
        connection.give_up(f"no complete answer after {_PATIENCE_SECONDS:.0f} s")


async def _ask_repeatedly(
    line: Connection, order: Order, requests: Iterator[bytes], started: float
) -> list[Exchange]:
    loop = asyncio.get_running_loop()
    asked = [await line.exchange(next(requests))]
    while loop.time() < started + order.seconds and asked[-1].problem is None:
        if not line.is_open:
            line = await connect(order.port)
        asked.append(await line.exchange(next(requests)))
    return asked


def _summary(order: Order, exchanges: Sequence[Exchange]) -> Seen:
    verdicts = [_judge(order, exchange) for exchange in exchanges]
    problems = [verdict.problem for verdict in verdicts if verdict.problem]
    latencies = sorted(exchange.seconds for exchange in exchanges)
    first_tokens = sorted(exchange.seconds_to_first_token for exchange in exchanges)
    limit = math.inf if order.on_time_seconds is None else order.on_time_seconds
    return Seen(
        answers=len(exchanges) - len(problems),
        failed=len(problems),
        problems=sorted(set(problems))[:_PROBLEMS_SHOWN],
        seconds=max(e.finished for e in exchanges) - min(e.started for e in exchanges),
        on_time=sum(
            exchange.seconds <= limit and verdict.problem is None
            for exchange, verdict in zip(exchanges, verdicts, strict=True)
        ),
        deltas=sum(verdict.deltas for verdict in verdicts),
        latency_p50=percentile(latencies, 0.50),
        latency_p99=percentile(latencies, 0.99),
        first_token_p50=percentile(first_tokens, 0.50),
        first_token_p99=percentile(first_tokens, 0.99),
        slowest=latencies[-1],
    )


def _judge(order: Order, exchange: Exchange) -> Verdict:
    if exchange.problem:
        return Verdict(exchange.problem)
    try:
        status, body = take_apart(exchange.raw)
    except ValueError:
        return Verdict("the answer is not HTTP/1.1")
    judge = judge_stream if order.stream else judge_completion
    return judge(status, body, Script.of_model(order.model))


def percentile(ordered: Sequence[float], share: float) -> float:
    """The smallest value that at least `share` of the (sorted) values do not exceed."""
    return ordered[max(0, math.ceil(share * len(ordered)) - 1)]


def main() -> None:
    with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
        for line in sys.stdin:
            seen = runner.run(run_round(Order(**json.loads(line))))
            sys.stdout.write(json.dumps(asdict(seen)) + "\n")
            sys.stdout.flush()


if __name__ == "__main__":
    main()
