"""A request with a key is carried out once, whoever repeats it and wherever."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

import pytest

from hermes.core.errors import IdempotencyConflict
from hermes.core.run_ports import KeptAnswer, RunStore
from hermes.core.runs import Idempotency
from tests.unit.store.run_conformance.acting import begun, finish, keyed, new
from tests.unit.store.run_conformance.engines import Clock

DAY = 86_400.0
ANSWER = KeptAnswer(status=201, headers={"X-Request-Id": "1"}, body=b"\x00{}")
OTHER = KeptAnswer(status=200, headers={}, body=b"other")


def test_the_same_request_is_the_same_run(store: RunStore, other: RunStore) -> None:
    first = store.submit(keyed("r1", "k"))
    again = other.submit(keyed("r2", "k"))
    assert (first.replayed, again.replayed) == (False, True)
    assert again.run == first.run
    assert store.get("r2") is None


def test_a_request_is_known_to_be_repeated_before_it_is_made(store: RunStore) -> None:
    assert not store.is_repeated(keyed("r1", "k"))
    assert not store.is_repeated(new("r1"))
    store.submit(keyed("r1", "k"))
    assert store.is_repeated(keyed("r2", "k"))
    assert not store.is_repeated(keyed("r2", "other"))
    with pytest.raises(IdempotencyConflict):
        store.is_repeated(keyed("r2", "k", fingerprint="other"))


def test_a_repeated_request_shows_the_run_as_it_is_now(store: RunStore) -> None:
    begun(store, "r1", None, idempotency=keyed("r1", "k").idempotency)
    finish(store, "r1", 1)
    again = store.submit(keyed("r2", "k"))
    assert again.run == store.get("r1")
    assert again.run.finished_at is not None


def test_another_body_under_the_same_key_is_refused(store: RunStore) -> None:
    store.submit(keyed("r1", "k"))
    with pytest.raises(IdempotencyConflict):
        store.submit(keyed("r2", "k", fingerprint="other"))
    assert store.get("r2") is None


def test_a_key_means_something_else_elsewhere(store: RunStore) -> None:
    store.submit(keyed("r1", "k"))
    assert not store.submit(keyed("r2", "k", owner="bert")).replayed
    scope = Idempotency(key="k", scope="POST /v1/responses", fingerprint="body")
    assert not store.submit(new("r3", None, idempotency=scope)).replayed
    assert not store.submit(keyed("r4", "l")).replayed


def test_many_equal_requests_at_once_make_one_run(store: RunStore, other: RunStore) -> None:
    with ThreadPoolExecutor(16) as pool:
        answers = list(
            pool.map(
                lambda number: (store, other)[number % 2].submit(keyed(f"r{number}", "k")),
                range(40),
            )
        )
    assert len({answer.run.id for answer in answers}) == 1
    assert [answer.replayed for answer in answers].count(False) == 1


def test_a_repeated_request_does_not_mind_that_its_session_is_busy(store: RunStore) -> None:
    key = Idempotency(key="k", scope="s", fingerprint="body")
    store.submit(new("r1", idempotency=key))
    store.submit(new("r2"))
    assert store.submit(new("r3", idempotency=key)).run.id == "r1"


def test_a_key_is_forgotten_after_a_day(store: RunStore, clock: Clock) -> None:
    store.submit(keyed("r1", "k"))
    clock.advance(DAY - 1)
    assert store.submit(keyed("r2", "k")).replayed
    clock.advance(1)
    assert not store.submit(keyed("r3", "k", fingerprint="other")).replayed
    assert store.submit(keyed("r4", "k", fingerprint="other")).run.id == "r3"


def test_a_forgotten_key_lets_the_request_be_carried_out_again(store: RunStore) -> None:
    store.submit(keyed("r1", "k"))
    store.forget_key("r1")
    store.forget_key("unknown")
    assert not store.submit(keyed("r2", "k")).replayed
    assert store.get("r1") is not None


def test_an_answer_is_kept_as_it_was_and_the_first_stays(store: RunStore, other: RunStore) -> None:
    assert store.kept_answer("anna", "POST /v1/files", "k", "body") is None
    store.keep_answer("anna", "POST /v1/files", "k", "body", ANSWER)
    other.keep_answer("anna", "POST /v1/files", "k", "body", OTHER)
    assert other.kept_answer("anna", "POST /v1/files", "k", "body") == ANSWER
    assert store.kept_answer("bert", "POST /v1/files", "k", "body") is None
    assert store.kept_answer("anna", "POST /v1/other", "k", "body") is None


def test_the_answer_to_another_body_is_not_given_out(store: RunStore) -> None:
    store.keep_answer("anna", "x", "k", "body", ANSWER)
    with pytest.raises(IdempotencyConflict):
        store.kept_answer("anna", "x", "k", "other")
    with pytest.raises(IdempotencyConflict):
        store.keep_answer("anna", "x", "k", "other", OTHER)


def test_an_answer_is_forgotten_after_a_day(store: RunStore, clock: Clock) -> None:
    store.keep_answer("anna", "x", "k", "body", ANSWER)
    clock.advance(DAY)
    assert store.kept_answer("anna", "x", "k", "other") is None
    store.keep_answer("anna", "x", "k", "other", OTHER)
    assert store.kept_answer("anna", "x", "k", "other") == OTHER


def test_a_key_of_an_answer_is_none_of_a_run(store: RunStore) -> None:
    store.keep_answer("anna", "POST /v1/runs", "k", "body", ANSWER)
    with pytest.raises(IdempotencyConflict):
        store.submit(keyed("r1", "k"))
    store.submit(keyed("r2", "l"))
    assert store.kept_answer("anna", "POST /v1/runs", "l", "body") is None
