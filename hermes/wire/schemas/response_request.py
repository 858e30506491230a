"""What a response may be asked for: the input and its items, and everything beside it."""

from __future__ import annotations

from hermes.wire.response_parameters import INCLUDABLE, LEAST_THRESHOLD
from hermes.wire.schemas.budgets import BUDGET
from hermes.wire.schemas.builders import (
    ANYTHING,
    NULL,
    OBJECT,
    any_of,
    constant,
    flag,
    integer,
    list_of,
    number,
    one_of,
    record,
    ref,
    request,
    string,
    tagged,
)
from hermes.wire.schemas.messages import METADATA

_NAME = string(shortest=1)
_MESSAGE = {"type": constant("message")}

INPUT = any_of(_NAME, list_of(ref("ResponseInputItem"), fewest=1))
CONVERSATION = any_of(string(), record({"id": _NAME}))

SCHEMAS = {
    "ResponseInputItem": any_of(
        request({"role": one_of("system", "developer"), "content": ref("Text")}, _MESSAGE),
        request(
            {"role": constant("user"), "content": ref("Content")}, {**_MESSAGE, "name": string()}
        ),
        request(
            {"role": constant("assistant"), "content": ref("Content")},
            {**_MESSAGE, "phase": one_of("commentary", "final_answer")},
        ),
        tagged("function_call", {"call_id": _NAME, "name": _NAME, "arguments": string()}),
        tagged("function_call_output", {"call_id": _NAME, "output": ref("Content")}),
        request(
            {"type": constant("mcp_call"), "id": _NAME, "name": _NAME, "arguments": string()},
            {"output": string(), "error": ANYTHING},
        ),
        tagged("reasoning", {}),
        tagged("compaction", {"encrypted_content": _NAME}),
        tagged("item_reference", {"id": _NAME}),
        record({"id": _NAME}, {"type": NULL}),
    ),
    "ResponseTool": request(
        {"type": constant("function"), "name": _NAME},
        {"description": string(), "parameters": OBJECT, "strict": flag()},
    ),
    "ResponseToolChoice": any_of(
        one_of("none", "auto", "required"),
        tagged("function", {"name": _NAME}),
        request(
            {
                "type": constant("allowed_tools"),
                "tools": list_of(record({"name": _NAME}), fewest=1),
            },
            {"mode": one_of("auto", "required")},
        ),
    ),
    "ResponseAnswerFormat": any_of(
        tagged("text", {}),
        tagged("json_object", {}),
        request(
            {"type": constant("json_schema"), "name": _NAME, "schema": OBJECT},
            {"strict": flag(), "description": string()},
        ),
    ),
    "ResponseRequest": request(
        {"input": INPUT},
        {
            "model": string(),
            "stream": flag(),
            "stream_options": OBJECT,
            "instructions": string(),
            "previous_response_id": string(),
            "conversation": CONVERSATION,
            "temperature": number(0, 2),
            "top_p": number(0, 1),
            "presence_penalty": number(-2, 2),
            "frequency_penalty": number(-2, 2),
            "top_logprobs": {"const": 0},
            "max_output_tokens": integer(1),
            "max_tool_calls": integer(0),
            "tools": list_of(ref("ResponseTool")),
            "tool_choice": ref("ResponseToolChoice"),
            "parallel_tool_calls": flag(),
            "text": request(
                optional={
                    "format": ref("ResponseAnswerFormat"),
                    "verbosity": one_of("low", "medium", "high"),
                }
            ),
            "reasoning": request(
                optional={
                    "effort": one_of("none", "minimal", "low", "medium", "high", "xhigh", "max"),
                    "summary": string(),
                }
            ),
            "truncation": one_of("auto", "disabled"),
            "context_management": list_of(
                request(
                    {"type": constant("compaction")},
                    {"compact_threshold": integer(LEAST_THRESHOLD)},
                )
            ),
            "store": flag(),
            "background": flag(),
            "service_tier": one_of("auto", "default", "flex", "scale", "priority", "fast"),
            "include": list_of(one_of(*INCLUDABLE)),
            "metadata": METADATA,
            "budget": BUDGET,
            "user": string(),
            "safety_identifier": string(),
            "prompt_cache_key": string(),
            "prompt": NULL,
        },
    ),
}
