"""A run from memory that changed something is kept when it is over: its deeds, not its words.

Whoever wants nothing stored still wants to know what was done to the machine, and to undo it.
"""

from __future__ import annotations

import time
from collections.abc import Iterable, Sequence
from dataclasses import replace

from hermes.core.events import (
    CommandRan,
    Delegated,
    Event,
    FilesChanged,
    RunStarted,
    ToolFinished,
    ToolStarted,
    TurnEnded,
)
from hermes.core.run_ports import NewEvent, RunStore
from hermes.core.runs import NewRun, RunStatus
from hermes.core.turn import TurnResult


def is_deed(event: Event) -> bool:
    return isinstance(event, FilesChanged | CommandRan)


def keep_deeds(
    store: RunStore, new: NewRun, seen: Sequence[Event], result: TurnResult, status: RunStatus
) -> None:
    """Store a run that is over."""
    at = time.time()
    events = [RunStarted(1), *_deeds(seen)]
    wordless = replace(result, text="", messages=(), pending=())
    store.submit(new)
    store.take_up(new.id)
    store.append([NewEvent(new.id, seq, at, event) for seq, event in enumerate(events, 1)]).result()
    last = TurnEnded(wordless, status.value)
    store.finish(status, NewEvent(new.id, len(events) + 1, at, last)).result()


def _deeds(seen: Iterable[Event]) -> list[Event]:
    return [deed for event in seen if (deed := _wordless(event)) is not None]


def _wordless(event: Event) -> Event | None:
    match event:
        case FilesChanged() | CommandRan() | ToolStarted():
            return event
        case ToolFinished(call_id, name, arguments):
            return ToolFinished(call_id, name, arguments, "")
        case Delegated(call_id, nested):
            deed = _wordless(nested)
            return None if deed is None else Delegated(call_id, deed)
        case _:
            return None
