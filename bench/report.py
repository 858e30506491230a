"""The results as a table to read and as JSON to keep."""

from __future__ import annotations

import json
import os
import platform
import statistics
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from bench.scenarios import ON_TIME_FACTOR, ON_TIME_GRACE_SECONDS, Outcome, Pair
from bench.startup import Startup

METRICS = {
    "requests_per_second": ("requests/s", ",.0f"),
    "tokens_per_second": ("tokens/s", ",.0f"),
    "latency_p50_ms": ("latency p50, ms", ",.2f"),
    "latency_p99_ms": ("latency p99, ms", ",.2f"),
    "first_token_p50_ms": ("first token p50, ms", ",.2f"),
    "first_token_p99_ms": ("first token p99, ms", ",.2f"),
    "cpu_us_per_request": ("CPU per request, µs", ",.0f"),
    "cpu_us_per_token": ("CPU per token, µs", ",.2f"),
    "events_per_stream": ("text events per stream", ",.0f"),
    "on_time": ("streams on time", ",.0f"),
    "slowest_seconds": ("slowest stream, s", ",.2f"),
    "memory_kib_per_stream": ("memory per stream, KiB", ",.1f"),
    "threads": ("threads at the peak", ",.0f"),
}


@dataclass(frozen=True, slots=True)
class Target:
    """What the gateway promises for one metric: a ratio to the relay, or a count of its own."""

    scenario: str
    metric: str
    at_most_ratio: float | None = None
    at_least: float | None = None


TARGETS = (
    Target("plain-1", "cpu_us_per_request", at_most_ratio=3.0),
    Target("plain-32", "cpu_us_per_request", at_most_ratio=3.0),
    Target("stream-1", "cpu_us_per_token", at_most_ratio=2.0),
    Target("stream-32", "cpu_us_per_token", at_most_ratio=2.0),
    Target("slow-300", "on_time", at_least=300),
)


@dataclass(frozen=True, slots=True)
class Row:
    """One metric of one scenario: medians over the rounds, and the ratios of the pairs."""

    metric: str
    relay: float
    gateway: float
    ratios: list[float]

    @property
    def ratio(self) -> float | None:
        return statistics.median(self.ratios) if self.ratios else None


@dataclass(frozen=True, slots=True)
class Checked:
    """A target and whether it was met; `found` says what was measured."""

    target: Target
    is_met: bool
    found: str


@dataclass(frozen=True, slots=True)
class Results:
    """Everything one run of the bench found out."""

    started_at: str
    rival: str
    outcomes: list[Outcome]
    startup: Startup | None

    @property
    def problems(self) -> list[str]:
        return [
            f"{outcome.scenario.name}: {problem}"
            for outcome in self.outcomes
            for problem in outcome.problems
        ]


def rows_of(pairs: Sequence[Pair]) -> list[Row]:
    return [
        Row(
            metric=metric,
            relay=statistics.median(pair.relay[metric] for pair in pairs),
            gateway=statistics.median(pair.gateway[metric] for pair in pairs),
            ratios=[p.gateway[metric] / p.relay[metric] for p in pairs if p.relay[metric] > 0],
        )
        for metric in pairs[0].relay
    ]


def check_targets(outcomes: Sequence[Outcome]) -> list[Checked]:
    played = {outcome.scenario.name: outcome for outcome in outcomes}
    return [
        _check(target, played[target.scenario]) for target in TARGETS if target.scenario in played
    ]


def _check(target: Target, outcome: Outcome) -> Checked:
    if target.at_least is not None:
        # The worst round counts: one starved stream is one too many.
        worst = min(pair.gateway[target.metric] for pair in outcome.pairs)
        return Checked(target, worst >= target.at_least, f"{worst:.0f} in the worst round")
    ratio = next(row.ratio for row in rows_of(outcome.pairs) if row.metric == target.metric)
    is_met = ratio is not None and ratio <= (target.at_most_ratio or 0)
    return Checked(target, is_met, "no ratio" if ratio is None else f"{ratio:.2f}x")


def as_text(results: Results) -> str:
    blocks = [_scenario_block(outcome, results.rival) for outcome in results.outcomes]
    if results.startup is not None:
        blocks.append(_startup_block(results.startup))
    blocks.append(_targets_block(results))
    if results.problems:
        blocks.append("\n".join(["WRONG ANSWERS", *(f"  {line}" for line in results.problems)]))
    return "\n\n".join(blocks)


def _scenario_block(outcome: Outcome, rival: str) -> str:
    head = ("", "relay", rival, "ratio", "spread")
    lines = [head, *(_cells(row) for row in rows_of(outcome.pairs))]
    return "\n".join([outcome.scenario.title, *_align(lines)])


def _cells(row: Row) -> tuple[str, ...]:
    label, form = METRICS[row.metric]
    ratio = "-" if row.ratio is None else f"{row.ratio:.2f}x"
    spread = f"{min(row.ratios):.2f} to {max(row.ratios):.2f}" if row.ratios else "-"
    return label, format(row.relay, form), format(row.gateway, form), ratio, spread


def _align(lines: Sequence[Sequence[str]]) -> list[str]:
    widths = [max(len(line[column]) for line in lines) for column in range(len(lines[0]))]
    return [
        "  "
        + line[0].ljust(widths[0])
        + "".join(
            f"  {cell.rjust(width)}" for cell, width in zip(line[1:], widths[1:], strict=True)
        )
        for line in lines
    ]


def _startup_block(startup: Startup) -> str:
    wall = statistics.median(start.wall_seconds for start in startup.cold_starts)
    cpu = statistics.median(start.cpu_seconds for start in startup.cold_starts)
    return "\n".join(
        [
            "cold start of the gateway",
            f"  command to first answer  {wall * 1e3:,.0f} ms, of which CPU {cpu * 1e3:,.0f} ms",
            f"  importing the commands   {startup.import_ms:,.0f} ms",
        ]
    )


def _targets_block(results: Results) -> str:
    lines = [_target_cells(checked) for checked in check_targets(results.outcomes)]
    note = f"  on time: within {ON_TIME_FACTOR} x the shortest possible + {ON_TIME_GRACE_SECONDS} s"
    return "\n".join(["targets", *(_align(lines) if lines else []), note])


def _target_cells(checked: Checked) -> tuple[str, ...]:
    target = checked.target
    label, _ = METRICS[target.metric]
    wish = f"<= {target.at_most_ratio:g}x" if target.at_most_ratio else f">= {target.at_least:g}"
    verdict = "met" if checked.is_met else "NOT MET"
    return f"{target.scenario}: {label}", wish, checked.found, verdict


def as_json(results: Results) -> dict[str, Any]:
    return {
        "started_at": results.started_at,
        "machine": _machine(),
        "rival": results.rival,
        "scenarios": [_scenario_json(outcome) for outcome in results.outcomes],
        "startup": None if results.startup is None else asdict(results.startup),
        "targets": [asdict(checked) for checked in check_targets(results.outcomes)],
        "problems": results.problems,
    }


def _scenario_json(outcome: Outcome) -> dict[str, Any]:
    rows = [asdict(row) | {"ratio": row.ratio} for row in rows_of(outcome.pairs)]
    pairs = [asdict(pair) for pair in outcome.pairs]
    return asdict(outcome.scenario) | {"metrics": rows, "rounds": pairs}


def _machine() -> dict[str, Any]:
    return {
        "cores": os.cpu_count(),
        "processor": platform.machine(),
        "system": f"{platform.system()} {platform.release()}",
        "python": f"{platform.python_implementation()} {platform.python_version()}",
        "load_average": os.getloadavg(),
    }


def write_json(results: Results, path: Path) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(as_json(results), indent=2) + "\n")
