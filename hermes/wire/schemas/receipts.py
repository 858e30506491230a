"""Receipts: what a run did, and undoing it."""

from __future__ import annotations

from hermes.core.runs import RunStatus
from hermes.core.shadow import Fate
from hermes.wire.receipts import REASONS
from hermes.wire.schemas.builders import (
    OBJECT,
    Schema,
    boolean,
    constant,
    integer,
    list_of,
    number,
    one_of,
    or_null,
    record,
    ref,
    string,
)
from hermes.wire.schemas.description import Description, answers_json, path, query
from hermes.wire.schemas.runs import AREA, USAGE

_STORE = 503
_ID = path("run_id", "The id of a run.")
_NAME = string(shortest=1)
_STATE = or_null(
    record(
        {
            "type": one_of("file", "link", "folder"),
            "digest": or_null(string()),
            "size": integer(0),
            "mode": string(),
        }
    )
)

SCHEMAS: dict[str, Schema] = {
    "ChangedFile": record(
        {
            "path": _NAME,
            "change": one_of("created", "changed", "deleted"),
            "before": _STATE,
            "after": _STATE,
            "restorable": boolean(),
            "certain": boolean(),
            "call_ids": list_of(string()),
        }
    ),
    "Receipt": record(
        {
            "object": constant("run.receipt"),
            "run_id": _NAME,
            "status": one_of(*(status.value for status in RunStatus)),
            "workspaces": list_of(string()),
            "files": list_of(ref("ChangedFile")),
            "commands": list_of(
                record(
                    {
                        "call_id": string(),
                        "command": string(),
                        "directory": string(),
                        "exit_code": or_null(integer()),
                        "seconds": number(0),
                        "untracked": or_null(string()),
                    }
                )
            ),
            "commands_tracked": boolean(),
            "tool_calls": list_of(
                record(
                    {
                        "call_id": string(),
                        "name": string(),
                        "arguments": or_null(OBJECT),
                        "finished": boolean(),
                        "delegated_by": or_null(string()),
                    }
                )
            ),
            "usage": or_null(USAGE),
            "undone_at": or_null(number(0)),
        }
    ),
    "Undo": record(
        {
            "object": constant("run.undo"),
            "run_id": _NAME,
            "dry_run": boolean(),
            "undone_before_at": or_null(number(0)),
            "counts": record({fate.value: integer(0) for fate in Fate}),
            "files": list_of(
                record(
                    {
                        "path": _NAME,
                        "result": one_of(*(fate.value for fate in Fate)),
                        "reason": or_null(one_of(*REASONS, "system_error")),
                        "message": or_null(string()),
                        "run_id": or_null(string()),
                    }
                )
            ),
        }
    ),
}

DESCRIPTIONS = {
    "run_receipt": Description(
        summary="What a run did: files, commands, tool calls",
        area=AREA,
        parameters=(_ID,),
        answers=answers_json(
            ref("Receipt"), "The receipt; of a run at work, what there is so far."
        ),
        errors=(404, _STORE),
    ),
    "run_undo": Description(
        summary="Restore the files that a run changed",
        area=AREA,
        parameters=(
            _ID,
            query(
                "dry_run",
                "`true`: say what would happen, and change nothing.",
                one_of("true", "false"),
            ),
        ),
        answers=answers_json(ref("Undo"), "What became of each file."),
        errors=(400, 404, 409, _STORE),
    ),
}
