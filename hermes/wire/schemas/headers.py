"""Headers that several routes read."""

from __future__ import annotations

from hermes.wire.schemas.builders import string
from hermes.wire.schemas.description import header

_NAME = string(longest=256)

SESSION_ID = header(
    "X-Hermes-Session-Id",
    "A stored session to continue. Only where the gateway has a key.",
    _NAME,
)
SESSION_KEY = header(
    "X-Hermes-Session-Key",
    "A stable scope for long-term memory. Only where the gateway has a key.",
    _NAME,
)
IDEMPOTENCY_KEY = header(
    "Idempotency-Key",
    "A repeated request with the same key and body gets the first one's answer.",
    string(),
)
STRICT = header(
    "X-Hermes-Strict",
    "`true`: parameters that have no effect are refused instead of named.",
    string(),
)

SESSION_ANSWERED = {"X-Hermes-Session-Id": "The session that answered."}
ROUTED = {
    "X-Hermes-Model": "The model that answered, where the one asked for is not served.",
    "X-Hermes-Ignored-Params": "Parameters of the request that have no effect.",
}
INCOMPLETE = {
    "X-Hermes-Completed": "`false` where the answer is not the whole one.",
    "X-Hermes-Partial": "`true` where the answer is only a part.",
}
