"""Sessions: conversations that are kept on the server."""

from __future__ import annotations

from hermes.wire.schemas.budgets import BUDGET, COST, TOKENS
from hermes.wire.schemas.builders import (
    ANYTHING,
    OBJECT,
    any_of,
    boolean,
    constant,
    integer,
    list_of,
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
    Answer,
    Body,
    Description,
    answers_json,
    header,
    path,
    query,
)
from hermes.wire.schemas.errors import KEYED, TURN, WITH_BODY
from hermes.wire.schemas.headers import IDEMPOTENCY_KEY, REPLAYED, SESSION_ANSWERED, SESSION_KEY
from hermes.wire.sessions import MAX_LIMIT, MAX_MESSAGES, MAX_TITLE

AREA = "Sessions"

STORE = 503
_TITLE = string(longest=MAX_TITLE)
_MESSAGE_ID = any_of(integer(1, 2**63 - 1), string(pattern="^[1-9][0-9]{0,17}$"))
_ID = path("session_id", "The id of a session.")
_USAGE = record(TOKENS, COST)
_EVERY_EVENT = {"run_id": string(), "session_id": string(), "seq": integer(0)}
_ENDED = {
    "completed": boolean(),
    "partial": boolean(),
    "failed": boolean(),
    "interrupted": boolean(),
    "error_code": or_null(string()),
    "error": or_null(string()),
}
_SAID = {"messages": list_of(ref("TurnMessage")), "usage": _USAGE}
_TOOL = {"tool_call_id": string(), "tool_name": string()}

SCHEMAS = {
    "Session": record(
        {
            "id": string(shortest=1),
            "title": or_null(string()),
            "title_source": or_null(one_of("user", "auto")),
            "source": or_null(string()),
            "model": or_null(string()),
            "parent_session_id": or_null(string()),
            "message_count": integer(0),
            "started_at": number(0),
            "updated_at": or_null(number(0)),
            "ended_at": or_null(number(0)),
            "end_reason": or_null(string()),
        }
    ),
    "SessionEnvelope": record({"object": constant("hermes.session"), "session": ref("Session")}),
    "SessionMessage": record(
        {
            "id": any_of(integer(0), string()),
            "role": one_of("system", "user", "assistant", "tool"),
            "content": ANYTHING,
            "timestamp": number(0),
        },
        {
            "tool_calls": list_of(ref("ToolCall")),
            "tool_call_id": string(),
            "tool_name": string(),
            "run_id": string(),
        },
    ),
    "TurnMessage": record(
        {"role": one_of("assistant", "tool"), "content": ANYTHING},
        {
            "tool_calls": list_of(ref("ToolCall")),
            "tool_call_id": string(),
            "name": string(),
            "tool_name": string(),
        },
    ),
    "SessionChatRequest": request(
        {
            "message": any_of(
                string(shortest=1),
                list_of(ref("Part"), fewest=1),
            )
        },
        {"system_message": string(), "model": string(), "budget": BUDGET},
    ),
    "SessionChatCompletion": record(
        {
            "object": constant("hermes.session.chat.completion"),
            "session_id": string(shortest=1),
            "message": record({"role": constant("assistant"), "content": string()}),
            "usage": _USAGE,
        },
        {"hermes": ref("Incomplete")},
    ),
    "SessionEvent": any_of(
        record(_EVERY_EVENT),
        record(
            {**_EVERY_EVENT, "message": record({"id": string(), "role": constant("assistant")})}
        ),
        record({**_EVERY_EVENT, "delta": string()}),
        record({**_EVERY_EVENT, **_TOOL, "arguments": string()}),
        record(
            {
                **_EVERY_EVENT,
                "kind": string(),
                "tool_name": or_null(string()),
                "preview": or_null(string()),
            }
        ),
        record({**_EVERY_EVENT, **_TOOL, "output": string()}),
        record({**_EVERY_EVENT, "code": string(), "message": string()}),
        record({**_EVERY_EVENT, "message_id": string(), "content": string(), **_ENDED}),
        record({**_EVERY_EVENT, **_SAID, **_ENDED}),
        record({**_EVERY_EVENT, **_SAID, "error": record({"message": string(), "code": string()})}),
        record({**_EVERY_EVENT, **_SAID, "approvals": list_of(OBJECT)}),
        record({**_EVERY_EVENT, "approval": OBJECT}),
        record({**_EVERY_EVENT, "approval_id": string(), "decision": string(), "by": string()}),
        record({**_EVERY_EVENT, "steer_id": string(), "text": string()}),
        record({"run_id": string(), "session_id": string(), "place": integer(0)}),
        record({**_EVERY_EVENT, "state": one_of("completed", "failed", "waiting_for_approval")}),
    ),
}


DESCRIPTIONS = {
    "sessions": Description(
        summary="One page of sessions, the most recently changed first",
        area=AREA,
        parameters=(
            query("limit", "How many at most; 50 if absent.", written_integer(1, MAX_LIMIT)),
            query("offset", "How many to skip.", written_integer(0, 2**63 - 1)),
        ),
        answers=answers_json(
            record(
                {
                    "object": constant("list"),
                    "data": list_of(ref("Session")),
                    "limit": integer(1, MAX_LIMIT),
                    "offset": integer(0),
                    "total": integer(0),
                    "has_more": boolean(),
                }
            ),
            "The page.",
        ),
        errors=(400, STORE),
    ),
    "session_create": Description(
        summary="Make a session",
        area=AREA,
        parameters=(IDEMPOTENCY_KEY,),
        body=Body(schema=request(optional={"title": _TITLE, "model": string()})),
        answers=answers_json(
            ref("SessionEnvelope"), "The new session.", status=201, headers=REPLAYED
        ),
        errors=(*WITH_BODY, *KEYED),
    ),
    "session": Description(
        summary="One session",
        area=AREA,
        parameters=(_ID,),
        answers=answers_json(ref("SessionEnvelope"), "The session."),
        errors=(404, STORE),
    ),
    "session_patch": Description(
        summary="Give a session another title",
        area=AREA,
        parameters=(_ID,),
        body=Body(schema=record({"title": or_null(_TITLE)})),
        answers=answers_json(ref("SessionEnvelope"), "The session as it is now."),
        errors=(*WITH_BODY, 404, STORE),
    ),
    "session_delete": Description(
        summary="Delete a session; its forks live on",
        area=AREA,
        parameters=(_ID,),
        answers=answers_json(
            record(
                {
                    "object": constant("hermes.session.deleted"),
                    "id": string(),
                    "deleted": constant(True),
                }
            ),
            "It is gone.",
        ),
        errors=(404, STORE),
    ),
    "session_messages": Description(
        summary="What was said in a session: everything, or a part of it",
        area=AREA,
        parameters=(
            _ID,
            query("limit", "How many at most; all if absent.", written_integer(1, MAX_MESSAGES)),
            query("after", "Only messages with higher ids.", written_integer(0, 2**63 - 1)),
            query("before", "Only messages with lower ids.", written_integer(1, 2**63 - 1)),
            query("order", "By their ids; `asc` if absent.", one_of("asc", "desc")),
        ),
        answers=answers_json(
            record(
                {
                    "object": constant("list"),
                    "session_id": string(),
                    "data": list_of(ref("SessionMessage")),
                },
                {"has_more": boolean()},
            ),
            "The messages; a part says whether there are more.",
        ),
        errors=(400, 404, STORE),
    ),
    "session_fork": Description(
        summary="Branch a session off another one",
        area=AREA,
        parameters=(_ID, IDEMPOTENCY_KEY),
        body=Body(
            schema=request(
                optional={
                    "title": _TITLE,
                    "message_id": _MESSAGE_ID,
                    "up_to": _MESSAGE_ID,
                }
            ),
            is_required=False,
        ),
        answers=answers_json(ref("SessionEnvelope"), "The copy.", status=201, headers=REPLAYED),
        errors=(*WITH_BODY, 404, *KEYED),
    ),
    "session_chat": Description(
        summary="One turn in a session, answered whole",
        area=AREA,
        parameters=(_ID, SESSION_KEY, IDEMPOTENCY_KEY),
        body=Body(schema=ref("SessionChatRequest")),
        answers={
            200: Answer(
                about="The answer.",
                contents={"application/json": ref("SessionChatCompletion")},
                headers=SESSION_ANSWERED,
            )
        },
        errors=(*TURN, 404),
    ),
    "session_chat_stream": Description(
        summary="One turn in a session, as a stream of everything that happens",
        area=AREA,
        parameters=(_ID, SESSION_KEY),
        body=Body(schema=ref("SessionChatRequest")),
        answers={
            200: Answer(
                about="The events of the turn; `done` is the last.",
                contents={EVENTS: ref("SessionEvent")},
                headers=SESSION_ANSWERED,
            )
        },
        errors=(*TURN, 404),
    ),
    "session_chat_rejoin": Description(
        summary="The stream of a session's turn once more, from where the reader left it",
        area=AREA,
        parameters=(
            _ID,
            header("Last-Event-ID", "The `id` of the last event that was read.", string()),
        ),
        answers={
            200: Answer(
                about="The events that follow; without a `Last-Event-ID` all of the newest turn.",
                contents={EVENTS: ref("SessionEvent")},
                headers=SESSION_ANSWERED,
            )
        },
        errors=(400, 404, 410, 503),
    ),
}
