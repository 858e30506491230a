"""How clients give themselves away by their headers, and which tool forms each of them bears.

The first row that matches counts. Each has its reason; docs/clients/dialects.md tells the whole.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from hermes.wire.tool_forms import AUDIENCES, DEFAULT_FORMS, ChatForm, ResponsesForm, ToolForms

USER_AGENT = "User-Agent"


@dataclass(frozen=True, slots=True, kw_only=True)
class Signature:
    """A client is this one when `header` is there and, but for case, has `holds` in it."""

    client: str
    header: str
    holds: str = ""
    forms: ToolForms
    reason: str

    def matches(self, headers: Mapping[str, str]) -> bool:
        value = headers.get(self.header)
        return value is not None and self.holds in value.lower()


def _open_webui(header: str) -> Signature:
    return Signature(
        client="Open WebUI",
        header=header,
        forms=AUDIENCES["open_webui"],
        reason="It draws a card for a call and its output; an output that is a string hangs it.",
    )


def _framework(client: str, holds: str, reason: str) -> Signature:
    return Signature(
        client=client, header=USER_AGENT, holds=holds, forms=AUDIENCES["mcp"], reason=reason
    )


SIGNATURES = (
    _open_webui("X-OpenWebUI-Chat-Id"),
    _open_webui("X-OpenWebUI-User-Id"),
    _open_webui("X-OpenWebUI-User-Jwt"),
    _open_webui("X-OpenWebUI-Task"),
    _framework(
        "OpenAI Agents SDK",
        "agents/",
        "A function_call is run again when it has a tool of that name, and is fatal when not.",
    ),
    _framework("Pydantic AI", "pydantic-ai/", "It runs a function_call again, or loops over it."),
    _framework(
        "AI SDK",
        "ai-sdk/",
        "It takes a function_call for its own to run; an mcp_call counts as run by the provider.",
    ),
    _framework(
        "LiteLLM", "litellm/", "Its bridge to chat completions hands a function_call on as open."
    ),
    Signature(
        client="OpenAI SDK",
        header="X-Stainless-Lang",
        forms=ToolForms(ResponsesForm.MCP_CALL, ChatForm.EVENT),
        reason="LangChain, LlamaIndex and others stand on it unnamed, and run a function_call "
        "again; the event in a chat stream is an empty chunk to all of them.",
    ),
)


def forms_for(headers: Mapping[str, str]) -> ToolForms:
    """The forms for whoever sent these headers (a mapping that ignores case)."""
    for signature in SIGNATURES:
        if signature.matches(headers):
            return signature.forms
    return DEFAULT_FORMS
