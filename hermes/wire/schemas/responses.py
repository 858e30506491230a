"""Responses: the response object, and the routes that make and keep it."""

from __future__ import annotations

from hermes.wire.schemas.budgets import COST
from hermes.wire.schemas.builders import (
    OBJECT,
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
    string,
)
from hermes.wire.schemas.description import (
    EVENTS,
    JSON,
    Answer,
    Body,
    Description,
)
from hermes.wire.schemas.errors import TURN
from hermes.wire.schemas.headers import (
    IDEMPOTENCY_KEY,
    REASONING,
    ROUTED,
    SESSION_ANSWERED,
    SESSION_ID,
    SESSION_KEY,
    STRICT,
    TOOL_FORM,
)

AREA = "Responses"

_NAME = string(shortest=1)
_ITEM_STATUS = one_of("in_progress", "completed", "incomplete")

SCHEMAS = {
    "ResponseUsage": record(
        {
            "input_tokens": integer(0),
            "input_tokens_details": record(
                {"cached_tokens": integer(0), "cache_write_tokens": integer(0)}
            ),
            "output_tokens": integer(0),
            "output_tokens_details": record({"reasoning_tokens": integer(0)}),
            "total_tokens": integer(0),
        },
        COST,
    ),
    "Response": record(
        {
            "id": _NAME,
            "object": constant("response"),
            "created_at": integer(0),
            "completed_at": or_null(integer(0)),
            "status": one_of(
                "queued", "in_progress", "completed", "incomplete", "failed", "cancelled"
            ),
            "incomplete_details": or_null(record({"reason": string()})),
            "model": string(),
            "previous_response_id": or_null(string()),
            "instructions": or_null(string()),
            "output": list_of(ref("ResponseItem")),
            "error": or_null(record({"code": string(), "message": string()})),
            "tools": list_of(OBJECT),
            "tool_choice": any_of(string(), OBJECT),
            "truncation": one_of("auto", "disabled"),
            "parallel_tool_calls": boolean(),
            "text": OBJECT,
            "top_p": number(0, 1),
            "presence_penalty": number(-2, 2),
            "frequency_penalty": number(-2, 2),
            "top_logprobs": {"const": 0},
            "temperature": number(0, 2),
            "reasoning": or_null(
                record({"effort": or_null(string()), "summary": or_null(string())})
            ),
            "usage": or_null(ref("ResponseUsage")),
            "max_output_tokens": or_null(integer(1)),
            "max_tool_calls": or_null(integer(0)),
            "store": boolean(),
            "background": boolean(),
            "service_tier": string(),
            "metadata": map_of(string()),
            "safety_identifier": or_null(string()),
            "prompt_cache_key": or_null(string()),
        },
        {"conversation": record({"id": string()}), "user": string()},
    ),
}

DESCRIPTIONS = {
    "responses": Description(
        summary="Ask the agent; the answer is kept and can be continued",
        area=AREA,
        parameters=(SESSION_ID, SESSION_KEY, IDEMPOTENCY_KEY, STRICT, TOOL_FORM, REASONING),
        body=Body(schema=ref("ResponseRequest"), example={"input": "Which files are there?"}),
        answers={
            200: Answer(
                about="The response; with `stream: true` its events, and `[DONE]` at the end.",
                contents={JSON: ref("Response"), EVENTS: ref("ResponseEvent")},
                has_end_mark=True,
                headers={**SESSION_ANSWERED, **ROUTED},
            )
        },
        errors=(*TURN, 404),
    ),
}
