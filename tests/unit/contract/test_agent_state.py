"""Small decisions about an agent's state."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

from hermes.contract.agent_state import adopt_provider, deliver, opened_client, stream_retries
from hermes.settings.model import ProviderSettings

FALLBACK = ProviderSettings(provider="custom", model="second", api_mode="anthropic_messages")


def agent() -> Any:
    return SimpleNamespace(
        model="first",
        api_mode="chat_completions",
        _provider=ProviderSettings(provider="custom", model="first"),
        _fallback=FALLBACK,
        _disable_streaming=True,
    )


def test_the_fallback_takes_over_once_and_speaks_its_own_dialect() -> None:
    changed = agent()
    assert adopt_provider(changed, changed._fallback) == "second"
    assert vars(changed) == {
        "model": "second",
        "api_mode": "anthropic_messages",
        "_provider": FALLBACK,
        "_fallback": None,
        "_disable_streaming": False,
    }
    assert adopt_provider(changed, changed._fallback) is None


def test_without_a_fallback_nothing_changes() -> None:
    changed = agent()
    assert adopt_provider(changed, None) is None
    assert vars(changed) == vars(agent())


@pytest.mark.parametrize(
    ("api_mode", "client", "used"),
    [
        ("anthropic_messages", "given", "given"),
        ("anthropic_messages", None, "made"),
        ("chat_completions", "given", "made"),
    ],
)
def test_a_client_put_on_the_agent_is_used_for_its_own_dialect_only(
    api_mode: str, client: str | None, used: str
) -> None:
    assert opened_client(api_mode, client, lambda: "made") == used


def test_text_is_delivered_to_every_callback_there_is() -> None:
    first: list[str] = []
    second: list[str] = []
    deliver("hi", first.append, None, second.append)
    assert (first, second) == (["hi"], ["hi"])


@pytest.mark.parametrize(
    ("value", "retries"), [(None, 2), ("", 2), ("0", 0), ("5", 5), ("-1", 2), ("many", 2)]
)
def test_stream_retries_come_from_the_environment_or_are_two(
    value: str | None, retries: int
) -> None:
    environ = {} if value is None else {"HERMES_STREAM_RETRIES": value}
    assert stream_retries(environ) == retries
