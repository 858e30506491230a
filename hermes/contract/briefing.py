"""What an `AIAgent` is told at the beginning of a turn, and for whom it works."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from hermes.agent.context_files import Surroundings
from hermes.agent.prompt import TODO_TOOL, Briefing
from hermes.agent.recalling import Plan
from hermes.core.ids import new_id
from hermes.core.memories import NOTHING, Recollection
from hermes.tools.base import Scope
from hermes.tools.registry import Registry

Agent = Any
"""`run_agent.AIAgent`, which stands a floor above."""


def scope_of(agent: Agent) -> Scope:
    """A sub-agent keeps nothing in the session of the agent that sent it, such as its plan."""
    is_stored = agent._session_db is not None  # noqa: SLF001  (the door's own state)
    return Scope(
        owner=agent.parameters.owner,
        session_id=agent.session_id,
        session_key=agent.gateway_session_key,
        run_id=agent.run_id,
        is_kept=is_stored and not agent.is_sub_agent,
        turn_id=new_id("turn_") if agent.is_sub_agent or not agent.run_id else agent.run_id,
    )


def briefing_of(agent: Agent, registry: Registry, scope: Scope) -> Briefing:
    """What belongs to a tool is told only to an agent that has the tool."""
    if agent.parameters.is_plain:
        return Briefing(added_by_caller=agent.ephemeral_system_prompt, is_plain=True)
    names, workspace = registry.names(), agent._workspace().root  # noqa: SLF001
    found = _surroundings(agent, names, workspace)
    return Briefing(
        identity=agent.identity,
        workspace=workspace,
        tools=names,
        sandbox=agent.equipment.toolbox.services.sandbox.in_words() if "terminal" in names else "",
        instructions=found.instructions,
        skills=found.skills if "skill" in names else (),
        memory=_memory(agent, names, scope),
        added_by_caller=agent.ephemeral_system_prompt,
    )


def plan_of(agent: Agent, registry: Registry, scope: Scope) -> Plan:
    has_plan = not agent.skip_memory and registry.get(TODO_TOOL) is not None
    return Plan(agent.equipment.toolbox.services.todos if has_plan else None, scope.todos)


def _surroundings(agent: Agent, names: tuple[str, ...], workspace: Path) -> Surroundings:
    if agent.skip_context_files or not names:
        return Surroundings()
    found: Surroundings = agent.equipment.context_files.of(workspace)
    return found


def _memory(agent: Agent, names: tuple[str, ...], scope: Scope) -> Recollection:
    if agent.skip_memory or "memory" not in names:
        return NOTHING
    found: Recollection = agent.equipment.recall.of(scope.memories)
    return found
