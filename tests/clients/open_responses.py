"""The Open Responses wire as its strict readers see it: the response, its items and its events.

Every field that is not marked as absent-able must be there; null is refused unless it is said.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, model_validator


class Strict(BaseModel):
    """Types are taken as they are; fields unknown here are left to other readers."""

    model_config = ConfigDict(strict=True)


class NeverNull(Strict):
    """May leave out what has a default, but must not say null for it."""

    @model_validator(mode="before")
    @classmethod
    def _refuse_null(cls, data: Any) -> Any:
        optional = {name for name, field in cls.model_fields.items() if not field.is_required()}
        said_null = [name for name in optional if name in data and data[name] is None]
        if said_null:
            raise ValueError(f"leave out {', '.join(sorted(said_null))} instead of saying null")
        return data


Status = Literal["in_progress", "completed", "incomplete"]


# --- parts and items ------------------------------------------------------------------------------


class OutputText(Strict):
    type: Literal["output_text"]
    text: str
    annotations: list[dict[str, Any]]


class Refusal(Strict):
    type: Literal["refusal"]
    refusal: str


class InputText(Strict):
    type: Literal["input_text"]
    text: str


class InputImage(Strict):
    type: Literal["input_image"]
    image_url: str | None
    detail: Literal["low", "high", "auto", "original"]


class SummaryText(Strict):
    type: Literal["summary_text"]
    text: str


Part = Annotated[OutputText | Refusal | InputText | InputImage, Field(discriminator="type")]


class Message(NeverNull):
    type: Literal["message"]
    id: str
    status: Status
    role: Literal["user", "assistant", "system", "developer"]
    content: list[Part]
    phase: Literal["commentary", "final_answer"] | None = None


class FunctionCall(Strict):
    type: Literal["function_call"]
    id: str
    call_id: str
    name: str
    arguments: str
    status: Status


class FunctionCallOutput(Strict):
    type: Literal["function_call_output"]
    id: str
    call_id: str
    output: str | list[Part]
    status: Status


class Reasoning(NeverNull):
    type: Literal["reasoning"]
    id: str
    summary: list[SummaryText]
    encrypted_content: str | None = None


class Compaction(Strict):
    type: Literal["compaction"]
    id: str
    encrypted_content: str


Item = Annotated[
    Message | FunctionCall | FunctionCallOutput | Reasoning | Compaction,
    Field(discriminator="type"),
]


# --- the response ---------------------------------------------------------------------------------


class CachedTokens(Strict):
    cached_tokens: int


class ReasoningTokens(Strict):
    reasoning_tokens: int


class Usage(Strict):
    input_tokens: int
    output_tokens: int
    total_tokens: int
    input_tokens_details: CachedTokens
    output_tokens_details: ReasoningTokens


class FunctionTool(Strict):
    type: Literal["function"]
    name: str
    description: str | None
    parameters: dict[str, Any] | None
    strict: bool | None


class NamedFunction(Strict):
    type: Literal["function"]
    name: str


class AllowedTools(Strict):
    type: Literal["allowed_tools"]
    tools: list[NamedFunction]
    mode: Literal["none", "auto", "required"]


class Effort(Strict):
    effort: str | None
    summary: str | None


class Format(Strict):
    type: Literal["text", "json_object", "json_schema"]


class TextOptions(Strict):
    format: Format


class Reason(Strict):
    reason: str


class Failure(Strict):
    code: str
    message: str


class Response(Strict):
    """All keys must be there; null only where the type says so."""

    id: str
    object: Literal["response"]
    created_at: int
    completed_at: int | None
    status: str
    incomplete_details: Reason | None
    model: str
    previous_response_id: str | None
    instructions: str | None
    output: list[Item]
    error: Failure | None
    tools: list[FunctionTool]
    tool_choice: Literal["none", "auto", "required"] | NamedFunction | AllowedTools
    truncation: Literal["auto", "disabled"]
    parallel_tool_calls: bool
    text: TextOptions
    top_p: float
    presence_penalty: float
    frequency_penalty: float
    top_logprobs: int
    temperature: float
    reasoning: Effort | None
    usage: Usage | None
    max_output_tokens: int | None
    max_tool_calls: int | None
    store: bool
    background: bool
    service_tier: str
    metadata: Any
    safety_identifier: str | None
    prompt_cache_key: str | None


class CompactedResponse(Strict):
    id: str
    object: Literal["response.compaction"]
    created_at: int
    output: list[Item]
    usage: Usage


# --- events ---------------------------------------------------------------------------------------


class Event(Strict):
    type: str
    sequence_number: int


class OfResponse(Event):
    response: Response


class OfItem(Event):
    output_index: int
    item: Item


class InItem(Event):
    item_id: str
    output_index: int


class OfContentPart(InItem):
    content_index: int
    part: OutputText | Refusal


class OfTextDelta(InItem):
    content_index: int
    delta: str


class OfTextDone(InItem):
    content_index: int
    text: str


class OfArgumentsDelta(InItem):
    delta: str


class OfArgumentsDone(InItem):
    arguments: str


class OfSummaryPart(InItem):
    summary_index: int
    part: SummaryText


class OfSummaryDelta(InItem):
    summary_index: int
    delta: str


class OfSummaryDone(InItem):
    summary_index: int
    text: str


class ErrorPayload(Strict):
    type: str
    code: str | None
    message: str
    param: str | None


class OfError(Event):
    error: ErrorPayload


_EVENTS: Mapping[str, type[Event]] = {
    **dict.fromkeys(
        (
            "response.created",
            "response.queued",
            "response.in_progress",
            "response.completed",
            "response.incomplete",
            "response.failed",
        ),
        OfResponse,
    ),
    **dict.fromkeys(("response.output_item.added", "response.output_item.done"), OfItem),
    **dict.fromkeys(("response.content_part.added", "response.content_part.done"), OfContentPart),
    "response.output_text.delta": OfTextDelta,
    "response.output_text.done": OfTextDone,
    "response.function_call_arguments.delta": OfArgumentsDelta,
    "response.function_call_arguments.done": OfArgumentsDone,
    "response.reasoning_summary_part.added": OfSummaryPart,
    "response.reasoning_summary_part.done": OfSummaryPart,
    "response.reasoning_summary_text.delta": OfSummaryDelta,
    "response.reasoning_summary_text.done": OfSummaryDone,
    "error": OfError,
}


def strict_response(data: Any) -> Response:
    return Response.model_validate(data)


def strict_event(data: Mapping[str, Any]) -> Any:
    """The event; a type that strict readers do not know is refused."""
    assert data["type"] in _EVENTS, f"strict readers do not know {data['type']}"
    return _EVENTS[data["type"]].model_validate(data)
