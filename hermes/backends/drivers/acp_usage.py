"""What a prompt used, wherever the agent tells it. Pure."""

from __future__ import annotations

from dataclasses import replace

from hermes.backends.drivers.foreign_json import Json, count, inner
from hermes.core.usage import NO_USAGE, Usage

_OF_THE_TURN = (("_meta", "usage"), ("_meta", "quota", "token_count"))


def usage_of_call(update: Json) -> Usage | None:
    """What one call of the model used, where an agent tells that while it works."""
    told = inner(update, "_meta", "usage")
    return _usage(told) if told else None


def usage_of_turn(result: Json, *, used_tools: bool) -> Usage:
    """What the turn used, as its result tells it.

    Its `usage` was seen to be that of the last call of the model: after tools it is too little.
    """
    whole = next((told for path in _OF_THE_TURN if (told := inner(result, *path))), None)
    if whole is not None:
        return _usage(whole)
    last = inner(result, "usage")
    return replace(_usage(last), is_estimated=used_tools) if last else NO_USAGE


def _usage(told: Json) -> Usage:
    thought = _first(told, "thoughtTokens", "thought_tokens")
    cached = _first(told, "cachedReadTokens", "cached_read_tokens")
    kept = _first(told, "cachedWriteTokens", "cached_write_tokens")
    written = _first(told, "outputTokens", "output_tokens") + thought
    read = _first(told, "inputTokens", "input_tokens")
    total = _first(told, "totalTokens", "total_tokens")
    # Some tell the input with what was cached and some without; the total has all of it.
    read = max(read, total - written) if total else read
    return Usage(
        input_tokens=read,
        output_tokens=written,
        total_tokens=read + written,
        cached_tokens=cached,
        cache_write_tokens=kept,
        reasoning_tokens=thought,
    )


def _first(told: Json, *names: str) -> int:
    return next((found for name in names if (found := count(told, name))), 0)
