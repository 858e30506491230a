"""Which calls may be silent for long."""

from __future__ import annotations

from typing import Any

import pytest

from hermes.providers.thinking import is_thinking_model, thinks


@pytest.mark.parametrize(
    "model",
    [
        "o3-mini",
        "openai/o4-mini",
        "gpt-5",
        "gpt-5.1-codex",
        "deepseek-reasoner",
        "deepseek/deepseek-r1",
        "kimi-k2-thinking",
        "claude-3-7-sonnet:thinking",
        "qwq-32b",
        "grok-4-fast-reasoning",
        "google/gemini-2.5-pro",
    ],
)
def test_models_that_think_are_known_by_their_name(model: str) -> None:
    assert is_thinking_model(model)


@pytest.mark.parametrize(
    "model", ["gpt-4o", "gpt-4.1", "claude-sonnet-4-5", "llama3", "deepseek-chat", "fake", ""]
)
def test_others_are_not(model: str) -> None:
    assert not is_thinking_model(model)


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        ({"model": "llama3"}, False),
        ({"model": "llama3", "reasoning_effort": "low"}, True),
        ({"model": "gpt-5", "reasoning_effort": "none"}, False),
        ({"model": "llama3", "reasoning": {"effort": "high"}}, True),
        ({"model": "gpt-5", "reasoning": {"effort": "none"}}, False),
        ({"model": "gpt-5", "reasoning": {"summary": "auto"}}, True),
        ({"model": "claude-sonnet-4-5", "thinking": {"type": "enabled"}}, True),
        ({"model": "claude-sonnet-4-5", "thinking": {"type": "disabled"}}, False),
        ({}, False),
    ],
)
def test_what_a_request_asks_for_decides_before_the_name(
    body: dict[str, Any], expected: bool
) -> None:
    assert thinks(body) is expected
