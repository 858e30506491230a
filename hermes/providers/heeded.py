"""Which of a request's sampling parameters a dialect passes on to its provider.

The dialects word what `heeded` leaves over and the server names what it took away, so that what a
client is told and what a provider is asked cannot differ.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields, replace
from typing import Any

from hermes.core.turn import Sampling
from hermes.providers.anthropic_blocks import API_MODE as ANTHROPIC
from hermes.providers.prompt import asks_to_think, is_openai_reasoning_model
from hermes.providers.responses_input import API_MODE as RESPONSES

DEMO = "demo"
"""Stands where an api mode would: the demo model speaks chat completions and heeds little."""

CLI = "cli"
"""The same for a CLI agent, which words its requests itself."""

NOTHING_ASKED = Sampling()
_DEFAULTS: Mapping[str, Any] = {entry.name: entry.default for entry in fields(Sampling)}
_PENALTIES = frozenset({"presence_penalty", "frequency_penalty"})
_CHANCE = frozenset({"temperature", "top_p"})
_UNKNOWN: Mapping[str, frozenset[str]] = {
    RESPONSES: _PENALTIES | {"stop", "seed"},
    ANTHROPIC: _PENALTIES | {"seed"},
    DEMO: _PENALTIES | _CHANCE | {"seed"},
    CLI: frozenset(_DEFAULTS),
}
_REFUSED_BY_REASONERS = _PENALTIES | _CHANCE | {"stop"}
_WARMEST_ANTHROPIC = 1.0


def heeded(
    api_mode: str, model: str, sampling: Sampling, reasoning_effort: str | None = None
) -> Sampling:
    """What of `sampling` reaches the provider; the rest is as if nobody had asked for it.

    Most requests ask for nothing; the answer is then `NOTHING_ASKED` itself.
    """
    if sampling == NOTHING_ASKED:
        return NOTHING_ASKED
    left_out = _UNKNOWN.get(api_mode, frozenset())
    if api_mode == ANTHROPIC:
        sampling = _within_anthropic_bounds(sampling)
        left_out |= _refused_by_anthropic(sampling, reasoning_effort)
    elif is_openai_reasoning_model(model):
        left_out |= _REFUSED_BY_REASONERS
    return replace(sampling, **{name: _DEFAULTS[name] for name in left_out})


def ignored_parameters(
    api_mode: str, model: str, sampling: Sampling, reasoning_effort: str | None = None
) -> tuple[str, ...]:
    """The names of the parameters that do not reach the provider as they were asked for."""
    kept = heeded(api_mode, model, sampling, reasoning_effort)
    return tuple(name for name in _DEFAULTS if getattr(sampling, name) != getattr(kept, name))


def _refused_by_anthropic(sampling: Sampling, reasoning_effort: str | None) -> frozenset[str]:
    """Thinking allows neither, newer models not both."""
    if asks_to_think(reasoning_effort):
        return _CHANCE
    return frozenset({"top_p"}) if sampling.temperature is not None else frozenset()


def _within_anthropic_bounds(sampling: Sampling) -> Sampling:
    """OpenAI's temperatures go up to 2, Anthropic's to 1; a stop sequence there is never blank."""
    temperature = sampling.temperature
    return replace(
        sampling,
        temperature=None if temperature is None else min(temperature, _WARMEST_ANTHROPIC),
        stop=tuple(sequence for sequence in sampling.stop if sequence.strip()),
    )
