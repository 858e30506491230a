"""What a job used of a Codex thread, which only ever tells its totals. Pure."""

from __future__ import annotations

from hermes.backends.drivers.foreign_json import Json, count
from hermes.core.usage import NO_USAGE, Usage


class ThreadUsage:
    """Follows the totals of a thread, and tells apart what belongs to this job."""

    def __init__(self, used_before: Usage) -> None:
        self.total = used_before
        self._before = used_before

    @property
    def spent(self) -> Usage:
        return subtract(self.total, self._before)

    def begin_at(self, total: Usage) -> None:
        """The thread itself says what it had used when it was taken up again."""
        self.total = self._before = total

    def reach(self, total: Usage) -> None:
        self.total = total


def of_server(breakdown: Json) -> Usage:
    """As `thread/tokenUsage/updated` tells it."""
    return Usage(
        input_tokens=count(breakdown, "inputTokens"),
        output_tokens=count(breakdown, "outputTokens"),
        total_tokens=count(breakdown, "totalTokens"),
        cached_tokens=count(breakdown, "cachedInputTokens"),
        cache_write_tokens=count(breakdown, "cacheWriteInputTokens"),
        reasoning_tokens=count(breakdown, "reasoningOutputTokens"),
    )


def of_exec(usage: Json) -> Usage:
    """As `turn.completed` of `codex exec --json` tells it."""
    read, written = count(usage, "input_tokens"), count(usage, "output_tokens")
    return Usage(
        input_tokens=read,
        output_tokens=written,
        total_tokens=read + written,
        cached_tokens=count(usage, "cached_input_tokens"),
        cache_write_tokens=count(usage, "cache_write_input_tokens"),
        reasoning_tokens=count(usage, "reasoning_output_tokens"),
    )


def subtract(total: Usage, before: Usage) -> Usage:
    """What came to `before`. A total that shrank belongs to another thread, and counts whole."""
    if before is NO_USAGE or total.total_tokens < before.total_tokens:
        return total
    return Usage(
        input_tokens=max(0, total.input_tokens - before.input_tokens),
        output_tokens=max(0, total.output_tokens - before.output_tokens),
        total_tokens=total.total_tokens - before.total_tokens,
        cached_tokens=max(0, total.cached_tokens - before.cached_tokens),
        cache_write_tokens=max(0, total.cache_write_tokens - before.cache_write_tokens),
        reasoning_tokens=max(0, total.reasoning_tokens - before.reasoning_tokens),
    )
