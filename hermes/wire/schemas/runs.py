"""Runs: turns with an id, a state and a log."""

from __future__ import annotations

from hermes.core.approvals import Decision
from hermes.core.runs import RunStatus, WhenBusy
from hermes.wire.run_requests import (
    LAST_EVENT_ID,
    LONGEST_SESSION_ID,
    LONGEST_STEER,
    LONGEST_TIMEOUT,
    LONGEST_WAIT,
    MOST_RUNS,
)
from hermes.wire.schemas.budgets import BUDGET, COST, TOKENS
from hermes.wire.schemas.builders import (
    OBJECT,
    Schema,
    any_of,
    boolean,
    constant,
    integer,
    list_of,
    map_of,
    number,
    one_of,
    or_null,
    record,
    ref,
    request,
    string,
    written_integer,
)
from hermes.wire.schemas.description import (
    EVENTS,
    JSON,
    Answer,
    Body,
    Description,
    answers_json,
    header,
    path,
    query,
)
from hermes.wire.schemas.errors import TURN, WITH_BODY
from hermes.wire.schemas.headers import IDEMPOTENCY_KEY, POLICY, RUN_ANSWERED, SESSION_KEY

AREA = "Runs"

_STORE = 503
_LAST_SEQ = 2**53
_ID = path("run_id", "The id of a run.")
_NAME = string(shortest=1)
_TIME = number(0)
_STATUS = one_of(*(status.value for status in RunStatus))
_ERROR = record({"code": _NAME, "message": string()})
USAGE = record(
    TOKENS,
    {
        "cached_tokens": integer(0),
        "reasoning_tokens": integer(0),
        "cache_write_tokens": integer(0),
        **COST,
    },
)
_APPROVALS = list_of(ref("Approval"))
_CAME_OF = {
    "outcome": string(),
    "output": string(),
    "error": or_null(_ERROR),
    "usage": USAGE,
}


def _event(kinds: Schema, required: dict[str, Schema], **optional: Schema) -> Schema:
    """An event of the log. What is in no log has the number 0."""
    return record(
        {"run_id": _NAME, "seq": integer(0), "at": _TIME, "type": kinds, **required}, optional
    )


_FILE_STATE = or_null(
    record(
        {
            "digest": or_null(string()),
            "mode": integer(0),
            "size": integer(0),
            "is_link": boolean(),
            "is_folder": boolean(),
        }
    )
)

SCHEMAS: dict[str, Schema] = {
    "FileChange": record(
        {"path": _NAME, "before": _FILE_STATE, "after": _FILE_STATE, "is_sure": boolean()}
    ),
    "Approval": record(
        {
            "id": _NAME,
            "code": _NAME,
            "call_id": _NAME,
            "tool": _NAME,
            "arguments": OBJECT,
            "command": string(),
            "reason": string(),
            "choices": list_of(one_of(*(decision.value for decision in Decision))),
            "expires_at": _TIME,
        }
    ),
    "Run": record(
        {
            "id": _NAME,
            "object": constant("run"),
            "status": _STATUS,
            "kind": one_of("run", "response", "chat", "session_chat"),
            "session_id": or_null(string()),
            "model": or_null(string()),
            "created_at": _TIME,
            "started_at": or_null(_TIME),
            "finished_at": or_null(_TIME),
            "attempt": integer(0),
            "last_event": integer(0),
            "has_all_events": boolean(),
            "metadata": map_of(string()),
            "disconnect": string(pattern=POLICY),
            "timeout": or_null(number(0)),
            "output": string(),
            "error": or_null(_ERROR),
            "usage": or_null(USAGE),
            "events_url": _NAME,
        },
        {
            "response_id": or_null(string()),
            "completion_id": or_null(string()),
            "queue_position": integer(0),
            "approvals": _APPROVALS,
        },
    ),
    "RunRequest": request(
        {"input": any_of(string(shortest=1), list_of(ref("ResponseInputItem"), fewest=1))},
        {
            "instructions": string(),
            "session_id": string(longest=LONGEST_SESSION_ID),
            "previous_response_id": string(),
            "conversation_history": list_of(ref("ChatMessage")),
            "model": string(),
            "metadata": map_of(string(longest=512), most=16),
            "disconnect": string(pattern=POLICY),
            "when_busy": one_of(*(policy.value for policy in WhenBusy)),
            "timeout": number(1, LONGEST_TIMEOUT),
            "wait": number(0, LONGEST_WAIT),
            "budget": BUDGET,
        },
    ),
    "RunEvent": any_of(
        _event(one_of("text.delta", "reasoning.delta"), {"delta": string()}),
        _event(constant("segment.end"), {}),
        _event(
            constant("tool.started"),
            {"call_id": string(), "name": _NAME, "arguments": or_null(OBJECT)},
        ),
        _event(
            constant("tool.progress"),
            {
                "kind": string(),
                "tool_name": or_null(string()),
                "preview": or_null(string()),
            },
        ),
        _event(
            constant("tool.finished"),
            {"call_id": string(), "name": _NAME, "output": or_null(string())},
        ),
        _event(constant("notice"), {"code": string(), "message": string()}),
        _event(
            constant("files.changed"),
            {"call_id": string(), "changes": list_of(ref("FileChange")), "root": string()},
        ),
        _event(
            constant("command.ran"),
            {
                "call_id": string(),
                "command": string(),
                "directory": string(),
                "exit_code": or_null(integer()),
                "seconds": number(0),
                "untracked": or_null(string()),
            },
        ),
        _event(constant("delegate.event"), {"call_id": string(), "event": OBJECT}),
        _event(constant("message.kept"), {"message": OBJECT}),
        _event(constant("approval.requested"), {"approval": ref("Approval")}),
        _event(
            constant("approval.decided"),
            {
                "approval_id": _NAME,
                "call_id": string(),
                "decision": one_of(*(decision.value for decision in Decision)),
                "by": string(),
            },
        ),
        _event(one_of("steer.accepted", "steer.delivered"), {"steer_id": _NAME, "text": string()}),
        _event(constant("run.queued"), {"place": integer(0)}),
        _event(constant("run.started"), {"attempt": integer(1)}),
        _event(constant("run.waiting_for_approval"), {"approvals": _APPROVALS, **_CAME_OF}),
        _event(
            one_of(*(f"run.{status.value}" for status in RunStatus if status.is_final)),
            _CAME_OF,
            tool_calls=list_of(ref("ToolCall")),
        ),
    ),
}

DESCRIPTIONS = {
    "runs": Description(
        summary="Start a run",
        area=AREA,
        parameters=(
            SESSION_KEY,
            IDEMPOTENCY_KEY,
            query(
                "wait",
                "Seconds to wait for the end of the run before answering.",
                written_integer(0, LONGEST_WAIT),
            ),
        ),
        body=Body(schema=ref("RunRequest"), example={"input": "List the files here."}),
        answers={
            200: Answer(
                about="The run, which ended while the request waited.",
                contents={JSON: ref("Run")},
                headers=RUN_ANSWERED,
            ),
            202: Answer(
                about="The run, which goes on.", contents={JSON: ref("Run")}, headers=RUN_ANSWERED
            ),
        },
        errors=(*TURN, 404),
    ),
    "run_list": Description(
        summary="One page of runs, the newest first",
        area=AREA,
        parameters=(
            query("limit", "How many at most.", written_integer(1, MOST_RUNS)),
            query("after", "The last id of the page before.", string()),
            query("status", "Only runs in these states, separated by commas.", string()),
            query("session_id", "Only runs of this session.", string()),
        ),
        answers=answers_json(
            record(
                {
                    "object": constant("list"),
                    "data": list_of(ref("Run")),
                    "first_id": or_null(string()),
                    "last_id": or_null(string()),
                    "has_more": boolean(),
                }
            ),
            "The page.",
        ),
        errors=(400, 404, _STORE),
    ),
    "run_status": Description(
        summary="One run as it stands",
        area=AREA,
        parameters=(_ID,),
        answers=answers_json(ref("Run"), "The run."),
        errors=(404, _STORE),
    ),
    "run_events": Description(
        summary="What happened in a run and still happens, as a stream",
        area=AREA,
        parameters=(
            _ID,
            query("after", "Only events after this number.", written_integer(0, _LAST_SEQ)),
            header(
                LAST_EVENT_ID, "The same; it wins over the query.", written_integer(0, _LAST_SEQ)
            ),
        ),
        answers={
            200: Answer(
                about="Every event with its number as `id`; the stream closes after the last.",
                contents={EVENTS: ref("RunEvent")},
            )
        },
        errors=(400, 404, 410, _STORE),
    ),
    "run_stop": Description(
        summary="Stop a run",
        area=AREA,
        parameters=(_ID,),
        answers=answers_json(ref("Run"), "The run as it stands now."),
        errors=(404, _STORE),
    ),
    "run_approval": Description(
        summary="Decide about what a run waits for",
        area=AREA,
        parameters=(_ID,),
        body=Body(
            schema=request(
                {"decision": one_of(*(decision.value for decision in Decision))},
                {"approval_id": string()},
            )
        ),
        answers=answers_json(ref("Run"), "The run as it stands now."),
        errors=(*WITH_BODY, 404, 409, _STORE),
    ),
    "run_steer": Description(
        summary="Say something to the agent of a run while it works",
        area=AREA,
        parameters=(_ID,),
        body=Body(schema=record({"text": string(shortest=1, longest=LONGEST_STEER)})),
        answers=answers_json(
            record(
                {
                    "id": _NAME,
                    "object": constant("run.steer"),
                    "run_id": _NAME,
                    "status": constant("accepted"),
                }
            ),
            "It was accepted and will reach the agent.",
            status=202,
        ),
        errors=(*WITH_BODY, 404, 409, _STORE),
    ),
}
