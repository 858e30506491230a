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

from bench.outcomes import Outcome, Pair
from bench.scenarios import ON_TIME_FACTOR, ON_TIME_GRACE_SECONDS
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
    "events_per_second": ("events/s", ",.0f"),
    "visible_p50_ms": ("emitted to visible p50, ms", ",.2f"),
    "visible_p95_ms": ("emitted to visible p95, ms", ",.2f"),
    "rows_per_event": ("rows written per event", ",.3f"),
    "cpu_us_per_event": ("CPU per event, µs", ",.1f"),
    "cpu_us_per_iteration": ("CPU per iteration, µs", ",.0f"),
    "us_per_iteration": ("time per iteration, µs", ",.0f"),
    "cpu_us_per_tool_call": ("CPU per tool call, µs", ",.0f"),
    "us_per_tool_call": ("time per tool call, µs", ",.0f"),
    "fixed_tokens": ("tokens", ",.0f"),
    "bytes_per_turn": ("bytes per turn", ",.0f"),
    "responses_bytes": ("of which in responses.db", ",.0f"),
    "runs_bytes": ("of which in runs.db", ",.0f"),
}


@dataclass(frozen=True, slots=True)
class Target:
    """What is promised for one metric: a ratio to the reference, or a count of its own."""

    name: str
    metric: str
    at_most_ratio: float | None = None
    at_least: float | None = None


TARGETS = (
    Target("plain-1", "cpu_us_per_request", at_most_ratio=3.0),
    Target("plain-32", "cpu_us_per_request", at_most_ratio=3.0),
    Target("stream-1", "cpu_us_per_token", at_most_ratio=2.0),
    Target("stream-32", "cpu_us_per_token", at_most_ratio=2.0),
    Target("slow-300", "on_time", at_least=300),
    Target("durable-1", "cpu_us_per_token", at_most_ratio=3.0),
    Target("durable-32", "cpu_us_per_token", at_most_ratio=3.0),
    Target("turn-5000", "latency_p50_ms", at_most_ratio=1.5),
    Target("chain-50", "bytes_per_turn", at_most_ratio=1.2),
)


@dataclass(frozen=True, slots=True)
class Row:
    """One metric of one measurement: medians over the rounds, and the ratios of the pairs."""

    metric: str
    reference: float
    measured: float
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
    outcomes: list[Outcome]
    startup: Startup | None

    @property
    def problems(self) -> list[str]:
        return [
            f"{outcome.name}: {problem}"
            for outcome in self.outcomes
            for problem in outcome.problems
        ]


def rows_of(pairs: Sequence[Pair]) -> list[Row]:
    return [
        Row(
            metric=metric,
            reference=statistics.median(pair.reference[metric] for pair in pairs),
            measured=statistics.median(pair.measured[metric] for pair in pairs),
            ratios=[
                pair.measured[metric] / pair.reference[metric]
                for pair in pairs
                if pair.reference[metric] > 0
            ],
        )
        for metric in pairs[0].reference
    ]


def check_targets(outcomes: Sequence[Outcome]) -> list[Checked]:
    played = {outcome.name: outcome for outcome in outcomes}
    return [_check(target, played[target.name]) for target in TARGETS if target.name in played]


def _check(target: Target, outcome: Outcome) -> Checked:
    if target.at_least is not None:
        # The worst round counts: one starved stream is one too many.
        worst = min(pair.measured[target.metric] for pair in outcome.pairs)
        return Checked(target, worst >= target.at_least, f"{worst:.0f} in the worst round")
    ratio = next(row.ratio for row in rows_of(outcome.pairs) if row.metric == target.metric)
    is_met = ratio is not None and ratio <= (target.at_most_ratio or 0)
    return Checked(target, is_met, "no ratio" if ratio is None else f"{ratio:.2f}x")


def as_text(results: Results) -> str:
    blocks = [_block(outcome) for outcome in results.outcomes]
    if results.startup is not None:
        blocks.append(_startup_block(results.startup))
    blocks.append(_targets_block(results))
    if results.problems:
        blocks.append("\n".join(["WRONG ANSWERS", *(f"  {line}" for line in results.problems)]))
    return "\n\n".join(blocks)


def _block(outcome: Outcome) -> str:
    head = ("", *outcome.sides, "ratio", "spread")
    lines = [head, *(_cells(row) for row in rows_of(outcome.pairs))]
    return "\n".join([f"{outcome.title} ({outcome.name})", *_align(lines)])


def _cells(row: Row) -> tuple[str, ...]:
    label, form = METRICS[row.metric]
    ratio = "-" if row.ratio is None else f"{row.ratio:.2f}x"
    spread = f"{min(row.ratios):.2f} to {max(row.ratios):.2f}" if row.ratios else "-"
    return label, format(row.reference, form), format(row.measured, form), ratio, spread


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
    return f"{target.name}: {label}", wish, checked.found, verdict


def as_json(results: Results) -> dict[str, Any]:
    return {
        "started_at": results.started_at,
        "machine": _machine(),
        "measurements": [_outcome_json(outcome) for outcome in results.outcomes],
        "startup": None if results.startup is None else asdict(results.startup),
        "targets": [asdict(checked) for checked in check_targets(results.outcomes)],
        "problems": results.problems,
    }


def _outcome_json(outcome: Outcome) -> dict[str, Any]:
    rows = [asdict(row) | {"ratio": row.ratio} for row in rows_of(outcome.pairs)]
    rounds = [asdict(pair) for pair in outcome.pairs]
    named = {"name": outcome.name, "title": outcome.title, "sides": outcome.sides}
    return named | {"metrics": rows, "rounds": rounds}


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
