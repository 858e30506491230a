"""How refusals look, and what each status means."""

from __future__ import annotations

from hermes.wire.schemas.builders import OBJECT, boolean, one_of, or_null, record, ref, string

ALWAYS = (403, 500)
"""What every route may answer: a foreign host or page, a fault of the gateway."""
WITHOUT_KEY = (401,)
WITH_BODY = (400, 413)
KEYED = (409, 503)
"""With an idempotency key: it was used with another body, or cannot be looked up."""
TURN = (400, 409, 413, 429, 502, 503)
"""A turn is run: its session may be busy, its key used for another one, its model may fail."""

MEANINGS = {
    400: "The request says something that cannot be done; `param` names the field.",
    401: "No key, or the wrong one.",
    403: "The caller may not do this.",
    404: "Nothing has this id.",
    409: "It cannot be done in the state that things are in.",
    410: "The events asked for were deleted; the error carries what became of it all.",
    413: "The request body is too large.",
    429: "The provider asks to wait, or too much is at work already; `Retry-After` says how long.",
    500: "A fault of the gateway; its log has the trace under the request id.",
    502: "The turn ended without a usable answer; `message` has the reason.",
    503: "Not now; `Retry-After` says when to try again.",
}

INCOMPLETE = record(
    {
        "completed": boolean(),
        "partial": boolean(),
        "failed": boolean(),
        "interrupted": boolean(),
        "error_code": or_null(string()),
        "error": or_null(string()),
    },
    {"partial_text": string()},
)

ERROR_OBJECT = record(
    {
        "message": string(shortest=1),
        "type": one_of(
            "invalid_request_error",
            "authentication_error",
            "permission_error",
            "conflict_error",
            "rate_limit_error",
            "server_error",
        ),
        "param": or_null(string()),
        "code": string(shortest=1),
    },
    {
        "hermes": ref("Incomplete"),
        "run_id": string(),
        "run": OBJECT,
        "response": OBJECT,
    },
)

SCHEMAS = {
    "Incomplete": INCOMPLETE,
    "ErrorObject": ERROR_OBJECT,
    "Error": record({"error": ref("ErrorObject")}),
}
