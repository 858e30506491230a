"""What a measurement found out: pairs of numbers that were taken one right after the other."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

Numbers = dict[str, float]
"""The numbers of one round; the keys are those of `bench.report.METRICS`."""

Announce = Callable[[str], None]
"""Told the title of what is measured next."""


@dataclass(frozen=True, slots=True)
class Pair:
    """Two neighbouring rounds: what we compare with, and what we wanted to know."""

    reference: Numbers
    measured: Numbers


@dataclass(frozen=True, slots=True)
class Outcome:
    """All rounds of one measurement, and what was wrong in any of them."""

    name: str
    title: str
    sides: tuple[str, str]
    """What the two columns are called: the reference, and what is measured."""
    pairs: list[Pair] = field(default_factory=list)
    problems: list[str] = field(default_factory=list)


@dataclass(frozen=True, slots=True, kw_only=True)
class Effort:
    """How much is done: pairs of rounds, the seconds of each, cold starts."""

    pairs: int
    slow_pairs: int
    seconds: float
    starts: int


FULL = Effort(pairs=5, slow_pairs=3, seconds=1.5, starts=5)
QUICK = Effort(pairs=2, slow_pairs=1, seconds=0.5, starts=1)
