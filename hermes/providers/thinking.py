"""Which calls are to models that think before they speak, and may be silent for long meanwhile."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from hermes.providers.prompt import asks_to_think, is_openai_reasoning_model

_THINKS_BY_NAME = re.compile(
    r"thinking|reason|deepseek-r\d|\br1\b|\bqwq\b|magistral|grok-[4-9]|gemini-(2\.5|[3-9])-pro"
)


def is_thinking_model(model: str) -> bool:
    """Judged by its name alone. Too often is harmless: then silence is only noticed later."""
    return is_openai_reasoning_model(model) or _THINKS_BY_NAME.search(model.lower()) is not None


def thinks(body: Mapping[str, Any]) -> bool:
    """Whether this request, in any dialect, has the model think."""
    thinking = body.get("thinking")
    if isinstance(thinking, Mapping):
        return thinking.get("type") != "disabled"
    effort = _effort(body)
    if effort is not None:
        return asks_to_think(effort)
    return is_thinking_model(str(body.get("model", "")))


def _effort(body: Mapping[str, Any]) -> str | None:
    effort = body.get("reasoning_effort")
    if effort is None:
        reasoning = body.get("reasoning")
        effort = reasoning.get("effort") if isinstance(reasoning, Mapping) else None
    return effort if isinstance(effort, str) else None
