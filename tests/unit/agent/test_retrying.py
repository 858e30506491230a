"""What is tried before a model call is given up, row by row of the table."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from hermes.agent.chain import Chain
from hermes.agent.patience import Patience
from hermes.agent.remedies import TREATMENTS, Remedy
from hermes.agent.retrying import ask_patiently
from hermes.core.errors import ConnectionLost, ProviderError
from hermes.core.events import Notice
from hermes.core.metrics import Unmetered
from hermes.providers.failures import FailureKind
from hermes.providers.health import Health
from hermes.providers.refusals import RefusedByProvider
from hermes.settings.model import ProviderSettings
from tests.unit.agent.stage import ImpatientStop, reply


class Count(Unmetered):
    def __init__(self) -> None:
        self.remedies: list[tuple[str, str, str, str]] = []

    def remedy_tried(self, provider: str, model: str, remedy: str, failure: str) -> None:
        self.remedies.append((provider, model, remedy, failure))


class Call:
    """One model call on a stage of its own: two providers, of which the first has two keys."""

    def __init__(
        self,
        *script: Exception | None,
        keys: tuple[str, ...] = ("k1", "k2"),
        fallbacks: tuple[str, ...] = ("second",),
        compress: Callable[[], bool] = lambda: False,
    ) -> None:
        first = ProviderSettings(provider="one", model="first", api_key=keys[0], api_keys=keys)
        others = [ProviderSettings(provider="two", model=name) for name in fallbacks]
        self.asked: list[tuple[str, str | None]] = []
        self.events: list[Any] = []
        self.stop = ImpatientStop()
        self.health = Health()
        self.chain = Chain((first, *others), self.health, lambda _provider: None)
        self.meter = Count()
        self.compress = compress
        self.patience = Patience()
        self.emit = self.events.append
        self.switches = 0
        self._script: Iterator[Exception | None] = iter(script)

    def ask(self, _api_kwargs: dict[str, Any]) -> Any:
        current = self.chain.current
        self.asked.append((current.model, current.api_key))
        error = next(self._script)
        if error is not None:
            raise error
        return reply("Hello.")

    def run(self) -> Any:
        return ask_patiently(self._seams(), dict, self._switched, lambda _failure: self.compress())

    def _switched(self) -> None:
        self.switches += 1

    def _seams(self) -> Any:
        seams: Any = type("Seams", (), {})()
        for name in ("ask", "chain", "patience", "meter", "emit"):
            setattr(seams, name, getattr(self, name))
        seams.stop = lambda: self.stop
        return seams

    @property
    def codes(self) -> list[str]:
        return [event.code for event in self.events]


def refused(status: int, message: str = "No.", **fields: Any) -> RefusedByProvider:
    return RefusedByProvider(message, status_code=status, **fields)


BUSY, SLOW_DOWN, WRONG_KEY = refused(503), refused(429), refused(401)
TOO_LONG = refused(400, "maximum context length exceeded")


def test_every_kind_of_failure_has_its_row() -> None:
    assert set(TREATMENTS) == set(FailureKind)


def test_retries_and_pauses_belong_together() -> None:
    for kind, treatment in TREATMENTS.items():
        assert (Remedy.RETRY in treatment.remedies) == (treatment.retries > 0), kind


def test_a_rate_limit_goes_to_the_next_key_then_waits_then_to_the_next_provider() -> None:
    call = Call(*[SLOW_DOWN] * 4, None)
    assert call.run().text == "Hello."
    assert call.asked == [("first", "k1"), *[("first", "k2")] * 3, ("second", None)]
    assert call.codes == [
        "provider_key_rotated",
        "provider_retry",
        "provider_retry",
        "provider_fallback",
    ]
    assert call.switches == 1
    assert len(call.stop.waits) == 2


def test_a_rate_limit_that_asks_for_long_is_not_waited_for_where_others_can_be_asked() -> None:
    call = Call(*[refused(429, retry_after=20.0)] * 2, None)
    assert call.run().text == "Hello."
    assert call.codes == ["provider_key_rotated", "provider_fallback"]
    assert call.stop.waits == []


def test_a_rate_limit_is_waited_for_where_nobody_else_can_be_asked() -> None:
    call = Call(refused(429, retry_after=20.0), None, keys=("k1",), fallbacks=())
    assert call.run().text == "Hello."
    assert call.stop.waits == [20.0]


def test_what_asks_for_too_long_fails_at_once_and_says_for_how_long() -> None:
    call = Call(refused(429, retry_after=600.0), keys=("k1",), fallbacks=())
    with pytest.raises(ProviderError) as failed:
        call.run()
    assert (failed.value.code, failed.value.retry_after) == ("rate_limited", 600.0)
    assert call.stop.waits == []


def test_an_overloaded_provider_is_given_two_chances() -> None:
    call = Call(BUSY, BUSY, BUSY, None)
    assert call.run().text == "Hello."
    assert call.asked == [*[("first", "k1")] * 3, ("second", None)]
    assert not call.health.is_calm


def test_a_refused_key_is_not_tried_again() -> None:
    call = Call(WRONG_KEY, WRONG_KEY, None)
    assert call.run().text == "Hello."
    assert call.asked == [("first", "k1"), ("first", "k2"), ("second", None)]
    assert call.stop.waits == []


def test_tries_are_counted_anew_for_the_next_provider() -> None:
    call = Call(*[BUSY] * 6)
    with pytest.raises(ProviderError) as failed:
        call.run()
    assert call.asked == [*[("first", "k1")] * 3, *[("second", None)] * 3]
    assert failed.value.code == "overloaded"


def test_a_stall_is_tried_again_once_only() -> None:
    stall = ProviderError("Silence.", code="stalled")
    call = Call(stall, stall, None)
    assert call.run().text == "Hello."
    assert call.asked == [*[("first", "k1")] * 2, ("second", None)]


def test_too_long_a_conversation_is_made_shorter_once() -> None:
    call = Call(TOO_LONG, None, compress=lambda: True)
    assert call.run().text == "Hello."
    assert call.asked == [("first", "k1")] * 2
    assert call.health.is_calm
    again = Call(TOO_LONG, TOO_LONG, compress=lambda: True, fallbacks=())
    with pytest.raises(ProviderError) as failed:
        again.run()
    assert failed.value.code == "context_overflow"


def test_what_cannot_be_made_shorter_may_fit_elsewhere() -> None:
    call = Call(TOO_LONG, None)
    assert call.run().text == "Hello."
    assert call.asked == [("first", "k1"), ("second", None)]


def test_a_request_that_is_refused_is_no_reason_to_rest() -> None:
    call = Call(refused(404), fallbacks=())
    with pytest.raises(ProviderError):
        call.run()
    assert call.health.is_calm
    assert len(call.asked) == 1


def test_whoever_fails_to_the_end_needs_a_rest() -> None:
    call = Call(*[ConnectionLost("Gone.")] * 3, fallbacks=())
    with pytest.raises(ProviderError):
        call.run()
    assert not call.health.is_calm


def test_an_answer_after_a_failure_is_told() -> None:
    call = Call(*[BUSY] * 3, keys=("k1",), fallbacks=())
    with pytest.raises(ProviderError):
        call.run()
    call._script = iter([None])
    call.run()
    assert call.events[-1] == Notice("provider_recovered", "first answers again.")
    assert call.health.is_calm


def test_every_remedy_is_counted_for_the_one_who_failed() -> None:
    call = Call(WRONG_KEY, *[BUSY] * 3, None)
    call.run()
    assert call.meter.remedies == [
        ("one", "first", "rotate", "auth"),
        ("one", "first", "retry", "overloaded"),
        ("one", "first", "retry", "overloaded"),
        ("one", "first", "fall back", "overloaded"),
    ]


def test_no_notice_names_a_key() -> None:
    call = Call(*[WRONG_KEY] * 2, None, keys=("sk-first-1", "sk-first-2"))
    call.run()
    assert "sk-" not in repr(call.events)


def test_an_empty_answer_is_garbled(tmp_path: Path) -> None:
    call = Call()
    call.ask = lambda _kwargs: reply(None)  # type: ignore[method-assign]
    with pytest.raises(ProviderError) as failed:
        call.run()
    assert failed.value.code == "garbled"
