"""What this gateway has done since it started, counted by name."""

from __future__ import annotations

from hermes.core.turn import Usage
from hermes.metrics.series import Counter, Family, Histogram

_SECONDS = (0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 120, 300, 600)


class Tally:
    """A `Meter` that remembers. One per process; nothing of it is stored."""

    def __init__(self) -> None:
        self._calls = Counter(
            "hermes_model_calls_total",
            "Requests to providers, by how they went: ok, interrupted, or the kind of failure.",
            "provider",
            "model",
            "outcome",
        )
        self._call_seconds = Histogram(
            "hermes_model_call_seconds",
            "How long requests to providers took, to the last byte.",
            _SECONDS,
            "provider",
            "model",
        )
        self._remedies = Counter(
            "hermes_model_remedies_total",
            "What was done about failed requests: retry, rotate, compress, fall back.",
            "provider",
            "model",
            "remedy",
            "failure",
        )
        self._tokens = Counter(
            "hermes_tokens_total",
            "Tokens as the providers counted them; cached is part of input, reasoning of output.",
            "provider",
            "model",
            "kind",
        )
        self._tools = Counter(
            "hermes_tool_calls_total",
            "Tools that ran: ok, problem (the model was told what is wrong), or crash.",
            "tool",
            "outcome",
        )
        self._tool_seconds = Histogram(
            "hermes_tool_call_seconds", "How long tools ran.", _SECONDS, "tool"
        )
        self._turns = Counter(
            "hermes_turns_total", "Turns of agents and sub-agents, by how they ended.", "outcome"
        )
        self._runs = Counter("hermes_runs_total", "Runs that are kept, by their end.", "status")
        self._requests = Counter(
            "hermes_http_requests_total",
            "HTTP requests that were answered.",
            "method",
            "route",
            "status",
        )

    def families(self) -> list[Family]:
        return [
            self._calls,
            self._call_seconds,
            self._remedies,
            self._tokens,
            self._tools,
            self._tool_seconds,
            self._turns,
            self._runs,
            self._requests,
        ]

    def model_called(self, provider: str, model: str, outcome: str, seconds: float) -> None:
        self._calls.add((provider, model, outcome))
        self._call_seconds.observe((provider, model), seconds)

    def tokens_used(self, provider: str, model: str, usage: Usage) -> None:
        add = self._tokens.add
        add((provider, model, "input"), usage.input_tokens)
        add((provider, model, "output"), usage.output_tokens)
        if usage.cached_tokens:
            add((provider, model, "cached"), usage.cached_tokens)
        if usage.reasoning_tokens:
            add((provider, model, "reasoning"), usage.reasoning_tokens)

    def remedy_tried(self, provider: str, model: str, remedy: str, failure: str) -> None:
        self._remedies.add((provider, model, remedy, failure))

    def tool_called(self, name: str, outcome: str, seconds: float) -> None:
        self._tools.add((name, outcome))
        self._tool_seconds.observe((name,), seconds)

    def turn_ended(self, outcome: str) -> None:
        self._turns.add((outcome,))

    def run_ended(self, status: str) -> None:
        self._runs.add((status,))

    def request_answered(self, method: str, route: str, status: int) -> None:
        self._requests.add((method, route, str(status)))
