"""The options of long contexts: how large the model's window is, and what keeps a turn in it."""

from __future__ import annotations

from dataclasses import dataclass

from hermes.settings import kinds
from hermes.settings.option import Option

_WINDOW = kinds.whole_number(1_000, 100_000_000)


@dataclass(frozen=True, slots=True, kw_only=True)
class ContextSettings:
    """When a conversation is made shorter for its model, and by whom."""

    compress_at: float = 0.8
    """The part of the window that a prompt may take."""
    summary_model: str | None = None
    """The name of the model alias that writes summaries; None: the model that answers."""


CONTEXT_OPTIONS = (
    Option(
        name="agent.context_window",
        kind=_WINDOW,
        config="context.window",
        default="known by the model's name, else 128000",
        sentence="How many tokens the model can read and write at once.",
    ),
    Option(
        name="fallback.context_window",
        kind=_WINDOW,
        config="fallback.context_window",
        default="known by the model's name, else 128000",
        sentence="The same of the fallback model.",
    ),
    Option(
        name="context.compress_at",
        kind=kinds.share(0.3, 0.95),
        config="context.compress_at",
        default="0.8",
        sentence="The part of the window that a prompt may take before older turns are summarised.",
    ),
    Option(
        name="context.summary_model",
        kind=kinds.LINE,
        config="context.summary_model",
        default="the model that answers",
        sentence="The name in `models` of the model that writes the summaries.",
    ),
)
