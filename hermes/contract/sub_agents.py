"""An agent like another one, sent on an errand: the same provider, a context of its own."""

from __future__ import annotations

from copy import copy
from typing import Any

from hermes.agent.delegating import BRIEF, NOT_FOR_SUB_AGENTS
from hermes.agent.seams import AgentSeams
from hermes.contract.agent_state import adopt_provider
from hermes.contract.callbacks import callbacks_for
from hermes.core.events import Emit
from hermes.core.run_link import RunLink
from hermes.core.turn import TurnParameters
from hermes.tools.errand import Errand
from hermes.tools.problem import ToolProblem

Agent = Any
"""`run_agent.AIAgent`, which stands a floor above."""


def sub_seams(agent: Agent, errand: Errand, emit: Emit) -> AgentSeams:
    """The seams of a sub-agent. It stops when `agent` does, and asks nobody."""
    sub = copy(agent)
    # What becomes of its own calls is nothing to the agent that sent it.
    sub._chain = agent._chain.fork(lambda provider: adopt_provider(sub, provider))  # noqa: SLF001
    sub.is_sub_agent = True
    sub.enabled_toolsets = _toolsets(agent, errand)
    sub.max_iterations = min(errand.max_iterations, agent.max_iterations)
    sub.ephemeral_system_prompt = BRIEF
    sub.run_link = None
    sub.parameters = TurnParameters(
        owner=agent.parameters.owner,
        reasoning_effort=agent.parameters.reasoning_effort,
        grants=agent.parameters.grants,
    )
    told = callbacks_for(emit).as_keywords()
    # Nobody watches it write: its messages are told when they are whole.
    for name, callback in {
        **told,
        "stream_delta_callback": None,
        "reasoning_callback": None,
    }.items():
        setattr(sub, name, callback)
    sub._call_seams = sub._fill_call_seams()  # noqa: SLF001  (the door's own state)
    seams: AgentSeams = sub._fill_turn_seams(None)  # noqa: SLF001
    return seams


def run_id_of(link: RunLink | None) -> str | None:
    return None if link is None else link.run_id


def _toolsets(agent: Agent, errand: Errand) -> tuple[str, ...]:
    own = agent.enabled_toolsets
    allowed = set(agent.equipment.toolbox.whole().toolsets() if own is None else own)
    allowed -= NOT_FOR_SUB_AGENTS
    wanted = allowed if errand.toolsets is None else set(errand.toolsets)
    if not wanted <= allowed:
        raise ToolProblem(
            f"A sub-agent cannot have the toolsets {', '.join(sorted(wanted - allowed))}; "
            f"choose from: {', '.join(sorted(allowed)) or 'none'}."
        )
    return tuple(sorted(wanted))
