"""What a job of Claude Code used.

Its result lines tell it in three ways: `model_usage_since_last_result` (newer versions) counts each
result's own share; `modelUsage` counts the process, or in some versions the whole resumed session;
`usage` leaves sub-agents out. A run that was stopped tells nothing: then what the provider counted
is taken from its stream.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from functools import reduce
from operator import add

from hermes.backends.drivers.foreign_json import Json, at, count, inner, text
from hermes.core.tokens import text_tokens
from hermes.core.usage import NO_USAGE, Usage


class UsageCount:
    """Adds up results, and what was heard where a result has nothing to say."""

    def __init__(self) -> None:
        self._used = NO_USAGE
        self._heard = _Heard()

    def hear(self, event: Json, agent: str | None) -> None:
        """An event of the provider's stream; `agent` tells whose, as several work at once."""
        self._heard.hear(event, agent)

    def add_result(self, result: Json) -> None:
        since = result.get("model_usage_since_last_result")
        if isinstance(since, Mapping):
            self._used += _by_model(since) if since else self._heard.total
        elif models := inner(result, "modelUsage"):
            # It counts the process, so that the last result has what those before it had.
            self._used = _by_model(models)
        else:
            turn = _of_turn(result)
            self._used += turn if turn.total_tokens else self._heard.total
        self._heard = _Heard()

    @property
    def total(self) -> Usage:
        return self._used + self._heard.total


@dataclass(slots=True)
class _Call:
    """One answer of the provider's, as far as it got."""

    usage: Json
    is_counted: bool = False
    """Whether the provider has told how much it wrote; before, it only tells what it read."""
    pieces: list[str] = field(default_factory=list)

    @property
    def used(self) -> Usage:
        if self.is_counted:
            return _in_messages_terms(self.usage)
        written = max(count(self.usage, "output_tokens"), text_tokens("".join(self.pieces)))
        used = _in_messages_terms({**self.usage, "output_tokens": written})
        return replace(used, is_estimated=True)


class _Heard:
    """What the provider's stream itself says."""

    def __init__(self) -> None:
        self._calls: list[_Call] = []
        self._current: dict[str | None, _Call] = {}

    def hear(self, event: Json, agent: str | None) -> None:
        call = self._current.get(agent)
        match event.get("type"):
            case "message_start":
                self._current[agent] = _Call(inner(event, "message", "usage"))
                self._calls.append(self._current[agent])
            case "content_block_delta" if call is not None:
                call.pieces += [text(event, "delta", name) for name in ("text", "thinking")]
            case "message_delta" if call is not None:
                call.usage = {**call.usage, **inner(event, "usage")}
                # A stream that was interrupted is given an end by the CLI, which counts nothing.
                call.is_counted = count(event, "usage", "output_tokens") > 0

    @property
    def total(self) -> Usage:
        return _sum(call.used for call in self._calls)


def _of_turn(result: Json) -> Usage:
    usage = inner(result, "usage")
    return replace(_in_messages_terms(usage), cost_usd=_cost(result, "total_cost_usd"))


def _in_messages_terms(usage: Json) -> Usage:
    return _tokens(
        plain=count(usage, "input_tokens"),
        written=count(usage, "cache_creation_input_tokens"),
        cached=count(usage, "cache_read_input_tokens"),
        output=count(usage, "output_tokens"),
        thinking=count(usage, "output_tokens_details", "thinking_tokens"),
    )


def _by_model(models: Json) -> Usage:
    return _sum(_of_model(model) for model in models.values() if isinstance(model, Mapping))


def _of_model(model: Json) -> Usage:
    used = _tokens(
        plain=count(model, "inputTokens"),
        written=count(model, "cacheCreationInputTokens"),
        cached=count(model, "cacheReadInputTokens"),
        output=count(model, "outputTokens"),
        thinking=count(model, "thinkingTokens"),
    )
    return replace(used, cost_usd=_cost(model, "costUSD"))


def _tokens(*, plain: int, written: int, cached: int, output: int, thinking: int) -> Usage:
    """Reading and filling the cache is part of the input, as everywhere in the gateway."""
    read = plain + written + cached
    return Usage(
        input_tokens=read,
        output_tokens=output,
        total_tokens=read + output,
        cached_tokens=cached,
        cache_write_tokens=written,
        reasoning_tokens=thinking,
    )


def _cost(value: Json, name: str) -> float | None:
    found = at(value, name)
    is_number = isinstance(found, int | float) and not isinstance(found, bool)
    return float(found) if is_number and 0 <= found < 1e9 else None


def _sum(usages: Iterable[Usage]) -> Usage:
    return reduce(add, usages, NO_USAGE)
