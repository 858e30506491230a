"""How much the models that people use can read and say at once, and what refusals tell of it.

The table is a first guess: what is configured, and what a provider states itself, comes before it.
"""

from __future__ import annotations

import functools
import re
from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Window:
    tokens: int
    """For the prompt and the answer together."""
    most_output: int = 8_192


_UNKNOWN = Window(tokens=128_000)

_FAMILIES: tuple[tuple[str, Window], ...] = (
    (r"gpt-5.*chat", Window(tokens=128_000, most_output=16_384)),
    (r"gpt-5", Window(tokens=400_000, most_output=128_000)),
    (r"gpt-4\.1", Window(tokens=1_047_576, most_output=32_768)),
    (r"(gpt-4o|chatgpt-4o)", Window(tokens=128_000, most_output=16_384)),
    (r"gpt-4(-turbo|-1106|-0125)", Window(tokens=128_000, most_output=4_096)),
    (r"gpt-4-32k", Window(tokens=32_768, most_output=4_096)),
    (r"gpt-4", Window(tokens=8_192, most_output=4_096)),
    (r"gpt-3\.5", Window(tokens=16_385, most_output=4_096)),
    (r"gpt-oss", Window(tokens=131_072, most_output=32_768)),
    (r"o1-(mini|preview)", Window(tokens=128_000, most_output=32_768)),
    (r"(o[1-9]|codex)", Window(tokens=200_000, most_output=100_000)),
    (r"claude-(2|instant)", Window(tokens=100_000, most_output=4_096)),
    (r"claude-3-[57]", Window(tokens=200_000, most_output=8_192)),
    (r"claude-3", Window(tokens=200_000, most_output=4_096)),
    (r"claude", Window(tokens=200_000, most_output=32_000)),
    (r"gemini-1\.5-pro", Window(tokens=2_097_152)),
    (r"gemini", Window(tokens=1_048_576, most_output=65_536)),
    (r"gemma-?2", Window(tokens=8_192, most_output=4_096)),
    (r"gemma", Window(tokens=128_000)),
    (r"llama-?4", Window(tokens=131_072)),
    (r"llama-?3[.-]?[1-9]", Window(tokens=131_072)),
    (r"llama-?3", Window(tokens=8_192, most_output=4_096)),
    (r"llama-?2", Window(tokens=4_096, most_output=2_048)),
    (r"codestral", Window(tokens=256_000)),
    (r"mixtral-8x22b", Window(tokens=65_536)),
    (r"(mixtral|mistral-7b|open-mistral-7b)", Window(tokens=32_768)),
    (r"(mistral|ministral|devstral|magistral|pixtral)", Window(tokens=128_000)),
    (r"qwen-?3.*(coder|max|2507)", Window(tokens=262_144, most_output=32_768)),
    (r"qwen-?3", Window(tokens=40_960)),
    (r"(qwen|qwq)", Window(tokens=32_768)),
    (r"deepseek", Window(tokens=131_072)),
    (r"grok-4.*fast", Window(tokens=2_000_000)),
    (r"grok-(4|code)", Window(tokens=256_000)),
    (r"grok", Window(tokens=131_072)),
    (r"kimi", Window(tokens=131_072)),
    (r"glm-4\.[6-9]", Window(tokens=200_000)),
    (r"glm", Window(tokens=128_000)),
    (r"minimax", Window(tokens=200_000)),
    (r"command-a", Window(tokens=256_000)),
    (r"command", Window(tokens=128_000, most_output=4_096)),
    (r"phi-?4-(mini|multimodal)", Window(tokens=128_000)),
    (r"phi-?4", Window(tokens=16_384)),
    (r"nova-(lite|pro)", Window(tokens=300_000)),
    (r"demo", Window(tokens=1_000_000)),
)
"""Beginnings of names, the longer before the shorter: the first that fits decides."""

_KNOWN = tuple((re.compile(pattern), window) for pattern, window in _FAMILIES)

_NUMBER = r"\(?(\d[\d,_]{2,11})\b"
_STATED = tuple(
    re.compile(pattern + _NUMBER, re.IGNORECASE)
    for pattern in (
        r"maximum context (?:length|size|window) (?:is|of) ",
        r"(?:tokens?|\d) ?> ?",
        r"maximum number of (?:input )?tokens(?: allowed)? (?:is |of )?",
        r"context (?:window|length|size|limit)(?: limit)?(?: is| of|:)? ?",
        r"n_ctx\D{1,5}",
        r"maximum (?:prompt|input|allowed)[^.\d]{0,40}? (?:is|of) ",
    )
)
_LEAST, _MOST = 1_000, 20_000_000


@functools.lru_cache(maxsize=256)
def window_of(model: str) -> Window:
    """By the model's name; a `vendor/` prefix is fine."""
    name = model.rsplit("/", 1)[-1].lower()
    return next((window for known, window in _KNOWN if known.match(name)), _UNKNOWN)


def stated_window(message: str) -> int | None:
    """The window that a provider names in its refusal of a prompt; None where it names none."""
    for stated in _STATED:
        found = stated.search(message)
        tokens = int(re.sub(r"\D", "", found[1])) if found else 0
        if _LEAST <= tokens <= _MOST:
            return tokens
    return None
