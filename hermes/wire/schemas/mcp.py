"""/mcp: the Model Context Protocol, which describes its messages itself."""

from __future__ import annotations

from hermes.wire.schemas.builders import (
    ANYTHING,
    OBJECT,
    any_of,
    constant,
    integer,
    or_null,
    record,
    ref,
    request,
    string,
)
from hermes.wire.schemas.description import (
    EVENTS,
    JSON,
    Answer,
    Body,
    Description,
    header,
)
from hermes.wire.schemas.errors import WITH_BODY

AREA = "MCP"

_ID = or_null(any_of(string(), integer()))
_VERSION = constant("2.0")

SCHEMAS = {
    "McpMessage": any_of(
        record({"jsonrpc": _VERSION, "id": _ID, "result": OBJECT}),
        ref("McpError"),
        record({"jsonrpc": _VERSION, "method": string()}, {"params": ANYTHING, "id": _ID}),
    ),
    "McpError": record(
        {
            "jsonrpc": _VERSION,
            "id": _ID,
            "error": record({"code": integer(), "message": string()}, {"data": ANYTHING}),
        }
    ),
}

_SESSION = header(
    "Mcp-Session-Id", "The session, as the answer to `initialize` named it.", string()
)
_PROTOCOL_VERSION = header("Mcp-Protocol-Version", "The protocol that was agreed on.", string())
_REFUSED = {
    status: Answer(about=about, contents={JSON: any_of(ref("McpError"), ref("Error"))})
    for status, about in (
        (400, "The message or its headers are not valid."),
        (404, "There is no such session; begin a new one."),
        (405, "Not with this method."),
        (406, "The client must accept JSON and event streams."),
        (409, "The session has such a stream already."),
        (415, "The body must be JSON."),
        (503, "The MCP SDK is not installed, or there are too many sessions."),
    )
}
"""By the gateway in its envelope, by the protocol in its own."""

DESCRIPTIONS = {
    "mcp": Description(
        summary="Send a message of the Model Context Protocol",
        area=AREA,
        parameters=(_SESSION, _PROTOCOL_VERSION),
        body=Body(
            schema=request(
                {"jsonrpc": _VERSION}, {"id": _ID, "method": string(), "params": ANYTHING}
            )
        ),
        answers={
            200: Answer(
                about="The answer to a request, after notifications of its progress.",
                contents={EVENTS: ref("McpMessage")},
                headers={"Mcp-Session-Id": "The session that an `initialize` began."},
            ),
            202: Answer(about="A notification was taken.", contents={}),
            **_REFUSED,
        },
        errors=WITH_BODY,
    ),
    "mcp_stream": Description(
        summary="Listen to what the server says by itself in a session",
        area=AREA,
        parameters=(_SESSION, _PROTOCOL_VERSION),
        answers={200: Answer(about="It stays open.", contents={}), **_REFUSED},
    ),
    "mcp_end": Description(
        summary="End a session",
        area=AREA,
        parameters=(_SESSION, _PROTOCOL_VERSION),
        answers={200: Answer(about="It is over.", contents={}), **_REFUSED},
    ),
}
