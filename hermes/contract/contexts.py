"""What keeps an agent within its model's window, made from the agent and its settings."""

from __future__ import annotations

from collections.abc import Callable
from copy import copy
from typing import Any

from hermes.agent.chain import Chain
from hermes.agent.context import ContextSeams, Rules
from hermes.agent.retrying import ask_patiently
from hermes.agent.seams import AgentSeams
from hermes.contract.agent_state import adopt_provider
from hermes.core.messages import user
from hermes.core.turn import Sampling, TurnParameters
from hermes.providers.base import Prompt
from hermes.providers.prompt import is_openai_reasoning_model
from hermes.providers.reply import Reply
from hermes.settings.model import ProviderSettings, Settings

Agent = Any
"""`run_agent.AIAgent`, which stands a floor above."""


def rules_from(settings: Settings) -> Rules:
    return Rules(compress_at=settings.context.compress_at, summarizer=settings.summarizer)


def context_seams(agent: Agent) -> ContextSeams:
    return ContextSeams(
        contexts=agent.equipment.contexts,
        provider=lambda: agent._provider,  # noqa: SLF001  (the door's own state)
        ask_aside=lambda question, most: ask_aside(agent, question, most),
    )


def ask_aside(agent: Agent, question: str, most_tokens: int) -> Reply:
    """One question to the agent's model, or to the one for summaries, that nobody hears of."""
    seams = _silent_seams(agent)

    def request() -> dict[str, Any]:
        model = seams.model()
        # What such a model thinks is taken from the same limit, and may be all of it.
        limit = None if is_openai_reasoning_model(model) else most_tokens
        prompt = Prompt(
            model=model,
            system=None,
            messages=[user(question)],
            tools=(),
            sampling=Sampling(max_tokens=limit),
        )
        return seams.dialect().request(prompt)

    return ask_patiently(seams, request, on_fallback=lambda: None)


def _silent_seams(agent: Agent) -> AgentSeams:
    other = copy(agent)
    # The door's own state, here and below.
    other._chain = _chain(agent, lambda provider: adopt_provider(other, provider))  # noqa: SLF001
    adopt_provider(other, other._chain.current)  # noqa: SLF001
    other.parameters = TurnParameters(owner=agent.parameters.owner, is_plain=True)
    for name in ("stream_delta_callback", "reasoning_callback", "_stream_callback", "run_link"):
        setattr(other, name, None)
    other._call_seams = other._fill_call_seams()  # noqa: SLF001
    seams: AgentSeams = other._fill_turn_seams(None)  # noqa: SLF001
    return seams


def _chain(agent: Agent, adopt: Callable[[ProviderSettings], None]) -> Chain:
    """The summarizer, or whoever answers."""
    summarizer = agent.equipment.contexts.rules().summarizer
    if summarizer is not None:
        return Chain((summarizer,), agent.equipment.health, adopt)
    forked: Chain = agent._chain.fork(adopt)  # noqa: SLF001
    return forked
