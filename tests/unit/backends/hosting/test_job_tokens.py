"""The tokens of jobs: alive until revoked, capped, and of no use to whoever reads the table."""

from __future__ import annotations

from typing import Any

import pytest

from hermes.backends.hosting.job_tokens import (
    PREFIX,
    JobTokens,
    RelayCaps,
    RelayedJob,
    RelayGrant,
    Upstream,
)
from hermes.core.prices import Price
from hermes.core.usage import Usage

UPSTREAM = Upstream(
    base_url="https://provider.example", key="sk-the-real-key", key_header="x-api-key"
)


def _grant(job_id: str = "job_1", **more: Any) -> RelayGrant:
    return RelayGrant(job_id=job_id, dialect="anthropic", upstream=UPSTREAM, **more)


def test_a_token_finds_its_job_until_the_job_is_over() -> None:
    tokens = JobTokens()
    token = tokens.issue(_grant())

    found = tokens.find(token)
    assert found is not None
    assert found.grant.job_id == "job_1"

    tokens.revoke("job_1")
    assert tokens.find(token) is None


def test_the_end_of_one_job_does_not_touch_another() -> None:
    tokens = JobTokens()
    ended, going_on = tokens.issue(_grant("job_1")), tokens.issue(_grant("job_2"))

    tokens.revoke("job_1")
    tokens.revoke("job_1")

    assert tokens.find(ended) is None
    assert tokens.find(going_on) is not None


def test_a_job_may_have_several_tokens_and_all_of_them_end_with_it() -> None:
    tokens = JobTokens()
    issued = [tokens.issue(_grant()) for _ in range(3)]

    tokens.revoke("job_1")

    assert [tokens.find(token) for token in issued] == [None, None, None]


def test_tokens_are_long_and_never_the_same() -> None:
    tokens = JobTokens()
    issued = {tokens.issue(_grant()) for _ in range(100)}

    assert len(issued) == 100
    assert all(token.startswith(PREFIX) and len(token) >= len(PREFIX) + 43 for token in issued)


@pytest.mark.parametrize("said", ["", PREFIX, PREFIX + "\ud800", "sk-the-real-key"])
def test_what_was_never_issued_is_not_found(said: str) -> None:
    tokens = JobTokens()
    tokens.issue(_grant())

    assert tokens.find(said) is None


def test_neither_the_key_nor_a_token_is_shown() -> None:
    tokens = JobTokens()
    token = tokens.issue(_grant())

    shown = repr((_grant(), vars(tokens)))
    assert "sk-the-real-key" not in shown
    assert token not in shown


def test_requests_are_counted_against_their_cap() -> None:
    job = RelayedJob(_grant(caps=RelayCaps(requests=2)))

    job.count_request()
    assert job.reached is None
    job.count_request()
    assert job.reached == "2 requests"


def test_what_is_read_and_written_is_counted_against_its_cap() -> None:
    job = RelayedJob(_grant(caps=RelayCaps(tokens=100)))

    job.count_usage("some-model", Usage(input_tokens=60, output_tokens=39, total_tokens=99))
    assert job.reached is None
    job.count_usage("some-model", Usage(input_tokens=1, total_tokens=1))
    assert job.reached == "100 tokens"


def test_output_is_counted_against_its_cap() -> None:
    job = RelayedJob(_grant(caps=RelayCaps(output_tokens=100)))

    job.count_usage("some-model", Usage(input_tokens=5000, output_tokens=99, total_tokens=5099))
    assert job.reached is None
    job.count_usage("some-model", Usage(output_tokens=1, total_tokens=1))
    assert job.reached == "100 output tokens"
    assert job.usage.input_tokens == 5000


def test_cost_is_counted_by_the_price_of_each_model() -> None:
    prices = {"dear": Price(input=10, output=10), "cheap": Price(input=1, output=1)}
    job = RelayedJob(_grant(caps=RelayCaps(cost_usd=10.5), price_of=prices.get))
    million = Usage(input_tokens=1_000_000, total_tokens=1_000_000)

    job.count_usage("dear", million)
    assert job.reached is None
    job.count_usage("cheap", million)
    assert job.reached == "10.5 USD"
    assert job.usage.cost_usd == 11


def test_a_cost_that_the_provider_tells_is_believed() -> None:
    job = RelayedJob(_grant(price_of=lambda _: Price(input=10, output=10)))

    job.count_usage("any", Usage(input_tokens=1_000_000, total_tokens=1_000_000, cost_usd=0.5))

    assert job.usage.cost_usd == 0.5


def test_a_job_without_caps_goes_on() -> None:
    job = RelayedJob(_grant())
    for _ in range(1000):
        job.count_request()
    job.count_usage("any", Usage(output_tokens=10**9, total_tokens=10**9))

    assert job.reached is None


def test_only_the_models_of_the_grant_may_be_asked() -> None:
    assert RelayedJob(_grant()).may_ask("anything")

    narrow = RelayedJob(_grant(models=frozenset({"small"})))
    assert narrow.may_ask("small")
    assert not narrow.may_ask("large")
