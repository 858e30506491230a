"""Running the tools a reply asks for, in view of whoever watches.

One after another, but for neighbours that say they may run beside each other.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

import orjson

from hermes.agent.approving import CHANGED, FREE, Clearance, decided
from hermes.agent.seams import AgentSeams
from hermes.core import messages
from hermes.core.errors import Interrupted
from hermes.core.events import ToolFinished, ToolStarted
from hermes.core.ids import new_id
from hermes.core.messages import Message
from hermes.core.turn import Resumption
from hermes.fibers import blocking, blocking_all
from hermes.providers.reply import Reply, ToolCall

Cleared = tuple[ToolCall, Clearance]

MOST_AT_ONCE = 8
OVER_LIMIT = "Not run: no more tool calls are allowed in this turn. Answer with what you know."


def with_distinct_ids(reply: Reply, before: Sequence[Message]) -> Reply:
    """Some models use the id of an earlier call again; what was decided about that one must not
    be mistaken for a decision about this one."""
    if reply.replay is not None:
        return reply  # the provider wants to see its own ids again, and keeps them apart itself
    taken = {str(call.get("id")) for message in before for call in messages.tool_calls_of(message)}
    calls: list[ToolCall] = []
    for call in reply.tool_calls:
        calls.append(replace(call, id=new_id("call_")) if call.id in taken else call)
        taken.add(call.id)
    return replace(reply, tool_calls=tuple(calls))


def clearances(
    seams: AgentSeams, calls: Sequence[ToolCall], *, already: int, resumption: Resumption | None
) -> list[Clearance]:
    """What becomes of each call, as far as it can be told before any of them is made.

    `already` calls were made before in this turn; those over the client's limit are not made.
    """
    approver = seams.approver()
    if approver is None and resumption is None:
        return [_within_limit(seams, made) or FREE for made, _ in enumerate(calls, start=already)]
    return blocking(
        lambda: [
            (resumption and decided(call, resumption))
            or _within_limit(seams, made)
            or (FREE if approver is None else approver.clear(call))
            for made, call in enumerate(calls, start=already)
        ]
    )


def run_tool_calls(
    seams: AgentSeams, calls: Sequence[ToolCall], cleared: Sequence[Clearance]
) -> Iterator[Message]:
    """The tool messages that answer `calls`, in their order, each as soon as it can be told."""
    has_run = False
    for group in _groups(seams, list(zip(calls, cleared, strict=True))):
        if seams.is_interrupted():
            raise Interrupted("The turn was interrupted.")
        if has_run:
            group = [(call, _looked_at_again(seams, call, old)) for call, old in group]
        outputs = _run_beside(seams, [each for each in group if each[1].refusal is None])
        has_run = has_run or bool(outputs)
        for call, clearance in group:
            refusal = clearance.refusal
            told = outputs[call.id] if refusal is None else refusal
            yield messages.tool(call.id, call.name, told)


def _groups(seams: AgentSeams, cleared: Sequence[Cleared]) -> Iterator[list[Cleared]]:
    """Calls that may run beside each other stand together; every other one is alone."""
    group: list[Cleared] = []
    for each in cleared:
        tool = seams.registry.get(each[0].name)
        is_parallel = tool is not None and tool.is_parallel
        if group and (not is_parallel or len(group) == MOST_AT_ONCE):
            yield group
            group = []
        group.append(each)
        if not is_parallel:
            yield group
            group = []
    if group:
        yield group


def _run_beside(seams: AgentSeams, cleared: Sequence[Cleared]) -> dict[str, str]:
    """The outputs of calls that run at the same time, by call id."""
    if not cleared:
        return {}
    shown = {call.id: _shown_arguments(call.arguments) for call, _ in cleared}
    for call, _ in cleared:
        seams.emit(ToolStarted(call.id, call.name, shown[call.id]))
    if seams.link is not None:
        # Whoever goes on after a crash must know that these were begun.
        seams.link.barrier()

    def run(call: ToolCall, clearance: Clearance) -> str:
        output = seams.run_tool(call)
        if clearance.note:
            output = f"{output}\n{clearance.note}"
        seams.emit(ToolFinished(call.id, call.name, shown[call.id], output))
        return output

    works = [partial(run, call, clearance) for call, clearance in cleared]
    outputs = [blocking(works[0])] if len(works) == 1 else blocking_all(works)
    return {call.id: output for (call, _), output in zip(cleared, outputs, strict=True)}


def _within_limit(seams: AgentSeams, made: int) -> Clearance | None:
    limit = seams.parameters.max_tool_calls
    return Clearance(refusal=OVER_LIMIT) if limit is not None and made >= limit else None


def _looked_at_again(seams: AgentSeams, call: ToolCall, old: Clearance) -> Clearance:
    """A call before this one may have changed where its path leads."""
    approver = seams.approver()
    if approver is None or old is not FREE:
        return old
    clearance = blocking(partial(approver.clear, call))
    return clearance if clearance.question is None else Clearance(refusal=CHANGED)


def _shown_arguments(arguments: str) -> Mapping[str, Any]:
    """Arguments for display. What is wrong with them is told to the model by the tool registry."""
    try:
        parsed = orjson.loads(arguments or "{}")
    except orjson.JSONDecodeError:
        return {"arguments": arguments}
    return parsed if isinstance(parsed, dict) else {"arguments": parsed}
