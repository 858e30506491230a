"""What is known of the models' windows, and what refusals tell of them."""

from __future__ import annotations

import pytest

from hermes.providers.windows import stated_window, window_of


@pytest.mark.parametrize(
    ("model", "tokens"),
    [
        ("gpt-5-mini", 400_000),
        ("gpt-5-chat-latest", 128_000),
        ("gpt-4o-mini", 128_000),
        ("gpt-4-0613", 8_192),
        ("gpt-4.1-nano", 1_047_576),
        ("o3", 200_000),
        ("openai/o4-mini", 200_000),
        ("claude-sonnet-4-5", 200_000),
        ("anthropic/claude-3.5-haiku", 200_000),
        ("google/gemini-2.5-flash", 1_048_576),
        ("meta-llama/Llama-3.1-8B-Instruct", 131_072),
        ("llama3:8b", 8_192),
        ("llama3.2", 131_072),
        ("qwen2.5-coder:7b", 32_768),
        ("Qwen/Qwen3-Coder-480B", 262_144),
        ("something-of-my-own", 128_000),
        ("", 128_000),
    ],
)
def test_families_are_known_by_the_beginning_of_their_names(model: str, tokens: int) -> None:
    window = window_of(model)
    assert window.tokens == tokens
    assert 0 < window.most_output < window.tokens


@pytest.mark.parametrize(
    ("message", "tokens"),
    [
        (
            "This model's maximum context length is 8192 tokens. However, your messages resulted "
            "in 9012 tokens. Please reduce the length of the messages.",
            8_192,
        ),
        ("prompt is too long: 210532 tokens > 200000 maximum", 200_000),
        (
            "input length and `max_tokens` exceed context limit: 188240 + 21333 > 200000, decrease",
            200_000,
        ),
        (
            "The input token count (1200000) exceeds the maximum number of tokens allowed "
            "(1048576).",
            1_048_576,
        ),
        ("the request exceeds the available context size (4096 tokens), try increasing it", 4_096),
        ("Requested tokens exceed context window of 2048", 2_048),
        ("the maximum prompt length is 131072 but the request has 140000", 131_072),
        ("This model's maximum context length is 32,768 tokens", 32_768),
        ("Your input exceeds the context window of this model.", None),
        ("The context window is 12 tokens", None),
        ("no explanation", None),
    ],
)
def test_a_refusal_may_state_the_window(message: str, tokens: int | None) -> None:
    assert stated_window(message) == tokens
