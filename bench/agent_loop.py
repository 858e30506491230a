"""What the agent's loop adds to the model calls and tool calls it makes, and to what is asked.

An agent in this process works through a turn: so many replies of the upstream, each with so many
calls of `read_file`. The reference makes the very same requests with the same client, and calls the
same function with the same arguments.
"""

from __future__ import annotations

import tempfile
import threading
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from time import perf_counter, process_time
from typing import Any

import orjson

from bench.outcomes import Announce, Effort, Numbers, Outcome, Pair
from bench.processes import running
from bench.servers import upstream
from bench.tool_calls import ANSWER, PATH, model_name
from hermes.core.tokens import estimate_tokens
from hermes.providers.clients import HttpClients, LoopThread
from hermes.tools.base import ToolContext
from hermes.tools.builtin.read_file import read_file
from hermes.tools.workspace import Workspace
from run_agent import AIAgent

_TURNS_IN_A_ROUND = 10


@dataclass(frozen=True, slots=True)
class Case:
    """A turn of so many replies with tool calls, before the one that answers."""

    replies: int
    calls: int

    @property
    def name(self) -> str:
        return f"loop-{self.replies}x{self.calls}"

    @property
    def title(self) -> str:
        return f"agent loop, {self.replies} replies with {self.calls} tool calls each"


@dataclass(frozen=True, slots=True)
class PromptCase:
    """What every request says beside the user's words."""

    name: str = "prompt"
    title: str = "fixed tokens of a request"


CASES = (Case(20, 1), Case(2, 50))
PROMPT = PromptCase()


class _Recorded(AIAgent):
    """Notes what it asks the provider."""

    def __init__(self, **keywords: Any) -> None:
        super().__init__(**keywords)
        self.asked: list[dict[str, Any]] = []

    def _interruptible_api_call(self, api_kwargs: Mapping[str, Any]) -> Any:
        self.asked.append({**api_kwargs, "messages": list(api_kwargs["messages"])})
        return super()._interruptible_api_call(api_kwargs)


def play(cases: Sequence[Case], effort: Effort, announce: Announce) -> list[Outcome]:
    thread = LoopThread()
    clients = HttpClients(thread.loop)
    try:
        with (
            tempfile.TemporaryDirectory(prefix="hermes-bench-") as folder,
            running(upstream()) as model,
        ):
            (Path(folder) / PATH).write_text("one line\n")
            outcomes = []
            for case in cases:
                announce(case.title)
                seat = _Seat(case, folder, model.base_url, clients)
                outcomes.append(_measure(case, seat, effort))
            return outcomes
    finally:
        thread.run(clients.close())
        thread.close()


def play_prompt(announce: Announce) -> Outcome:
    """How many tokens the agent's prompt and tools are, by the gateway's own estimate."""
    announce(PROMPT.title)
    outcome = Outcome(PROMPT.name, PROMPT.title, ("no tools", "all tools"))
    with tempfile.TemporaryDirectory(prefix="hermes-bench-") as folder:
        sides = [_fixed_tokens(Path(folder), toolsets) for toolsets in ((), None)]
    outcome.pairs.append(Pair(*({"fixed_tokens": float(tokens)} for tokens in sides)))
    return outcome


class _Seat:
    """Both ways through one turn."""

    def __init__(self, case: Case, folder: str, base_url: str, clients: HttpClients) -> None:
        self._case = case
        self._options: dict[str, Any] = {
            "model": model_name(case.replies, case.calls),
            "base_url": base_url,
            "api_key": "bench",
            "workspace": Path(folder),
            "clients": lambda: clients,
        }
        self._context = ToolContext(
            workspace=Workspace(Path(folder)), stop=threading.Event(), report=lambda _line: None
        )
        recorded = _Recorded(**self._options)
        recorded.run_conversation("Read it.")
        self._requests = recorded.asked
        self._client = recorded._create_request_openai_client()  # noqa: SLF001

    def agent(self) -> str | None:
        """What is wrong with the answer; None when nothing is."""
        result = AIAgent(**self._options).run_conversation("Read it.")
        answered = sum(message["role"] == "tool" for message in result["messages"])
        if (result["final_response"], answered) != (ANSWER, self._case.replies * self._case.calls):
            return f"{answered} calls, then {result['final_response']!r}: {result['error']}"
        return None

    def direct(self) -> str | None:
        said = None
        for request in self._requests:
            answer = self._client.chat.completions.create(**request)
            message = answer["choices"][0]["message"]
            said = message["content"]
            for call in message.get("tool_calls") or ():
                read_file.function(self._context, **orjson.loads(call["function"]["arguments"]))
        return None if said == ANSWER else "the direct calls went wrong"


def _measure(case: Case, seat: _Seat, effort: Effort) -> Outcome:
    outcome = Outcome(case.name, case.title, ("direct", "agent"))
    for number in range(effort.pairs):
        ways = [seat.direct, seat.agent]
        took: dict[Callable[[], str | None], Numbers] = {}
        for way in reversed(ways) if number % 2 else ways:
            took[way] = _round(way, case, outcome)
        outcome.pairs.append(Pair(*(took[way] for way in ways)))
    return outcome


def _round(way: Callable[[], str | None], case: Case, outcome: Outcome) -> Numbers:
    began, cpu = perf_counter(), process_time()
    for _ in range(_TURNS_IN_A_ROUND):
        problem = way()
        if problem:
            outcome.problems.append(problem)
    wall, cpu = perf_counter() - began, process_time() - cpu
    steps = _TURNS_IN_A_ROUND * (case.replies if case.calls == 1 else case.replies * case.calls)
    unit = "iteration" if case.calls == 1 else "tool_call"
    return {f"cpu_us_per_{unit}": cpu / steps * 1e6, f"us_per_{unit}": wall / steps * 1e6}


def _fixed_tokens(folder: Path, toolsets: tuple[str, ...] | None) -> int:
    agent = AIAgent(
        model="m", base_url="http://127.0.0.1:9/v1", workspace=folder, enabled_toolsets=toolsets
    )
    seams = agent._fill_turn_seams(None)  # noqa: SLF001
    return estimate_tokens([], prompt=seams.system_prompt(), tools=seams.registry.schemas())
