"""What the agent keeps in mind: memories, and the todo list of a session."""

from __future__ import annotations

from hermes.core.memories import LONGEST
from hermes.core.todos import TodoStatus
from hermes.wire.schemas.builders import (
    boolean,
    constant,
    integer,
    list_of,
    one_of,
    record,
    ref,
    string,
)
from hermes.wire.schemas.description import Body, Description, answers_json, path
from hermes.wire.schemas.errors import KEYED, WITH_BODY
from hermes.wire.schemas.headers import IDEMPOTENCY_KEY, REPLAYED, SESSION_KEY
from hermes.wire.schemas.kept_items import PAGE

AREA = "Memory"
STORE = 503
"""What is remembered cannot be read or written."""

_ID = path("memory_id", "The id of a memory.")
_FACT = Body(
    schema=record({"text": string(shortest=1, longest=LONGEST)}),
    example={"text": "The user prefers short answers."},
)

SCHEMAS = {
    "Memory": record(
        {
            "id": string(shortest=1),
            "object": constant("hermes.memory"),
            "text": string(shortest=1, longest=LONGEST),
            "created_at": integer(0),
            "updated_at": integer(0),
        }
    ),
    "Todo": record(
        {
            "task": string(shortest=1),
            "status": one_of(*(status.value for status in TodoStatus)),
        }
    ),
}

DESCRIPTIONS = {
    "memories": Description(
        summary="One page of what the agent remembers for this key and session key",
        area=AREA,
        parameters=(SESSION_KEY, *PAGE),
        answers=answers_json(
            record(
                {
                    "object": constant("list"),
                    "data": list_of(ref("Memory")),
                    "first_id": string(),
                    "last_id": string(),
                    "has_more": boolean(),
                }
            ),
            "The page.",
        ),
        errors=(400, 404, STORE),
    ),
    "memory_create": Description(
        summary="Have the agent remember a fact",
        area=AREA,
        parameters=(SESSION_KEY, IDEMPOTENCY_KEY),
        body=_FACT,
        answers=answers_json(
            ref("Memory"),
            "The memory; the one there was, if it is known.",
            status=201,
            headers=REPLAYED,
        ),
        errors=(*WITH_BODY, *KEYED),
    ),
    "memories_delete": Description(
        summary="Have the agent forget all it remembers for this key and session key",
        area=AREA,
        parameters=(SESSION_KEY,),
        answers=answers_json(
            record({"object": constant("hermes.memory.list.deleted"), "deleted": integer(0)}),
            "How many there were.",
        ),
        errors=(400, STORE),
    ),
    "memory": Description(
        summary="One memory",
        area=AREA,
        parameters=(SESSION_KEY, _ID),
        answers=answers_json(ref("Memory"), "The memory."),
        errors=(400, 404, STORE),
    ),
    "memory_change": Description(
        summary="Correct a memory",
        area=AREA,
        parameters=(SESSION_KEY, _ID),
        body=_FACT,
        answers=answers_json(ref("Memory"), "The memory as it is now."),
        errors=(*WITH_BODY, 404, STORE),
    ),
    "memory_delete": Description(
        summary="Have the agent forget one memory",
        area=AREA,
        parameters=(SESSION_KEY, _ID),
        answers=answers_json(
            record(
                {
                    "id": string(),
                    "object": constant("hermes.memory.deleted"),
                    "deleted": constant(True),
                }
            ),
            "It is gone, also from the file.",
        ),
        errors=(400, 404, STORE),
    ),
    "session_todos": Description(
        summary="The list that the agent plans a session's work with",
        area=AREA,
        parameters=(path("session_id", "The id of a session."),),
        answers=answers_json(
            record(
                {
                    "object": constant("list"),
                    "session_id": string(),
                    "data": list_of(ref("Todo")),
                }
            ),
            "The tasks in their order; none where there is no list.",
        ),
        errors=(404, STORE),
    ),
}
