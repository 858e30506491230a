"""Running the tools a reply asks for, one after another, in view of whoever watches."""

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
from hermes.fibers import blocking
from hermes.providers.reply import Reply, ToolCall

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
    """The tool messages that answer `calls`, each as soon as its tool is done."""
    has_run = False
    for call, clearance in zip(calls, cleared, strict=True):
        if seams.is_interrupted():
            raise Interrupted("The turn was interrupted.")
        if has_run and clearance is FREE:
            clearance = _looked_at_again(seams, call)
        if clearance.refusal is not None:
            yield messages.tool(call.id, call.name, clearance.refusal)
            continue
        has_run = True
        yield messages.tool(call.id, call.name, _run(seams, call, clearance))


def _run(seams: AgentSeams, call: ToolCall, clearance: Clearance) -> str:
    shown = _shown_arguments(call.arguments)
    seams.emit(ToolStarted(call.id, call.name, shown))
    if seams.link is not None:
        # Whoever goes on after a crash must know that this was begun.
        seams.link.barrier()
    output = blocking(partial(seams.run_tool, call.name, call.arguments))
    if clearance.note:
        output = f"{output}\n{clearance.note}"
    seams.emit(ToolFinished(call.id, call.name, shown, output))
    return output


def _within_limit(seams: AgentSeams, made: int) -> Clearance | None:
    limit = seams.parameters.max_tool_calls
    return Clearance(refusal=OVER_LIMIT) if limit is not None and made >= limit else None


def _looked_at_again(seams: AgentSeams, call: ToolCall) -> Clearance:
    """A call before this one may have changed where its path leads."""
    approver = seams.approver()
    if approver is None:
        return FREE
    clearance = blocking(partial(approver.clear, call))
    return clearance if clearance.question is None else Clearance(refusal=CHANGED)


def _shown_arguments(arguments: str) -> Mapping[str, Any]:
    """Arguments for display. What is wrong with them is told to the model by the tool registry."""
    try:
        parsed = orjson.loads(arguments or "{}")
    except orjson.JSONDecodeError:
        return {"arguments": arguments}
    return parsed if isinstance(parsed, dict) else {"arguments": parsed}
