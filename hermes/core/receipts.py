"""What a run did, read from its events: files changed on balance, commands, tool calls."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any

from hermes.core.changes import FileChange
from hermes.core.events import (
    CommandRan,
    Delegated,
    Event,
    FilesChanged,
    ToolFinished,
    ToolStarted,
)

KINDS = ("tool.started", "tool.finished", "files.changed", "command.ran", "delegate.event")
"""The types of events that a receipt is made of, as logs name them."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ChangedFile:
    """A file, from before the first change of the run to after the last."""

    root: str
    change: FileChange
    call_ids: tuple[str, ...]

    @property
    def has_changed(self) -> bool:
        """False for what the run made and removed again."""
        before, after = self.change.before, self.change.after
        return before != after or (before is not None and not before.is_known)


@dataclass(frozen=True, slots=True, kw_only=True)
class CalledTool:
    call_id: str
    name: str
    arguments: Mapping[str, Any]
    is_finished: bool = False
    delegated_by: str | None = None
    """The call that sent the sub-agent which made this one."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Receipt:
    files: tuple[ChangedFile, ...]
    commands: tuple[CommandRan, ...]
    calls: tuple[CalledTool, ...]


def receipt_of(events: Iterable[Event]) -> Receipt:
    """Events of other types are passed over."""
    files: dict[str, ChangedFile] = {}
    commands: list[CommandRan] = []
    calls: dict[str, CalledTool] = {}
    for event in events:
        if isinstance(event, FilesChanged):
            for change in event.changes:
                files[change.path] = _on_balance(files.get(change.path), event, change)
        elif isinstance(event, CommandRan):
            commands.append(event)
        else:
            _note_call(calls, event)
    changed = sorted(
        (file for file in files.values() if file.has_changed), key=lambda file: file.change.path
    )
    return Receipt(files=tuple(changed), commands=tuple(commands), calls=tuple(calls.values()))


def _on_balance(
    earlier: ChangedFile | None, event: FilesChanged, change: FileChange
) -> ChangedFile:
    if earlier is None:
        return ChangedFile(root=event.root, change=change, call_ids=(event.call_id,))
    first = earlier.change
    calls = tuple(dict.fromkeys((*earlier.call_ids, event.call_id)))
    # Where one change does not begin with what the one before left, somebody else was here.
    is_sure = first.is_sure and change.is_sure and first.after == change.before
    return ChangedFile(
        root=event.root,
        change=replace(first, after=change.after, is_sure=is_sure),
        call_ids=calls,
    )


def _note_call(calls: dict[str, CalledTool], event: Event, by: str | None = None) -> None:
    match event:
        case ToolStarted(call_id, name, arguments):
            calls[f"{by}/{call_id}"] = CalledTool(
                call_id=call_id, name=name, arguments=arguments, delegated_by=by
            )
        case ToolFinished(call_id) if f"{by}/{call_id}" in calls:
            begun = calls[f"{by}/{call_id}"]
            calls[f"{by}/{call_id}"] = replace(begun, is_finished=True)
        case Delegated(call_id, nested):
            _note_call(calls, nested, call_id)
        case _:
            pass
