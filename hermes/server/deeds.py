"""What runs did to the machine, kept: of runs from memory, after a crash, and not for ever."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Collection, Sequence
from dataclasses import replace

from hermes.core.events import Event, ToolFinished, ToolStarted
from hermes.core.messages import Message, tool_calls_of
from hermes.core.runs import NewRun, RunStatus
from hermes.core.turn import TurnCall, TurnResult
from hermes.runs.keeping_deeds import keep_deeds
from hermes.runs.passing import PassingRun
from hermes.server.seams import Seams
from hermes.wire.body import parse_object
from hermes.wire.transcript import turn_messages

log = logging.getLogger(__name__)


def keep_when_over(
    seams: Seams, run: PassingRun, call: TurnCall, new: Callable[[], NewRun]
) -> None:
    """If this run does something, its receipt outlives it. `new` is what it is kept as."""

    def keep(result: TurnResult, status: RunStatus) -> None:
        seams.runs.keep(_keep(seams, run, call, new(), result, status))

    run.keep = keep


async def _keep(
    seams: Seams,
    run: PassingRun,
    call: TurnCall,
    new: NewRun,
    result: TurnResult,
    status: RunStatus,
) -> None:
    events: list[Event] = run.feed.happened()
    if run.feed.is_quiet:
        events = [*_called(turn_messages(call.history, call.opening, result)), *events]
    kept = replace(new, id=run.id, session_id=None, idempotency=None)
    await seams.runs.in_store(lambda store: keep_deeds(store, kept, events, result, status))


def _called(messages: Sequence[Message]) -> list[Event]:
    """The calls of a turn of which nobody told while they were made."""
    answered = {str(message.get("tool_call_id")) for message in messages}
    events: list[Event] = []
    for call in (call for message in messages for call in tool_calls_of(message)):
        call_id, function = str(call.get("id")), call.get("function") or {}
        name, arguments = str(function.get("name")), _arguments(function.get("arguments"))
        if call_id in answered:
            events += [
                ToolStarted(call_id, name, arguments),
                ToolFinished(call_id, name, arguments, ""),
            ]
    return events


def _arguments(written: object) -> dict[str, object]:
    try:
        return parse_object(str(written or "{}").encode())
    except Exception:  # noqa: BLE001  a model may write anything as arguments
        return {"arguments": written}


async def settle_deeds(seams: Seams) -> None:
    """For the start: what a dead process was about to change is compared now."""
    shadow = seams.shadow()
    if shadow is not None:
        await _guarded(seams, shadow.settle)


async def sweep_deeds(seams: Seams) -> None:
    """What belongs to no run any more, is too old or too much, goes."""
    shadow = seams.shadow()
    if shadow is None:
        return

    def kept(run_ids: Collection[str]) -> set[str]:
        store = seams.runs_store()
        return {each for each in run_ids if seams.passing.knows(each) or store.get(each)}

    await _guarded(seams, lambda: shadow.sweep(kept, time.time()))


async def _guarded(seams: Seams, work: Callable[[], None]) -> None:
    try:
        await seams.storage.run(work)
    except Exception:  # the store may be full or locked; runs matter more than receipts
        log.exception("receipts not kept in order")
