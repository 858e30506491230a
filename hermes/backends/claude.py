"""The `claude` CLI: how it is called, and what its output means. Pure; starts nothing.

It prints one JSON object per line, may print several `result` lines, and may exit with 0 although
the run failed: success is exit code 0 *and* a last result that is no error.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import reduce
from operator import add
from typing import Any

from hermes.backends.process import Completed
from hermes.core.turn import Usage

MODELS = ("haiku", "sonnet", "opus")
DEFAULT_MODEL = "sonnet"

ARGUMENT_LIMIT = 100 * 1024
"""Linux refuses an argument over 128 KiB; a longer prompt goes through stdin."""

GUARDS = (
    # A checked-out repository may bring hooks, a key helper or another base URL: its settings
    # stay unread.
    ("--setting-sources", "user"),
    # Nor may it bring servers of its own to start.
    ("--strict-mcp-config",),
)
"""Given to every run unless the operator's command says something about them."""

Json = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Plan:
    """How to call the CLI for one prompt."""

    argv: tuple[str, ...]
    stdin: bytes | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Answered:
    """The run ended well."""

    text: str
    usage: Usage = field(default_factory=Usage)
    cost_usd: float | None = None
    session_id: str | None = None


@dataclass(frozen=True, slots=True)
class Failed:
    """The run ended without an answer; `message` is the CLI's own where it gave one."""

    message: str


Reply = Answered | Failed


def plan(command: tuple[str, ...], model: str, prompt: str) -> Plan:
    guards = [word for guard in GUARDS if guard[0] not in command for word in guard]
    flags = ("-p", "--output-format", "stream-json", "--verbose", "--model", model)
    # A prompt that begins with a slash would be a command to the CLI itself; a space makes it text.
    text = f" {prompt}" if prompt.startswith("/") else prompt
    if len(text.encode()) > ARGUMENT_LIMIT:
        return Plan((*command, *guards, *flags), stdin=text.encode())
    return Plan((*command, *guards, *flags, "--", text))


def read_reply(run: Completed) -> Reply:
    """What the finished run amounts to. Never raises: the output is foreign."""
    lines = [line for line in run.stdout.decode(errors="replace").split("\n") if line.strip()]
    events = [event for line in lines if (event := _event(line)) is not None]
    results = [event for event in events if event["type"] == "result"]
    message = _failure(run, lines, events, results)
    if message is not None:
        return Failed(_encodable(message))
    if not results:
        return Answered(text="\n".join(lines))
    return _answered(results)


def _failure(
    run: Completed, lines: list[str], events: list[Json], results: list[Json]
) -> str | None:
    """Why the run failed, or None. The CLI's own words come before ours."""
    last = results[-1] if results else {}
    if last.get("is_error"):
        return _error_text(last)
    if run.returncode != 0:
        return run.stderr.strip() or _plain_tail(lines, events) or f"exit code {run.returncode}"
    if not lines:
        return run.stderr.strip() or "the CLI printed nothing"
    if _is_cut_off(lines[-1]):
        return "the CLI's output broke off in the middle of a line; try again, or update the CLI"
    if events and not results:
        return "the CLI ended without a result; try again"
    return None


def _event(line: str) -> Json | None:
    """The JSON object of a line, if it is one of the CLI's: those have a `type`."""
    try:
        value = json.loads(line)
    except (ValueError, RecursionError):
        return None
    return value if isinstance(value, dict) and isinstance(value.get("type"), str) else None


def _is_cut_off(line: str) -> bool:
    if not line.lstrip().startswith("{"):
        return False
    try:
        json.loads(line)
    except (ValueError, RecursionError):
        return True
    return False


def _error_text(result: Json) -> str:
    text = result.get("result")
    if isinstance(text, str) and text.strip():
        return text
    errors = result.get("errors")
    texts = [str(error) for error in errors] if isinstance(errors, list) else []
    return "; ".join(texts) or str(result.get("subtype") or "the CLI reported an error")


def _plain_tail(lines: list[str], events: list[Json]) -> str:
    return "" if events else "\n".join(lines[-5:])


def _answered(results: list[Json]) -> Answered:
    last = results[-1]
    text, cost, session = (last.get(key) for key in ("result", "total_cost_usd", "session_id"))
    return Answered(
        text=_encodable(text) if isinstance(text, str) else "",
        usage=_usage(results),
        cost_usd=_number(cost),
        session_id=_encodable(session) if isinstance(session, str) else None,
    )


def _usage(results: list[Json]) -> Usage:
    """All tokens of the run, those of subagents included.

    `usage` of a result leaves subagents out; `modelUsage` has them and grows from result to result.
    """
    steps = [result.get("model_usage_since_last_result") for result in results]
    if all(isinstance(step, dict) and step for step in steps):
        return _sum(_by_model(step) for step in steps)
    totals = results[-1].get("modelUsage")
    if isinstance(totals, dict) and totals:
        return _by_model(totals)
    return _sum(_of_turn(result.get("usage")) for result in results)


def _by_model(models: Any) -> Usage:
    return _sum(
        _tokens(
            plain=_count(model, "inputTokens"),
            created=_count(model, "cacheCreationInputTokens"),
            cached=_count(model, "cacheReadInputTokens"),
            output=_count(model, "outputTokens"),
            thinking=_count(model, "thinkingTokens"),
        )
        for model in models.values()
    )


def _of_turn(usage: Any) -> Usage:
    details = usage.get("output_tokens_details") if isinstance(usage, dict) else None
    return _tokens(
        plain=_count(usage, "input_tokens"),
        created=_count(usage, "cache_creation_input_tokens"),
        cached=_count(usage, "cache_read_input_tokens"),
        output=_count(usage, "output_tokens"),
        thinking=_count(details, "thinking_tokens"),
    )


def _tokens(*, plain: int, created: int, cached: int, output: int, thinking: int) -> Usage:
    """Reading and filling the cache is part of the prompt, as OpenAI counts."""
    prompt = plain + created + cached
    return Usage(
        input_tokens=prompt,
        output_tokens=output,
        total_tokens=prompt + output,
        cached_tokens=cached,
        reasoning_tokens=thinking,
    )


def _sum(usages: Iterable[Usage]) -> Usage:
    return reduce(add, usages, Usage())


def _count(record: Any, key: str) -> int:
    value = record.get(key) if isinstance(record, dict) else None
    return max(0, int(_number(value) or 0))


def _number(value: Any) -> float | None:
    """Python's reader takes `NaN` and `Infinity` for numbers; nobody else does."""
    if isinstance(value, bool) or not isinstance(value, int | float) or not abs(value) < 1e15:
        return None
    return float(value)


def _encodable(text: str) -> str:
    """JavaScript may print half a character pair; no answer of ours could carry it."""
    return text.encode(errors="replace").decode()
