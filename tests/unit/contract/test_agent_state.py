"""Small decisions about an agent's state."""

from __future__ import annotations

from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import pytest

from hermes.contract.agent_state import adopt_provider, deliver, opened_client, stream_retries
from hermes.settings.model import ProviderSettings

FIRST = ProviderSettings(provider="custom", model="first", api_key="key-1")
FALLBACK = ProviderSettings(provider="custom", model="second", api_mode="anthropic_messages")


def agent() -> Any:
    return SimpleNamespace(
        model="first",
        api_mode="chat_completions",
        _provider=FIRST,
        _disable_streaming=True,
    )


def test_another_provider_brings_its_model_and_its_dialect() -> None:
    changed = agent()
    adopt_provider(changed, FALLBACK)
    assert vars(changed) == {
        "model": "second",
        "api_mode": "anthropic_messages",
        "_provider": FALLBACK,
        "_disable_streaming": False,
    }


def test_another_key_changes_nothing_else() -> None:
    changed = agent()
    changed.model = "set by an embedder"
    adopt_provider(changed, replace(FIRST, api_key="key-2"))
    assert changed._provider.api_key == "key-2"
    assert (changed.model, changed._disable_streaming) == ("set by an embedder", True)


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
