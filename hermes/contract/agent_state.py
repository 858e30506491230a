"""Small decisions about an `AIAgent`'s state, kept out of the door."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any, Protocol

from hermes.contract.callbacks import Callback
from hermes.settings.model import ProviderSettings

DEFAULT_STREAM_RETRIES = 2


class HasProvider(Protocol):
    """The part of an agent that changes when it goes on with another provider."""

    model: str
    api_mode: str
    _provider: ProviderSettings
    _disable_streaming: bool


def adopt_provider(agent: HasProvider, provider: ProviderSettings) -> None:
    """Let the agent go on with another provider, or with another key of the same."""
    # The door's own state.
    before, agent._provider = agent._provider, provider  # noqa: SLF001
    if replace(before, api_key=None) == replace(provider, api_key=None):
        return
    agent.model, agent.api_mode = provider.model, provider.api_mode
    agent._disable_streaming = False  # noqa: SLF001


def asks_for_whole(
    api_mode: str, *, cannot_stream: bool, is_watched: bool, whole_call_failed: bool
) -> bool:
    """Whether the next model call is made in one piece.

    Reading a stream nobody watches costs a hundred times the work of reading the answer. The
    Responses dialect always streams: some of its servers know nothing else.
    """
    if cannot_stream:
        return True
    return api_mode != "codex_responses" and not is_watched and not whole_call_failed


def opened_client(api_mode: str, anthropic_client: Any, create: Callable[[], Any]) -> Any:
    """An Anthropic client that was put on the agent is used as it is."""
    if api_mode == "anthropic_messages" and anthropic_client is not None:
        return anthropic_client
    return create()


def deliver(text: str, *callbacks: Callback) -> None:
    """Give a piece of text to every callback there is."""
    for callback in callbacks:
        if callback is not None:
            callback(text)


def stream_retries(environ: Mapping[str, str]) -> int:
    """How often a stream that broke before any text is tried again (`HERMES_STREAM_RETRIES`)."""
    value = environ.get("HERMES_STREAM_RETRIES", "")
    return int(value) if value.isdecimal() else DEFAULT_STREAM_RETRIES
