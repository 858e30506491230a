"""Sessions as a whole: searched, summarised, taken out, brought in."""

from __future__ import annotations

from hermes.wire.schemas.builders import (
    ANYTHING,
    any_of,
    boolean,
    constant,
    flag,
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
from hermes.wire.schemas.description import Body, Description, answers_json, path, query
from hermes.wire.schemas.errors import KEYED, TURN, WITH_BODY
from hermes.wire.schemas.headers import IDEMPOTENCY_KEY, REPLAYED
from hermes.wire.schemas.sessions import AREA, STORE
from hermes.wire.session_compaction import MOST_KEPT
from hermes.wire.session_search import LONGEST_QUERY, MAX_HITS, MAX_OFFSET
from hermes.wire.session_transfer import LATEST, LONGEST_ID, OBJECT, ROLES, VERSION
from hermes.wire.sessions import MAX_TITLE

_TIME = number(0, LATEST)
_CALL = record(
    {
        "id": string(shortest=1),
        "function": record({"name": string(shortest=1)}, {"arguments": string()}),
    },
    {"type": string()},
)

SCHEMAS = {
    "SessionHit": record(
        {
            "object": constant("hermes.session.hit"),
            "session_id": string(shortest=1),
            "title": or_null(string()),
            "message_id": or_null(integer(1)),
            "role": or_null(one_of("user", "assistant", "tool")),
            "timestamp": number(0),
            "snippet": string(),
            "highlights": list_of(list_of(integer(0), fewest=2, most=2)),
            "score": number(),
        }
    ),
    "ExportedMessage": record(
        {
            "role": one_of(*ROLES),
            "content": any_of(string(), list_of({"type": "object"}), {"type": "null"}),
            "timestamp": _TIME,
        },
        {
            "tool_calls": list_of(_CALL),
            "tool_call_id": string(),
            "tool_name": string(),
        },
    ),
    "SessionExport": record(
        {
            "object": constant(OBJECT),
            "version": {"const": VERSION},
            "session": record(
                {
                    "id": string(
                        shortest=1, longest=LONGEST_ID, pattern=r"^[A-Za-z0-9][ -~]{0,255}$"
                    ),
                    "source": string(shortest=1),
                    "started_at": _TIME,
                },
                {
                    "title": or_null(string(longest=MAX_TITLE)),
                    "model": or_null(string()),
                    "parent_session_id": or_null(string()),
                    "updated_at": ANYTHING,
                    "ended_at": or_null(_TIME),
                    "end_reason": or_null(string()),
                },
            ),
            "messages": list_of(ref("ExportedMessage")),
        }
    ),
}

DESCRIPTIONS = {
    "session_search": Description(
        summary="Find what was said, in all sessions",
        area=AREA,
        parameters=(
            query(
                "q",
                'Words that must all be there; "quoted ones" side by side; begin* for beginnings.',
                string(shortest=1, longest=LONGEST_QUERY, pattern=r"\S"),
            ),
            query("limit", "How many at most; 20 if absent.", written_integer(1, MAX_HITS)),
            query("offset", "How many to skip.", written_integer(0, MAX_OFFSET)),
        ),
        answers=answers_json(
            record(
                {
                    "object": constant("list"),
                    "query": string(shortest=1),
                    "data": list_of(ref("SessionHit")),
                    "limit": integer(1, MAX_HITS),
                    "offset": integer(0),
                    "total": or_null(integer(0)),
                    "has_more": boolean(),
                }
            ),
            "The hits, the best first; `highlights` are places in the snippet.",
        ),
        errors=(400, STORE),
    ),
    "session_compact": Description(
        summary="Summarise the older messages of a session for the model",
        area=AREA,
        parameters=(path("session_id", "The id of a session."),),
        body=Body(schema=request(optional={"keep_last": integer(1, MOST_KEPT)}), is_required=False),
        answers=answers_json(
            record(
                {
                    "object": constant("hermes.session.compaction"),
                    "session_id": string(shortest=1),
                    "summary": or_null(string(shortest=1)),
                    "up_to_message_id": or_null(integer(1)),
                    "summarised_messages": integer(0),
                    "kept_messages": integer(0),
                }
            ),
            "The summary that stands for the older messages now; `null` when there is none.",
        ),
        errors=(*TURN, 404),
    ),
    "session_export": Description(
        summary="A whole session as one document",
        area=AREA,
        parameters=(path("session_id", "The id of a session."),),
        answers=answers_json(ref("SessionExport"), "The document, as a file to keep."),
        errors=(404, STORE),
    ),
    "session_import": Description(
        summary="Bring in a session that was exported",
        area=AREA,
        parameters=(
            query("keep_id", "Whether it keeps the id it had; else it gets one.", flag()),
            IDEMPOTENCY_KEY,
        ),
        body=Body(
            schema=ref("SessionExport"),
            example={
                "object": OBJECT,
                "version": VERSION,
                "session": {"id": "session-1", "source": "api_server", "started_at": 1.5},
                "messages": [{"role": "user", "content": "Hello", "timestamp": 1.5}],
            },
        ),
        answers=answers_json(
            ref("SessionEnvelope"), "The session as it is here.", status=201, headers=REPLAYED
        ),
        errors=(*WITH_BODY, *KEYED),
    ),
}
