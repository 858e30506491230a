"""Chat completions under load: the scenarios, and how a round of one is turned into numbers.

Rounds alternate between two servers and change who begins, so that a slow moment of the machine
hits both; a ratio is always that of two neighbouring rounds.
"""

from __future__ import annotations

import json
import select
import subprocess
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import asdict, dataclass, field, replace

from bench.answers import Script
from bench.load import Order, Seen
from bench.outcomes import Announce, Effort, Numbers, Outcome, Pair
from bench.processes import ChildFailed, Server, load_generator, running
from bench.servers import seated, upstream

ON_TIME_FACTOR = 1.25
ON_TIME_GRACE_SECONDS = 1.0
_WARM_UP_SECONDS = 0.4
_WARM_UP_CLIENTS = 8
_SAMPLE_SECONDS = 0.05


@dataclass(frozen=True, slots=True)
class Seat:
    """One side of a match: what it is called, which server takes it, how it is asked."""

    label: str
    server: str
    headers: Mapping[str, str] = field(default_factory=dict)


_AGAINST_RELAY = (Seat("relay", "relay"), Seat("gateway", "gateway"))
# The gateway against itself. A run that may outlive its client is a durable one.
_AGAINST_MEMORY = (
    Seat("from memory", "gateway"),
    Seat("durable", "gateway", {"X-Hermes-Disconnect": "detach"}),
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Scenario:
    """One situation; a slow one asks once per client, in fresh servers, and watches memory."""

    name: str
    title: str
    model: str
    stream: bool
    clients: int
    seats: tuple[Seat, Seat] = _AGAINST_RELAY
    is_slow: bool = False

    @property
    def on_time_seconds(self) -> float:
        """A slow stream is on time within a quarter more than it must take, and one second."""
        return ON_TIME_FACTOR * Script.of_model(self.model).shortest_seconds + ON_TIME_GRACE_SECONDS


def _plain(clients: int) -> Scenario:
    title = f"plain completion, {_clients(clients)}"
    name = f"plain-{clients}"
    return Scenario(name=name, title=title, model="tokens-100", stream=False, clients=clients)


def _stream(clients: int) -> Scenario:
    title = f"stream of 100 tokens, {_clients(clients)}"
    name = f"stream-{clients}"
    return Scenario(name=name, title=title, model="tokens-100", stream=True, clients=clients)


def _durable(clients: int) -> Scenario:
    title = f"the same stream as a durable run, {_clients(clients)}"
    return replace(_stream(clients), name=f"durable-{clients}", title=title, seats=_AGAINST_MEMORY)


def _clients(clients: int) -> str:
    return "1 client" if clients == 1 else f"{clients} clients"


SCENARIOS = (
    _plain(1),
    _plain(32),
    _stream(1),
    _stream(32),
    Scenario(
        name="slow-300",
        title="300 slow streams at once (50 tokens, 30 ms apart)",
        model="tokens-50-30ms",
        stream=True,
        clients=300,
        is_slow=True,
    ),
    _durable(1),
    _durable(32),
)


def calibrating(scenario: Scenario) -> Scenario:
    """The reference against itself, which shows the noise of the machine."""
    reference, _ = scenario.seats
    return replace(scenario, seats=(reference, reference))


def play(scenarios: Sequence[Scenario], effort: Effort, announce: Announce) -> list[Outcome]:
    with ExitStack() as stack:
        provider = stack.enter_context(running(upstream()))
        load = Load(stack.enter_context(load_generator()))
        outcomes = []
        for scenario in scenarios:
            announce(scenario.title)
            outcomes.append(Match(scenario, provider.base_url, load).play(effort))
        return outcomes


class Load:
    """The load generator's end of the pipe, and a watch on the server while it works."""

    def __init__(self, process: subprocess.Popen[bytes]) -> None:
        assert process.stdin is not None and process.stdout is not None
        self._orders = process.stdin
        self._answers = process.stdout

    def play(self, order: Order, server: Server) -> tuple[Seen, Numbers]:
        """One round, with what it cost the server: CPU, and the peaks of memory and threads."""
        before = server.usage()
        self._orders.write(json.dumps(asdict(order)).encode() + b"\n")
        memory, threads = before.memory_bytes, before.threads
        while not select.select([self._answers], [], [], _SAMPLE_SECONDS)[0]:
            now = server.usage()
            memory, threads = max(memory, now.memory_bytes), max(threads, now.threads)
        line = self._answers.readline()
        if not line:
            raise ChildFailed("the load generator ended in the middle of a round")
        cost = {
            "cpu_seconds": server.usage().cpu_seconds - before.cpu_seconds,
            "memory_bytes": memory - before.memory_bytes,
            "threads": threads,
        }
        return Seen(**json.loads(line)), cost


class Match:
    """One scenario between the two servers of its seats."""

    def __init__(self, scenario: Scenario, upstream_url: str, load: Load) -> None:
        self._scenario = scenario
        self._upstream_url = upstream_url
        self._load = load

    def play(self, effort: Effort) -> Outcome:
        scenario = self._scenario
        reference, measured = scenario.seats
        outcome = Outcome(scenario.name, scenario.title, (reference.label, measured.label))
        if scenario.is_slow:
            for number in range(effort.slow_pairs):
                with self._servers() as servers:
                    self._play_pair(number, servers, 0.0, outcome)
        else:
            with self._servers() as servers:
                for number in range(effort.pairs):
                    self._play_pair(number, servers, effort.seconds, outcome)
        return outcome

    @contextmanager
    def _servers(self) -> Iterator[list[Server]]:
        """One for each seat, in their order."""
        with ExitStack() as stack:
            servers = []
            for seat in self._scenario.seats:
                started = seated(seat.server, self._upstream_url, self._scenario.model)
                server = stack.enter_context(started)
                clients = min(_WARM_UP_CLIENTS, self._scenario.clients)
                self._load.play(self._order(seat, server, clients), server)
                servers.append(server)
            yield servers

    def _play_pair(
        self, number: int, servers: Sequence[Server], seconds: float, outcome: Outcome
    ) -> None:
        numbers: list[Numbers] = [{}, {}]
        for side in (0, 1) if number % 2 == 0 else (1, 0):
            seat, server = self._scenario.seats[side], servers[side]
            order = self._order(seat, server, self._scenario.clients, seconds)
            seen, cost = self._load.play(order, server)
            numbers[side] = _numbers(self._scenario, seen, cost)
            outcome.problems.extend(_problems(seat.label, seen))
        outcome.pairs.append(Pair(*numbers))

    def _order(
        self, seat: Seat, server: Server, clients: int, seconds: float = _WARM_UP_SECONDS
    ) -> Order:
        return Order(
            port=server.port,
            model=self._scenario.model,
            stream=self._scenario.stream,
            clients=clients,
            seconds=seconds,
            headers=dict(seat.headers),
            on_time_seconds=self._scenario.on_time_seconds if self._scenario.is_slow else None,
        )


def _problems(seat: str, seen: Seen) -> list[str]:
    if not seen.failed:
        return []
    asked = seen.failed + seen.answers
    return [f"{seat}: {seen.failed} of {asked} answers were wrong: {'; '.join(seen.problems)}"]


def _numbers(scenario: Scenario, seen: Seen, cost: Numbers) -> Numbers:
    asked = seen.answers + seen.failed
    if not scenario.stream:
        return {
            "requests_per_second": asked / seen.seconds,
            "latency_p50_ms": seen.latency_p50 * 1e3,
            "latency_p99_ms": seen.latency_p99 * 1e3,
            "cpu_us_per_request": cost["cpu_seconds"] * 1e6 / asked,
        }
    tokens = asked * Script.of_model(scenario.model).tokens
    streamed = {
        "tokens_per_second": tokens / seen.seconds,
        "first_token_p50_ms": seen.first_token_p50 * 1e3,
        "first_token_p99_ms": seen.first_token_p99 * 1e3,
        "cpu_us_per_token": cost["cpu_seconds"] * 1e6 / tokens,
        "events_per_stream": seen.deltas / asked,
    }
    return streamed | (_slow_numbers(scenario, seen, cost) if scenario.is_slow else {})


def _slow_numbers(scenario: Scenario, seen: Seen, cost: Numbers) -> Numbers:
    return {
        "on_time": seen.on_time,
        "slowest_seconds": seen.slowest,
        "memory_kib_per_stream": cost["memory_bytes"] / 1024 / scenario.clients,
        "threads": cost["threads"],
    }
