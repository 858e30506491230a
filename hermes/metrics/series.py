"""Numbers under labels: counters, histograms and gauges. What they mean is not their business."""

from __future__ import annotations

import threading
from bisect import bisect_left
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

Labels = tuple[str, ...]

MOST_SERIES = 5000
"""Labels beyond that are counted under `other`: a gateway must not fill its memory by counting."""


@dataclass(frozen=True, slots=True)
class Sample:
    """One line of what is shown."""

    name: str
    labels: Sequence[tuple[str, str]]
    value: float


class Counter:
    """Only ever grows. Safe to use from any thread."""

    kind = "counter"

    def __init__(self, name: str, about: str, *labels: str) -> None:
        self.name, self.about, self._labels = name, about, labels
        self._lock = threading.Lock()
        self._values: dict[Labels, float] = {}

    def add(self, labels: Labels, amount: float = 1) -> None:
        with self._lock:
            values = self._values
            if labels not in values and len(values) >= MOST_SERIES:
                labels = ("other",) * len(labels)
            values[labels] = values.get(labels, 0) + amount

    def samples(self) -> Iterator[Sample]:
        with self._lock:
            values = list(self._values.items())
        for labels, value in values:
            yield Sample(self.name, tuple(zip(self._labels, labels, strict=True)), value)


class Histogram:
    """How often a value was up to each of its bounds. Safe to use from any thread."""

    kind = "histogram"

    def __init__(self, name: str, about: str, bounds: Sequence[float], *labels: str) -> None:
        self.name, self.about, self._labels = name, about, labels
        self._bounds = tuple(bounds)
        self._lock = threading.Lock()
        self._counts: dict[Labels, list[int]] = {}
        self._sums: dict[Labels, float] = {}

    def observe(self, labels: Labels, value: float) -> None:
        with self._lock:
            counts = self._counts.get(labels)
            if counts is None:
                if len(self._counts) >= MOST_SERIES:
                    labels = ("other",) * len(labels)
                counts = self._counts.setdefault(labels, [0] * (len(self._bounds) + 1))
            counts[bisect_left(self._bounds, value)] += 1
            self._sums[labels] = self._sums.get(labels, 0.0) + value

    def samples(self) -> Iterator[Sample]:
        with self._lock:
            taken = [(labels, list(counts)) for labels, counts in self._counts.items()]
            sums = dict(self._sums)
        for labels, counts in taken:
            named = tuple(zip(self._labels, labels, strict=True))
            total = 0
            for bound, count in zip((*self._bounds, float("inf")), counts, strict=True):
                total += count
                shown = "+Inf" if bound == float("inf") else f"{bound:g}"
                yield Sample(f"{self.name}_bucket", (*named, ("le", shown)), total)
            yield Sample(f"{self.name}_sum", named, sums[labels])
            yield Sample(f"{self.name}_count", named, total)


@dataclass(frozen=True, slots=True)
class Gauge:
    """Numbers as they are at this moment."""

    name: str
    about: str
    readings: Sequence[tuple[Sequence[tuple[str, str]], float]]
    kind = "gauge"

    def samples(self) -> Iterator[Sample]:
        for labels, value in self.readings:
            yield Sample(self.name, labels, value)


Family = Counter | Histogram | Gauge
