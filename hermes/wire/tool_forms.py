"""The forms in which an answer shows what is not the answer: the server's tools, the thinking.

A client may be shown a tool that has already run, or may run it again: it depends on the form.
Which client bears which form is written down in `hermes.wire.client_signatures`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from enum import Enum
from types import MappingProxyType
from typing import Any

Preview = Callable[[str, Mapping[str, Any]], str]
"""A short label for a call, from the tool's name and arguments."""


class ResponsesForm(Enum):
    """A tool that the server ran, in the output of a response."""

    FUNCTION_CALL = "function_call"
    """A call and its output; a string, or a list of parts where it is streamed."""
    OPEN_WEBUI = "open_webui"
    """A call and its output, always as a list of parts: a string hangs Open WebUI's page."""
    MCP_CALL = "mcp_call"
    """The API's own item for a call that has been executed already."""
    REASONING = "reasoning"
    """A reasoning item with one line per call."""
    HIDDEN = "hidden"


class ChatForm(Enum):
    """A tool that the server ran, in a chat stream. An answer in one piece shows none."""

    EVENT = "event"
    """A named event whose data is an empty chunk with extra keys."""
    DELTA = "delta"
    """An extra key in the delta of an ordinary chunk."""
    REASONING = "reasoning"
    """A line in `reasoning_content`."""
    HIDDEN = "hidden"


@dataclass(frozen=True, slots=True)
class ToolForms:
    """What one kind of client is shown on either API."""

    responses: ResponsesForm
    chat: ChatForm


DEFAULT_FORMS = ToolForms(ResponsesForm.FUNCTION_CALL, ChatForm.EVENT)

AUDIENCES: Mapping[str, ToolForms] = MappingProxyType(
    {
        "default": DEFAULT_FORMS,
        "mcp": ToolForms(ResponsesForm.MCP_CALL, ChatForm.DELTA),
        "open_webui": ToolForms(ResponsesForm.OPEN_WEBUI, ChatForm.REASONING),
        "reasoning": ToolForms(ResponsesForm.REASONING, ChatForm.REASONING),
        "hidden": ToolForms(ResponsesForm.HIDDEN, ChatForm.HIDDEN),
    }
)
"""The forms by the names that a header or a setting may ask for."""


class ReasoningView(Enum):
    """Whether the model's thinking is shown."""

    SHOWN = "show"
    HIDDEN = "hide"
    IF_ASKED = "if_asked"
    """Only where the body of the request asks for it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Dialect:
    """How one client is answered."""

    forms: ToolForms = DEFAULT_FORMS
    reasoning: ReasoningView = ReasoningView.IF_ASKED

    def shows_reasoning(self, *, asked: bool = False) -> bool:
        if self.reasoning is ReasoningView.IF_ASKED:
            return asked
        return self.reasoning is ReasoningView.SHOWN


CONTRACT_DIALECT = Dialect()
"""For a client that says nothing about itself."""
