"""Items as they are kept and listed: what clients sent, and what was answered.

Whatever else a client said of its items stays with them, so each may have more keys.
"""

from __future__ import annotations

from hermes.wire.pages import MOST_ITEMS
from hermes.wire.response_parameters import INCLUDABLE
from hermes.wire.schemas.builders import (
    OBJECT,
    Schema,
    any_of,
    boolean,
    constant,
    list_of,
    one_of,
    record,
    ref,
    string,
    tagged,
    written_integer,
)
from hermes.wire.schemas.description import query

_NAME = string(shortest=1)

PAGE = (
    query("limit", "How many at most; 20 if absent.", written_integer(1, MOST_ITEMS)),
    query("order", "By age; the newest first if absent.", one_of("asc", "desc")),
    query("after", "The id of the item before the first one wanted.", string()),
)
INCLUDE = query("include", "Accepted without an effect.", list_of(one_of(*INCLUDABLE)))


def _kept(kind: str, **required: Schema) -> Schema:
    return {**tagged(kind, {"id": _NAME, **required}), "additionalProperties": True}


SCHEMAS = {
    "KeptItem": any_of(
        _kept(
            "message",
            role=one_of("system", "developer", "user", "assistant"),
            status=string(),
            content=list_of(OBJECT),
        ),
        _kept("function_call", call_id=_NAME, name=_NAME, arguments=string(), status=string()),
        _kept(
            "function_call_output",
            call_id=_NAME,
            output=any_of(string(), list_of(OBJECT)),
            status=string(),
        ),
        _kept("mcp_call", name=_NAME, arguments=string(), server_label=string()),
        _kept("reasoning", summary=list_of(OBJECT)),
        _kept("compaction", encrypted_content=_NAME),
    ),
    "ItemList": record(
        {
            "object": constant("list"),
            "data": list_of(ref("KeptItem")),
            "first_id": string(),
            "last_id": string(),
            "has_more": boolean(),
        }
    ),
}
