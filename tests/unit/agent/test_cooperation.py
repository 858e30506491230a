"""Which agents may stand on the event loop, and which need a thread."""

from __future__ import annotations

from typing import Any
from unittest.mock import patch

import pytest

from run_agent import AIAgent

HTTP = {"provider": "custom", "base_url": "http://127.0.0.1:9/v1", "model": "m"}


def test_an_agent_with_our_own_client_may() -> None:
    assert AIAgent(**HTTP).can_share_the_loop()
    assert AIAgent(**HTTP, fallback_model={**HTTP, "model": "other"}).can_share_the_loop()


@pytest.mark.parametrize(
    "keywords",
    [
        {"provider": "demo", "model": "demo"},
        {**HTTP, "transport": "sdk"},
        {**HTTP, "fallback_model": {"provider": "demo", "model": "demo"}},
    ],
)
def test_a_client_that_blocks_its_thread_gets_one(keywords: dict[str, Any]) -> None:
    assert not AIAgent(**keywords).can_share_the_loop()


def test_code_of_strangers_gets_a_thread() -> None:
    class Subclassed(AIAgent):
        def _create_request_openai_client(self, **_context: Any) -> Any:
            return object()

    replaced = AIAgent(**HTTP)
    replaced._interruptible_api_call = lambda _kwargs: None  # type: ignore[method-assign]
    given_a_client = AIAgent(**HTTP)
    given_a_client._anthropic_client = object()
    assert not Subclassed(**HTTP).can_share_the_loop()
    assert not replaced.can_share_the_loop()
    assert not given_a_client.can_share_the_loop()
    with patch("run_agent.AIAgent._create_request_openai_client"):
        assert not AIAgent(**HTTP).can_share_the_loop()
