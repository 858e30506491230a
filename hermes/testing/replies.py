"""What a scripted model can reply with, free of any provider's dialect."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

FinishReason = Literal["stop", "length", "tool_calls", "content_filter"]


@dataclass(frozen=True, slots=True)
class Text:
    """Words for the reader, delivered piece by piece."""

    text: str = ""
    pieces: Sequence[str] = ()
    """How the text is cut; by default into words with their leading space."""
    interval: float = 0.0
    """Seconds before each piece."""

    def __post_init__(self) -> None:
        if self.pieces and self.text and "".join(self.pieces) != self.text:
            raise ValueError("The pieces do not add up to the text; leave one of the two out.")

    @property
    def whole(self) -> str:
        return self.text or "".join(self.pieces)

    @property
    def delivered(self) -> Sequence[str]:
        return self.pieces or in_words(self.text)


@dataclass(frozen=True, slots=True)
class Reasoning:
    """The model thinking aloud, delivered word by word."""

    text: str
    interval: float = 0.0
    """Seconds before each word."""


@dataclass(frozen=True, slots=True)
class ToolUse:
    """The model asks for a tool. A string of arguments is sent as it is, even if it is not JSON."""

    name: str
    arguments: Mapping[str, Any] | str = field(default_factory=dict)
    id: str | None = None
    """By default `call_<request>_<position>`, unique within one script."""

    @property
    def arguments_json(self) -> str:
        return self.arguments if isinstance(self.arguments, str) else json.dumps(self.arguments)


@dataclass(frozen=True, slots=True)
class Finish:
    """Why the reply ends; by default `tool_calls` when it uses tools, else `stop`."""

    reason: FinishReason


Part = Text | Reasoning | ToolUse | Finish


@dataclass(frozen=True, slots=True)
class Broken:
    """The reply breaks off after `after` (a string is text) and never comes to its proper end."""

    after: str | Part | Sequence[Part] = ()
    how: Literal["reset", "eof", "stall", "garbage", "error_event"] = "reset"
    """`reset`: the connection is reset, before any answer when `after` is empty.
    `eof`: the body ends cleanly, without the closing events.
    `stall`: silence on an open connection until the client leaves.
    `garbage`: an event that is not JSON.
    `error_event`: the dialect's own error object in the stream."""


@dataclass(frozen=True, slots=True)
class HttpError:
    """The request is refused with this status. A mapping is sent as JSON, a string as HTML."""

    status: int
    body: Mapping[str, Any] | str = ""
    headers: Mapping[str, str] = field(default_factory=dict)


Reply = Part | Broken | HttpError | Sequence[Part | Broken]
"""The answer to one request: a part, or several in a row, of which the last may be `Broken`."""


@dataclass(frozen=True, slots=True)
class Answer:
    """A reply in its normal form: parts, and perhaps how it breaks off after them."""

    parts: tuple[Text | Reasoning | ToolUse, ...]
    finish_reason: FinishReason
    broken: Broken | None = None

    @property
    def duration(self) -> float:
        """Seconds the delivery of all pieces takes."""
        paced = (part for part in self.parts if isinstance(part, Text | Reasoning))
        return sum(part.interval * _pieces_of(part) for part in paced)

    @property
    def output_tokens(self) -> int:
        """One per delivered piece of text or thought, one per tool use."""
        return sum(_pieces_of(part) for part in self.parts)

    @property
    def reasoning_tokens(self) -> int:
        """Those of them that are thought."""
        return sum(_pieces_of(part) for part in self.parts if isinstance(part, Reasoning))


def structured(value: Any) -> Text:
    """An answer that is JSON."""
    return Text(json.dumps(value))


def refusal(
    status: int, message: str, *, code: str | None = None, retry_after: float | None = None
) -> HttpError:
    """A refusal in the words of OpenAI, with the header that says when to come back."""
    body = {"error": {"message": message, "type": "error", "param": None, "code": code}}
    headers = {} if retry_after is None else {"Retry-After": f"{retry_after:g}"}
    return HttpError(status, body, headers)


def answer_of(reply: Reply) -> Answer | HttpError:
    """Brings a reply into its normal form."""
    if isinstance(reply, HttpError):
        return reply
    items = list(reply) if isinstance(reply, Sequence) else [reply]
    broken = items.pop() if items and isinstance(items[-1], Broken) else None
    assert broken is None or isinstance(broken, Broken)
    parts = [*_parts(items), *(_parts_before(broken) if broken else ())]
    spoken = tuple(part for part in parts if not isinstance(part, Finish))
    finish = [part.reason for part in parts if isinstance(part, Finish)]
    uses_tools = any(isinstance(part, ToolUse) for part in spoken)
    default: FinishReason = "tool_calls" if uses_tools else "stop"
    return Answer(spoken, finish[-1] if finish else default, broken)


def in_words(text: str) -> list[str]:
    """`text` cut into words, each with the space before it."""
    return re.findall(r"\s*\S+|\s+", text)


def _parts(items: Sequence[Part | Broken]) -> list[Part]:
    parts = [item for item in items if not isinstance(item, Broken)]
    if len(parts) != len(items):
        raise ValueError("Nothing can follow Broken; make it the last part of the reply.")
    return parts


def _parts_before(broken: Broken) -> Sequence[Part]:
    match broken.after:
        case str() as text:
            return (Text(text),) if text else ()
        case Text() | Reasoning() | ToolUse() | Finish() as part:
            return (part,)
        case parts:
            return parts


def _pieces_of(part: Text | Reasoning | ToolUse) -> int:
    match part:
        case Text():
            return len(part.delivered)
        case Reasoning():
            return len(in_words(part.text))
        case ToolUse():
            return 1
