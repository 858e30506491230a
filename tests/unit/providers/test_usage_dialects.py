"""Every vendor counts in its own words; all of them come to the same."""

from __future__ import annotations

from typing import Any

import pytest

from hermes.core.usage import Usage
from hermes.providers.base import dialect_for
from hermes.providers.reply import ReplyBuilder

ANSWERS: dict[str, dict[str, Any]] = {
    "chat_completions": {"choices": [{"message": {"content": "Hi."}, "finish_reason": "stop"}]},
    "codex_responses": {"status": "completed", "output": []},
    "anthropic_messages": {"content": [], "stop_reason": "end_turn"},
}


@pytest.mark.parametrize(
    ("api_mode", "reported", "read"),
    [
        (
            "chat_completions",
            {
                "prompt_tokens": 100,
                "completion_tokens": 20,
                "total_tokens": 120,
                "prompt_tokens_details": {"cached_tokens": 60},
                "completion_tokens_details": {"reasoning_tokens": 8},
            },
            Usage(
                input_tokens=100,
                output_tokens=20,
                total_tokens=120,
                cached_tokens=60,
                reasoning_tokens=8,
            ),
        ),
        (  # DeepSeek
            "chat_completions",
            {
                "prompt_tokens": 100,
                "completion_tokens": 20,
                "prompt_cache_hit_tokens": 64,
                "prompt_cache_miss_tokens": 36,
            },
            Usage(input_tokens=100, output_tokens=20, total_tokens=120, cached_tokens=64),
        ),
        (  # Moonshot
            "chat_completions",
            {"prompt_tokens": 100, "completion_tokens": 20, "cached_tokens": 30},
            Usage(input_tokens=100, output_tokens=20, total_tokens=120, cached_tokens=30),
        ),
        (  # OpenRouter
            "chat_completions",
            {
                "prompt_tokens": 100,
                "completion_tokens": 20,
                "cost": 0.0125,
                "prompt_tokens_details": {"cached_tokens": 10, "cache_write_tokens": 40},
            },
            Usage(
                input_tokens=100,
                output_tokens=20,
                total_tokens=120,
                cached_tokens=10,
                cache_write_tokens=40,
                cost_usd=0.0125,
            ),
        ),
        (
            "codex_responses",
            {
                "input_tokens": 100,
                "output_tokens": 20,
                "input_tokens_details": {"cached_tokens": 60},
                "output_tokens_details": {"reasoning_tokens": 8},
            },
            Usage(
                input_tokens=100,
                output_tokens=20,
                total_tokens=120,
                cached_tokens=60,
                reasoning_tokens=8,
            ),
        ),
        (  # what was cached is not part of what Anthropic calls input
            "anthropic_messages",
            {
                "input_tokens": 10,
                "output_tokens": 20,
                "cache_read_input_tokens": 60,
                "cache_creation_input_tokens": 30,
            },
            Usage(
                input_tokens=100,
                output_tokens=20,
                total_tokens=120,
                cached_tokens=60,
                cache_write_tokens=30,
            ),
        ),
    ],
)
def test_usage_is_read_from_every_vendor(
    api_mode: str, reported: dict[str, Any], read: Usage
) -> None:
    assert usage_of(api_mode, reported) == read


@pytest.mark.parametrize("cost", ["0.1", True, -1, float("nan"), float("inf"), None, {}])
def test_a_cost_that_is_none_is_unknown(cost: Any) -> None:
    reported = {"prompt_tokens": 1, "completion_tokens": 1, "cost": cost}
    assert usage_of("chat_completions", reported).cost_usd is None


def usage_of(api_mode: str, reported: dict[str, Any]) -> Usage:
    builder = ReplyBuilder(on_text=lambda _: None, on_reasoning=lambda _: None)
    dialect_for(api_mode).read_whole({**ANSWERS[api_mode], "usage": reported}, builder)
    usage = builder.build().usage
    assert usage is not None
    return usage
