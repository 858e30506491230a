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
    """A client is this one when it sends `header`, or names itself so in its user agent."""

    client: str
    header: str
    agent: str = ""
    """Stands in the user agent, in lower case; empty where another header tells."""
    forms: ToolForms
    reason: str


def _open_webui(header: str) -> Signature:
    return Signature(
        client="Open WebUI",
        header=header,
        forms=AUDIENCES["open_webui"],
        reason="It draws a card for a call and its output; an output that is a string hangs it.",
    )


def _framework(client: str, agent: str, reason: str) -> Signature:
    return Signature(
        client=client, header=USER_AGENT, agent=agent, forms=AUDIENCES["mcp"], reason=reason
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
        "ai-sdk",
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
    # Every request comes by here, so the user agent is looked up once.
    agent = headers.get(USER_AGENT, "").lower()
    for signature in SIGNATURES:
        if signature.agent in agent if signature.agent else signature.header in headers:
            return signature.forms
    return DEFAULT_FORMS
