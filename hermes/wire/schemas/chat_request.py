"""What a chat completion may be asked for. Values that ask for nothing else are allowed as such."""

from __future__ import annotations

from hermes.wire.chat_parameters import EFFORTS, MOST_STOPS
from hermes.wire.schemas.budgets import BUDGET
from hermes.wire.schemas.builders import (
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
_FUNCTION = record({"function": record({"name": _NAME})})
_ALLOWED = request({"tools": list_of(_FUNCTION)}, {"mode": one_of("auto", "required")})

_SAMPLING = {
    "temperature": number(0, 2),
    "top_p": number(0, 1),
    "max_tokens": integer(1),
    "max_completion_tokens": integer(1),
    "stop": any_of(_NAME, list_of(_NAME, most=MOST_STOPS)),
    "seed": integer(-(2**63), 2**63 - 1),
    "presence_penalty": number(-2, 2),
    "frequency_penalty": number(-2, 2),
}

_UNHEEDED = {
    "user": string(),
    "safety_identifier": string(),
    "prompt_cache_key": string(),
    "service_tier": string(),
    "verbosity": string(),
}

_ONLY_AS_IT_IS = {
    "n": {"const": 1},
    "logprobs": any_of(constant(False), constant("false")),
    "top_logprobs": {"const": 0},
    "modalities": {"const": ["text"]},
    "functions": list_of({}, most=0),
    "function_call": one_of("none", "auto"),
    "audio": {"type": "null"},
    "web_search_options": {"type": "null"},
}
"""What cannot be done, and the values that do not ask for it."""

SCHEMAS = {
    "ChatMessage": any_of(
        record({"role": one_of("system", "developer"), "content": ref("Text")}),
        request({"role": constant("user"), "content": ref("Content")}, {"name": string()}),
        request(
            {"role": constant("assistant")},
            {
                "content": ref("Content"),
                "refusal": string(),
                "name": string(),
                "tool_calls": list_of(ref("ToolCall")),
            },
        ),
        record(
            {
                "role": constant("tool"),
                "tool_call_id": _NAME,
                "content": ref("Content"),
            }
        ),
    ),
    "ChatTool": request(
        {
            "function": request(
                {"name": _NAME},
                {"description": string(), "parameters": OBJECT, "strict": flag()},
            )
        },
        {"type": constant("function")},
    ),
    "ChatToolChoice": any_of(
        one_of("none", "auto", "required"),
        tagged("function", {"function": record({"name": _NAME})}),
        tagged("allowed_tools", {"allowed_tools": _ALLOWED}),
    ),
    "ChatAnswerFormat": any_of(
        tagged("text", {}),
        tagged("json_object", {}),
        tagged("json_schema", {"json_schema": ref("AnswerSchema")}),
    ),
    "AnswerSchema": request(
        {"name": _NAME, "schema": OBJECT}, {"strict": flag(), "description": string()}
    ),
    "ChatRequest": request(
        {"messages": list_of(ref("ChatMessage"), fewest=1)},
        {
            "model": string(),
            "stream": flag(),
            "stream_options": request(optional={"include_usage": flag()}),
            **_SAMPLING,
            "response_format": ref("ChatAnswerFormat"),
            "reasoning_effort": one_of(*EFFORTS),
            "tools": list_of(ref("ChatTool")),
            "tool_choice": ref("ChatToolChoice"),
            "parallel_tool_calls": flag(),
            "store": flag(),
            "metadata": METADATA,
            "budget": BUDGET,
            **_UNHEEDED,
            **_ONLY_AS_IT_IS,
        },
    ),
}
