"""What is counted, and how it is written down."""

from __future__ import annotations

import threading

import pytest
from hypothesis import given
from hypothesis import strategies as st
from prometheus_client.parser import text_string_to_metric_families

from hermes.core.turn import Usage
from hermes.metrics import series
from hermes.metrics.exposition import exposition
from hermes.metrics.series import Counter, Gauge, Histogram
from hermes.metrics.tally import Tally

words = st.text(st.characters(exclude_categories=("Cs", "Cc"), include_characters="\n"))


def read(text: str) -> dict[tuple[str, frozenset[tuple[str, str]]], float]:
    """The samples as Prometheus' own parser reads them."""
    return {
        (sample.name, frozenset(sample.labels.items())): sample.value
        for family in text_string_to_metric_families(text)
        for sample in family.samples
    }


@given(st.dictionaries(st.tuples(words, words), st.integers(1, 2**50), max_size=5))
def test_any_label_and_number_survives(values: dict[tuple[str, str], int]) -> None:
    counter = Counter("things_total", "All\nthings.", "one", "other")
    for labels, value in values.items():
        counter.add(labels, value)
    assert read(exposition([counter])) == {
        ("things_total", frozenset({("one", one), ("other", other)})): value
        for (one, other), value in values.items()
    }


@given(st.lists(st.floats(0, 100), min_size=1))
def test_a_histogram_counts_everything_up_to_each_bound(values: list[float]) -> None:
    histogram = Histogram("seconds", "How long.", (1, 10), "name")
    for value in values:
        histogram.observe(("x",), value)
    samples = read(exposition([histogram]))

    def count(bound: str) -> float:
        return samples["seconds_bucket", frozenset({("name", "x"), ("le", bound)})]

    assert count("1") == sum(value <= 1 for value in values)
    assert count("10") == sum(value <= 10 for value in values)
    assert count("+Inf") == len(values)
    assert samples["seconds_count", frozenset({("name", "x")})] == len(values)
    assert samples["seconds_sum", frozenset({("name", "x")})] == pytest.approx(sum(values))


def test_a_gauge_shows_what_it_is_given() -> None:
    gauge = Gauge("left_seconds", "How long still.", [([("key", "")], 1.5), ([("key", "2")], 0.0)])
    assert read(exposition([gauge])) == {
        ("left_seconds", frozenset({("key", "")})): 1.5,
        ("left_seconds", frozenset({("key", "2")})): 0.0,
    }


def test_no_number_of_labels_fills_the_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(series, "MOST_SERIES", 3)
    counter, histogram = Counter("a_total", "A.", "l"), Histogram("b", "B.", (1,), "l")
    for number in range(10):
        counter.add((str(number),))
        histogram.observe((str(number),), 0.5)
    samples = read(exposition([counter, histogram]))
    assert samples["a_total", frozenset({("l", "other")})] == 7
    assert samples["b_count", frozenset({("l", "other")})] == 7
    assert samples["a_total", frozenset({("l", "0")})] == 1


def test_nothing_is_lost_when_many_threads_count() -> None:
    counter = Counter("a_total", "A.", "l")

    def count() -> None:
        for _ in range(2000):
            counter.add(("x",))

    threads = [threading.Thread(target=count) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    (sample,) = counter.samples()
    assert sample.value == 8000


def test_everything_a_gateway_does_has_its_number() -> None:
    tally = Tally()
    tally.model_called("openai", "m", "ok", 0.3)
    tally.model_called("openai", "m", "stalled", 180.0)
    tally.remedy_tried("openai", "m", "retry", "stalled")
    usage = Usage(
        input_tokens=5, output_tokens=7, total_tokens=12, cached_tokens=2, reasoning_tokens=3
    )
    tally.tokens_used("openai", "m", usage)
    tally.tool_called("terminal", "ok", 0.1)
    tally.turn_ended("completed")
    tally.run_ended("failed")
    tally.request_answered("GET", "/metrics", 200)
    samples = read(exposition(tally.families()))

    def value(name: str, **labels: str) -> float:
        return samples[f"hermes_{name}", frozenset(labels.items())]

    at = {"provider": "openai", "model": "m"}
    assert value("model_calls_total", **at, outcome="ok") == 1
    assert value("model_call_seconds_sum", **at) == pytest.approx(180.3)
    assert value("model_remedies_total", **at, remedy="retry", failure="stalled") == 1
    kinds = ("input", "output", "cached", "reasoning")
    assert [value("tokens_total", **at, kind=kind) for kind in kinds] == [5, 7, 2, 3]
    assert value("tool_calls_total", tool="terminal", outcome="ok") == 1
    assert value("tool_call_seconds_count", tool="terminal") == 1
    assert value("turns_total", outcome="completed") == 1
    assert value("runs_total", status="failed") == 1
    assert value("http_requests_total", method="GET", route="/metrics", status="200") == 1


def test_what_was_not_used_is_not_counted() -> None:
    tally = Tally()
    tally.tokens_used("openai", "m", Usage(input_tokens=5, output_tokens=7, total_tokens=12))
    assert "cached" not in exposition(tally.families()).replace("; cached is part", "")
