"""Chat completions: the whole answer, and the chunks of a stream."""

from __future__ import annotations

from hermes.wire.schemas.budgets import COST
from hermes.wire.schemas.builders import (
    NULL,
    constant,
    integer,
    list_of,
    one_of,
    or_null,
    record,
    ref,
    string,
)
from hermes.wire.schemas.description import EVENTS, JSON, Answer, Body, Description
from hermes.wire.schemas.errors import TURN
from hermes.wire.schemas.headers import (
    IDEMPOTENCY_KEY,
    INCOMPLETE,
    REASONING,
    ROUTED,
    SESSION_ANSWERED,
    SESSION_ID,
    SESSION_KEY,
    STRICT,
    TOOL_FORM,
)

AREA = "Chat completions"

_FINISH = one_of("stop", "tool_calls", "length", "error")
_HEAD = {"id": string(shortest=1), "created": integer(0), "model": string()}
_PROGRESS = {
    "tool": string(),
    "label": string(),
    "toolCallId": string(),
    "status": one_of("running", "completed"),
}
"""A tool that the server runs, as far as it has come."""

SCHEMAS = {
    "ChatUsage": record(
        {
            "prompt_tokens": integer(0),
            "completion_tokens": integer(0),
            "total_tokens": integer(0),
            "prompt_tokens_details": record({"cached_tokens": integer(0)}),
            "completion_tokens_details": record({"reasoning_tokens": integer(0)}),
        },
        COST,
    ),
    "ChatAnswer": record(
        {"role": constant("assistant"), "content": or_null(string()), "refusal": NULL},
        {
            "tool_calls": list_of(ref("ToolCall"), fewest=1),
            "reasoning_content": or_null(string()),
        },
    ),
    "ChatCompletion": record(
        {
            **_HEAD,
            "object": constant("chat.completion"),
            "choices": list_of(
                record(
                    {
                        "index": integer(0, 0),
                        "message": ref("ChatAnswer"),
                        "logprobs": NULL,
                        "finish_reason": _FINISH,
                    }
                ),
                fewest=1,
                most=1,
            ),
            "usage": ref("ChatUsage"),
        },
        {"hermes": ref("Incomplete")},
    ),
    "ChatDelta": record(
        optional={
            "role": constant("assistant"),
            "content": string(),
            "reasoning_content": string(),
            "hermes_tool": record(_PROGRESS),
            "tool_calls": list_of(ref("ToolCallDelta"), fewest=1),
        }
    ),
    "ToolCallDelta": record(
        {
            "index": integer(0),
            "id": string(shortest=1),
            "type": constant("function"),
            "function": record({"name": string(shortest=1), "arguments": string()}),
        }
    ),
    "ChatChunk": record(
        {
            **_HEAD,
            "object": constant("chat.completion.chunk"),
            "choices": list_of(
                record(
                    {
                        "index": integer(0, 0),
                        "delta": ref("ChatDelta"),
                        "finish_reason": or_null(_FINISH),
                    }
                ),
                most=1,
            ),
        },
        {
            "usage": or_null(ref("ChatUsage")),
            "error": ref("ErrorObject"),
            "hermes": ref("Incomplete"),
            **_PROGRESS,
        },
    ),
}

DESCRIPTIONS = {
    "chat_completions": Description(
        summary="Ask the agent, whole or streamed",
        area=AREA,
        parameters=(SESSION_ID, SESSION_KEY, IDEMPOTENCY_KEY, STRICT, TOOL_FORM, REASONING),
        body=Body(
            schema=ref("ChatRequest"),
            example={"messages": [{"role": "user", "content": "Which files are there?"}]},
        ),
        answers={
            200: Answer(
                about="The answer; with `stream: true` its chunks, and `[DONE]` at the end.",
                contents={JSON: ref("ChatCompletion"), EVENTS: ref("ChatChunk")},
                has_end_mark=True,
                headers={**SESSION_ANSWERED, **INCOMPLETE, **ROUTED},
            )
        },
        errors=(*TURN, 404),
    ),
}
