"""Running a sub-agent: its turn is one tool call of the agent that sends it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from hermes.agent.loop import converse
from hermes.agent.seams import AgentSeams
from hermes.core.events import (
    CommandRan,
    Delegated,
    Emit,
    Event,
    FilesChanged,
    MessageKept,
    ReasoningDelta,
    SegmentEnd,
    TextDelta,
)
from hermes.core.turn import Outcome, TurnResult, Usage
from hermes.tools.errand import Errand

BRIEF = (
    "You are a sub-agent: another agent has given you one task and reads only your final answer. "
    "Do the task, then report briefly what you found and did, with the names of files, and what "
    "is left open. Nobody can be asked; where something is unclear, choose and say so."
)
NOT_FOR_SUB_AGENTS = frozenset({"delegation", "questions"})
"""The toolsets they never have: they send nobody and ask nobody."""

SeamsFor = Callable[[Errand, Emit], AgentSeams]


def run_errand(
    errand: Errand, seams_for: SeamsFor, emit: Emit, count: Callable[[Usage], None]
) -> str:
    """The sub-agent's report, or how it failed. What happens on the way is told as it happens."""
    told = _nested(errand.call_id, emit)
    seams = seams_for(errand, told)
    seams = replace(seams, record=lambda message, _used: told(MessageKept(message)))
    result = converse(seams, errand.task, ())
    count(result.usage)
    return _report(result)


def _nested(call_id: str, emit: Emit) -> Emit:
    def tell(event: Event) -> None:
        match event:
            case TextDelta() | ReasoningDelta() | SegmentEnd():
                pass  # its messages are told when they are whole
            case FilesChanged() | CommandRan():
                emit(event)  # whoever did it, the run did
            case _:
                emit(Delegated(call_id, event))

    return tell


def _report(result: TurnResult) -> str:
    if result.outcome is Outcome.COMPLETED:
        return result.text
    begun = f"\nWhat it said so far:\n{result.text}" if result.text else ""
    return f"The sub-agent did not finish: {result.error or result.outcome.value}{begun}"
