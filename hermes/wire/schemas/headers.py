"""Headers that several routes read."""

from __future__ import annotations

from hermes.core.runs import WhenBusy
from hermes.wire.run_policies import DISCONNECT_HEADER, RUN_ID_HEADER, WHEN_BUSY_HEADER
from hermes.wire.schemas.builders import one_of, string
from hermes.wire.schemas.description import header
from hermes.wire.tool_forms import AUDIENCES

_NAME = string(longest=256)
POLICY = r"^(cancel|detach|grace:[0-9]+(\.[0-9]+)?)$"

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
    string(longest=255),
)
STRICT = header(
    "X-Hermes-Strict",
    "`true`: parameters that have no effect are refused instead of named.",
    string(),
)

TOOL_FORM = header(
    "X-Hermes-Tool-Form",
    "How tools that the server ran are shown; by the client's own headers if absent.",
    one_of(*AUDIENCES),
)
REASONING = header(
    "X-Hermes-Reasoning",
    "Whether the model's thinking is shown.",
    one_of("show", "hide"),
)

DISCONNECT = header(
    DISCONNECT_HEADER,
    "What a disconnect means to the run: `cancel`, `detach` or `grace:<seconds>`.",
    string(pattern=POLICY),
)
WHEN_BUSY = header(
    WHEN_BUSY_HEADER,
    "What becomes of the request while the session is at work.",
    one_of(*(policy.value for policy in WhenBusy)),
)

REPLAYED = {"Idempotency-Replayed": "`true` where this is the answer of an earlier request."}
SESSION_ANSWERED = {"X-Hermes-Session-Id": "The session that answered."}
RUN_ANSWERED = {RUN_ID_HEADER: "The run behind the answer."}
ROUTED = {
    "X-Hermes-Model": "The model that answered, where the one asked for is not served.",
    "X-Hermes-Ignored-Params": "Parameters of the request that have no effect.",
}
INCOMPLETE = {
    "X-Hermes-Completed": "`false` where the answer is not the whole one.",
    "X-Hermes-Partial": "`true` where the answer is only a part.",
}
