"""The items of a response's output, and the events that tell of them in a stream."""

from __future__ import annotations

from hermes.wire.schemas.builders import (
    NULL,
    OBJECT,
    any_of,
    constant,
    integer,
    list_of,
    one_of,
    or_null,
    record,
    ref,
    string,
    tagged,
)

_NAME = string(shortest=1)
_STATUS = one_of("in_progress", "completed", "incomplete")

SCHEMAS = {
    "OutputText": tagged("output_text", {"text": string(), "annotations": list_of(OBJECT)}),
    "SummaryText": tagged("summary_text", {"text": string()}),
    "ToolError": tagged(
        "mcp_tool_execution_error", {"content": list_of(tagged("text", {"text": string()}))}
    ),
    "MessageItem": tagged(
        "message",
        {
            "id": _NAME,
            "status": _STATUS,
            "role": constant("assistant"),
            "content": list_of(ref("OutputText")),
        },
    ),
    "FunctionCallItem": tagged(
        "function_call",
        {"id": _NAME, "status": _STATUS, "call_id": _NAME, "name": _NAME, "arguments": string()},
    ),
    "FunctionCallOutputItem": tagged(
        "function_call_output",
        {
            "id": _NAME,
            "status": _STATUS,
            "call_id": _NAME,
            "output": any_of(string(), list_of(tagged("input_text", {"text": string()}))),
        },
    ),
    "McpCallItem": tagged(
        "mcp_call",
        {
            "id": _NAME,
            "status": one_of("in_progress", "completed", "failed"),
            "server_label": _NAME,
            "name": _NAME,
            "arguments": string(),
            "output": or_null(string()),
            "error": or_null(ref("ToolError")),
            "approval_request_id": NULL,
        },
    ),
    "ReasoningItem": tagged("reasoning", {"id": _NAME, "summary": list_of(ref("SummaryText"))}),
    "ResponseItem": any_of(
        ref("MessageItem"),
        ref("FunctionCallItem"),
        ref("FunctionCallOutputItem"),
        ref("McpCallItem"),
        ref("ReasoningItem"),
    ),
    "ResponseEvent": record(
        {"type": _NAME, "sequence_number": integer(0)},
        {
            "response": ref("Response"),
            "item": ref("ResponseItem"),
            "part": any_of(ref("OutputText"), ref("SummaryText")),
            "item_id": _NAME,
            "output_index": integer(0),
            "content_index": integer(0),
            "summary_index": integer(0),
            "delta": string(),
            "text": string(),
            "name": string(),
            "arguments": string(),
            "logprobs": list_of(OBJECT),
        },
    ),
}
