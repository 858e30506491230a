"""Receipts on the wire: what a run did, and what became of it when it was undone."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from types import MappingProxyType
from typing import Any

from hermes.core.changes import FileState
from hermes.core.errors import Conflict
from hermes.core.events import CommandRan, is_internal
from hermes.core.receipts import CalledTool, ChangedFile, Receipt
from hermes.core.runs import Run
from hermes.core.shadow import Fate, FileFate

REASONS: Mapping[str, str] = MappingProxyType(
    {
        "edited_since": "It has been changed since the run ended.",
        "uncertain": "Somebody else may have changed it while the run was at work.",
        "not_restorable": "What it was is not kept: it is too large, or too long ago.",
        "outside": "It is not in the workspace.",
        "not_empty": "There is something in this folder that stays.",
        "in_the_way": "Something that is no folder stands where its folder was.",
    }
)
"""Why a file was kept, by the codes of the shadow store."""


def receipt_object(
    run: Run, receipt: Receipt, *, lost: Collection[str], undone_at: float | None
) -> dict[str, Any]:
    """`lost`: the paths whose content from before is not kept."""
    untracked = [command for command in receipt.commands if command.untracked is not None]
    return {
        "object": "run.receipt",
        "run_id": run.id,
        "status": run.status.value,
        "workspaces": sorted({_shown(file.root) for file in receipt.files if file.root}),
        "files": [_file(file, lost) for file in receipt.files],
        "commands": [_command(command) for command in receipt.commands],
        "commands_tracked": not untracked,
        "tool_calls": [_call(call) for call in receipt.calls],
        "usage": dict(run.usage) if run.usage else None,
        "undone_at": undone_at,
    }


def undo_object(
    run: Run, fates: Sequence[tuple[str, FileFate]], *, is_dry: bool, undone_at: float | None
) -> dict[str, Any]:
    """`fates` with their workspaces; `undone_at` is the time of an undoing before this one."""
    counted = Counter(fate.fate for _, fate in fates)
    return {
        "object": "run.undo",
        "run_id": run.id,
        "dry_run": is_dry,
        "undone_before_at": undone_at,
        "counts": {fate.value: counted[fate] for fate in Fate},
        "files": [_fate(root, fate) for root, fate in fates],
    }


def still_at_work(run: Run) -> Conflict:
    return Conflict(
        f"Run {run.id} is {run.status.value}; it can be undone when it is over. Stop it with "
        f"POST /v1/runs/{run.id}/stop, or wait.",
        code="run_not_finished",
    )


def _file(file: ChangedFile, lost: Collection[str]) -> dict[str, Any]:
    change = file.change
    return {
        "path": _relative(file.root, change.path),
        "change": _kind_of_change(file),
        "before": _state(change.before),
        "after": _state(change.after),
        "restorable": change.is_sure and change.path not in lost and _is_inside(file),
        "certain": change.is_sure,
        "call_ids": list(file.call_ids),
    }


def _kind_of_change(file: ChangedFile) -> str:
    if file.change.before is None:
        return "created"
    return "deleted" if file.change.after is None else "changed"


def _state(state: FileState | None) -> dict[str, Any] | None:
    if state is None:
        return None
    kind = "folder" if state.is_folder else "link" if state.is_link else "file"
    return {
        "type": kind,
        "digest": None if state.digest is None else f"sha256:{state.digest}",
        "size": state.size,
        "mode": f"{state.mode:04o}",
    }


def _command(command: CommandRan) -> dict[str, Any]:
    return {
        "call_id": command.call_id,
        "command": command.command,
        "directory": _shown(command.directory),
        "exit_code": command.exit_code,
        "seconds": command.seconds,
        "untracked": command.untracked,
    }


def _call(call: CalledTool) -> dict[str, Any]:
    return {
        "call_id": call.call_id,
        "name": call.name,
        "arguments": None if is_internal(call.name) else dict(call.arguments),
        "finished": call.is_finished,
        "delegated_by": call.delegated_by,
    }


def _fate(root: str, fate: FileFate) -> dict[str, Any]:
    reason = fate.reason
    if fate.fate is Fate.FAILED:
        reason = "system_error"
    message = None if fate.reason is None else REASONS.get(fate.reason, fate.reason)
    return {
        "path": _relative(root, fate.path),
        "result": fate.fate.value,
        "reason": reason,
        "message": message,
        "run_id": fate.run_id,
    }


def _is_inside(file: ChangedFile) -> bool:
    return file.change.path.startswith(f"{file.root}/")


def _relative(root: str, path: str) -> str:
    return _shown(path.removeprefix(f"{root}/") if root else path)


def _shown(path: str) -> str:
    """File names are bytes, and need not be text."""
    return path.encode("utf-8", "surrogateescape").decode("utf-8", "replace")
