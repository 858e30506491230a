"""Whom an agent asks, and who is next."""

from __future__ import annotations

from typing import Any

import pytest

from hermes.agent.chain import FIRST, Chain, Seat
from hermes.core.events import Notice
from hermes.providers.health import Health
from hermes.settings.model import ProviderSettings
from tests.unit.providers.test_health import Clock


def provider(model: str, *keys: str, **fields: Any) -> ProviderSettings:
    key = keys[0] if keys else None
    pool = keys if len(keys) > 1 else ()
    return ProviderSettings(provider="custom", model=model, api_key=key, api_keys=pool, **fields)


class Agent:
    """Notes whom it went on with."""

    def __init__(self, *providers: ProviderSettings, health: Health | None = None) -> None:
        self.clock = Clock()
        self.health = health or Health(self.clock)
        self.adopted: list[tuple[str, str | None]] = []
        self.chain = Chain(providers, self.health, self._adopt)

    def _adopt(self, provider: ProviderSettings) -> None:
        self.adopted.append((provider.model, provider.api_key))

    def fail(self, seconds: float = 30.0, reason: str = "overloaded") -> Seat:
        seat = self.chain.leave()
        self.chain.rest(seat, seconds, reason, retry_after=None)
        return seat


def test_a_provider_alone_is_asked_whatever_happened() -> None:
    agent = Agent(provider("a"))
    agent.fail()
    assert agent.chain.begin_turn() is None
    assert not agent.chain.has_alternative()
    assert agent.chain.next_key() is None
    assert agent.chain.next_provider() is None
    assert agent.adopted == []


def test_the_next_provider_takes_over_once_per_call() -> None:
    agent = Agent(provider("a"), provider("b"), provider("c"))
    said = []
    for _ in range(3):
        agent.fail()
        said.append(agent.chain.next_provider())
    assert said == ["b", "c", None]
    assert agent.chain.is_elsewhere


def test_a_provider_who_failed_earlier_in_the_turn_is_asked_again_when_it_has_rested() -> None:
    agent = Agent(provider("a"), provider("b"))
    agent.fail()
    assert agent.chain.next_provider() == "b"
    agent.chain.begin_call()
    agent.fail()
    assert agent.chain.next_provider() is None, "it still needs its rest"
    agent.clock.now += 31
    assert agent.chain.next_provider() == "a"


def test_somebody_who_needs_a_rest_is_asked_when_nobody_else_is_left() -> None:
    agent = Agent(provider("a"), provider("b"), provider("c"))
    agent.health.rest(agent.chain._spot(Seat(1, 0)), 60, "overloaded")
    agent.fail()
    assert agent.chain.next_provider() == "c"
    agent.fail()
    assert not agent.chain.has_alternative(), "nobody to hurry for"
    assert agent.chain.next_provider() == "b"


def test_a_turn_begins_with_the_first_who_is_well_and_says_so() -> None:
    agent = Agent(provider("a"), provider("b"))
    agent.fail(reason="rate_limited")
    later = Agent(*agent.chain.providers, health=agent.health)
    told = later.chain.begin_turn()
    assert told == Notice("provider_fallback", "a needs a rest (rate_limited). Continuing with b.")
    assert later.adopted == [("b", None)]


def test_a_turn_comes_back_to_the_first_when_its_rest_is_over_and_tells_once_it_answers() -> None:
    agent = Agent(provider("a"), provider("b"))
    agent.fail()
    agent.clock.now += 30
    back, beside = (Agent(*agent.chain.providers, health=agent.health) for _ in range(2))
    assert back.chain.begin_turn() is None
    assert back.adopted == []
    assert beside.chain.begin_turn() is not None, "one of them goes first to see"
    assert back.chain.answered() == Notice("provider_recovered", "a answers again.")
    assert back.chain.answered() is None
    assert Agent(*agent.chain.providers, health=agent.health).chain.begin_turn() is None


def test_an_agent_that_is_used_again_begins_its_next_turn_with_the_first() -> None:
    agent = Agent(provider("a"), provider("b"))
    agent.fail(seconds=0)
    assert agent.chain.next_provider() == "b"
    assert agent.chain.begin_turn() is None
    assert agent.adopted == [("b", None), ("a", None)]


def test_when_all_need_a_rest_the_one_whose_rest_ends_first_is_asked() -> None:
    agent = Agent(provider("a"), provider("b"))
    agent.fail(seconds=600)
    agent.chain.next_provider()
    agent.fail(seconds=30)
    later = Agent(*agent.chain.providers, health=agent.health)
    assert later.chain.begin_turn() is not None
    assert later.adopted == [("b", None)]


def test_the_next_key_is_one_that_is_well() -> None:
    agent = Agent(provider("a", "k1", "k2", "k3"))
    agent.health.rest(agent.chain._spot(Seat(0, 1)), 60, "auth")
    agent.fail()
    assert agent.chain.next_key() == "key 3"
    assert agent.adopted == [("a", "k3")]
    agent.fail()
    assert agent.chain.next_key() is None
    assert agent.chain.current.api_key == "k3"


def test_a_later_turn_begins_with_a_key_that_is_well() -> None:
    agent = Agent(provider("a", "k1", "k2"))
    agent.fail()
    later = Agent(*agent.chain.providers, health=agent.health)
    assert later.chain.begin_turn() is None, "which key is used is nothing to tell"
    assert later.adopted == [("a", "k2")]


def test_keys_in_turn_are_used_evenly() -> None:
    keys = ("k1", "k2", "k3")
    first = Agent(provider("a", *keys, key_strategy="round_robin"))
    used = []
    for _ in range(6):
        agent = Agent(*first.chain.providers, health=first.health)
        agent.chain.begin_turn()
        used.append(agent.chain.current.api_key)
    assert used == [*keys, *keys]


def test_the_first_key_is_used_as_long_as_it_works() -> None:
    agent = Agent(provider("a", "k1", "k2"))
    agent.chain.begin_turn()
    assert agent.adopted == []


def test_a_fallback_has_keys_of_its_own() -> None:
    agent = Agent(provider("a"), provider("b", "k1", "k2"))
    agent.fail()
    assert agent.chain.next_provider() == "b"
    agent.fail()
    assert agent.chain.next_key() == "key 2"
    assert agent.adopted == [("b", "k1"), ("b", "k2")]


def test_a_fork_begins_at_the_same_place_and_goes_its_own_way() -> None:
    agent = Agent(provider("a"), provider("b"), provider("c"))
    agent.fail()
    agent.chain.next_provider()
    adopted: list[str] = []
    fork = agent.chain.fork(lambda provider: adopted.append(provider.model))
    assert fork.current.model == "b"
    fork.leave()
    assert fork.next_provider() == "c"
    assert agent.chain.current.model == "b"


def test_no_key_shows_in_what_is_told_or_printed() -> None:
    agent = Agent(provider("a", "sk-one", "sk-two"))
    agent.fail()
    shown = [agent.chain.next_key(), repr(agent.chain), repr(agent.chain.current), repr(FIRST)]
    assert "sk-" not in str(shown)


@pytest.mark.parametrize("seconds", [0.0, 30.0])
def test_nobody_rests_for_what_does_not_last(seconds: float) -> None:
    agent = Agent(provider("a"), provider("b"))
    agent.fail(seconds=seconds)
    assert agent.health.is_calm == (seconds == 0)
