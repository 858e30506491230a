"""Known clients get forms they can bear; nobody else sees a difference."""

from __future__ import annotations

import pytest
from multidict import CIMultiDict

from hermes.wire.client_signatures import SIGNATURES, forms_for
from hermes.wire.tool_forms import AUDIENCES, DEFAULT_FORMS, ChatForm, ResponsesForm, ToolForms
from tests.house.sources import document

OPEN_WEBUI = AUDIENCES["open_webui"]
MCP = AUDIENCES["mcp"]
SDK = ToolForms(ResponsesForm.MCP_CALL, ChatForm.EVENT)
PYTHON = {"x-stainless-lang": "python"}


@pytest.mark.parametrize(
    ("headers", "forms"),
    [
        # As the clients really send them.
        ({"User-Agent": "Agents/Python 0.24.0", **PYTHON}, MCP),
        ({"User-Agent": "Agents/JavaScript 0.3.0", "x-stainless-lang": "js"}, MCP),
        ({"User-Agent": "pydantic-ai/2.66.0", **PYTHON}, MCP),
        ({"User-Agent": "ai/7.0.2 ai-sdk/openai/4.0.1 runtime/node.js/22"}, MCP),
        ({"User-Agent": "ai-sdk-openai/4.0.114 ai-sdk-provider-utils/5.0.79 node.js/26"}, MCP),
        ({"User-Agent": "litellm/1.106.0"}, MCP),
        ({"User-Agent": "AsyncOpenAI/Python 3.49.0", **PYTHON}, SDK),
        ({"User-Agent": "OpenAI/JS 7.53.0", "X-Stainless-Lang": "js"}, SDK),
        (
            {"User-Agent": "Python/3.12 aiohttp/3.13", "x-openwebui-chat-id": "c1"},
            AUDIENCES["open_webui"],
        ),
        ({"X-OpenWebUI-User-Id": "u1"}, AUDIENCES["open_webui"]),
        ({"User-Agent": "curl/8.5.0"}, DEFAULT_FORMS),
        ({"User-Agent": "Python/3.12 aiohttp/3.13"}, DEFAULT_FORMS),
        ({}, DEFAULT_FORMS),
    ],
)
def test_each_client_is_known_by_its_headers(headers: dict[str, str], forms: ToolForms):
    assert forms_for(CIMultiDict(headers)) == forms


def test_only_open_webui_and_unknown_clients_are_shown_function_calls():
    for signature in SIGNATURES:
        if signature.client != "Open WebUI":
            assert signature.forms.responses is ResponsesForm.MCP_CALL, signature.client


def test_every_client_of_the_table_is_in_the_documentation_with_its_header():
    page = document("clients/dialects.md")
    for signature in SIGNATURES:
        assert signature.client in page
        assert signature.header in page
