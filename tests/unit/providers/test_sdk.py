"""The official SDKs as a transport: same dialects, same replies."""

from __future__ import annotations

import asyncio
import sys
from typing import Any

import openai
import pytest

from hermes.core.errors import ProviderError
from hermes.providers.base import dialect_for
from hermes.providers.clients import Endpoint
from hermes.providers.sdk import SdkClients
from hermes.providers.streams import CancelScope, consume
from tests.unit.providers.dialogues import CHAT_EVENTS
from tests.unit.providers.loopback import (
    KEY,
    Loopback,
    endpoint,
    provider,
    quiet_builder,
    sse,
    streaming,
)

CHUNKS = [{"id": "c", "created": 1, **event} for event in CHAT_EVENTS]
CHAT = dialect_for("chat_completions")


def ask_through_sdk(there: Loopback) -> Any:
    clients, into = SdkClients(), quiet_builder()
    try:
        client = clients.client(endpoint(there, "chat_completions"))
        stream = CHAT.open(client, {"model": "m", "messages": []})
        consume(stream, lambda event: CHAT.feed(event, into), cancel=CancelScope())
    finally:
        clients.close()
    return into.build()


async def test_the_openai_sdk_gives_the_same_reply_as_our_client() -> None:
    async with provider(streaming(sse(CHUNKS, done=True))) as there:
        reply = await asyncio.to_thread(ask_through_sdk, there)
    assert (reply.text, reply.reasoning) == ("Let me look.", "Hmm, files.")
    assert reply.tool_calls[0].arguments == '{"path":"."}'
    assert (reply.finish_reason, reply.usage.cached_tokens) == ("tool_calls", 4)
    assert there.headers[0]["authorization"] == f"Bearer {KEY}"


def test_clients_are_made_once_per_endpoint() -> None:
    clients = SdkClients()
    where = Endpoint(base_url="http://127.0.0.1:9/v1", api_key=None, api_mode="codex_responses")
    other = Endpoint(base_url="http://127.0.0.1:9/v1", api_key="other", api_mode="codex_responses")
    try:
        client = clients.client(where)
        assert isinstance(client, openai.OpenAI)
        assert client.max_retries == 0
        assert clients.client(where) is client
        assert clients.client(other) is not client
    finally:
        clients.close()


def test_a_missing_sdk_names_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "anthropic", None)
    where = Endpoint(base_url="http://127.0.0.1:9", api_key=KEY, api_mode="anthropic_messages")
    with pytest.raises(ProviderError, match=r"pip install 'hermes-gateway\[sdk\]'"):
        SdkClients().client(where)
