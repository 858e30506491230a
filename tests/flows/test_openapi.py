"""What the gateway really answers, held against its own OpenAPI document."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import aiohttp
import pytest

from hermes.testing.gateway import TestGateway
from hermes.wire.tool_forms import AUDIENCES
from tests.flows.described import DescribedClient

KEY = "openapi-key-0123456789"
LISTING = "List the files in the workspace"
SLEEPING = "run `sleep 30`"
QUESTION = {"role": "user", "content": "Hello"}


@pytest.fixture
async def client(tmp_path: Path) -> AsyncIterator[DescribedClient]:
    headers = {"Authorization": f"Bearer {KEY}"}
    async with (
        TestGateway(home=tmp_path, key=KEY) as gateway,
        aiohttp.ClientSession(headers=headers) as http,
    ):
        yield DescribedClient(http, gateway.url, await _document(gateway.url))


async def _document(url: str) -> Any:
    async with (
        aiohttp.ClientSession() as anybody,
        anybody.get(f"{url}/openapi.json") as answer,
    ):
        assert answer.status == 200
        return await answer.json()


async def test_everything_the_document_promises_is_answered_as_described(
    client: DescribedClient,
) -> None:
    await _about(client)
    await _chat(client)
    await _responses(client)
    await _conversations(client)
    await _sessions(client)
    await _runs(client)
    await _files(client)
    await _memories(client)
    await _mcp(client)

    unseen = client.successes() - client.seen
    assert not unseen, "ask for each in this file: what is described should be seen"


async def _about(client: DescribedClient) -> None:
    for name in ("health", "health_alias", "health_detailed", "capabilities", "openapi", "metrics"):
        await client.ask(name)
    for name in ("skills", "toolsets", "models"):
        assert (await client.ask(name))["object"] == "list"
    assert (await client.ask("usage"))["object"] == "usage"
    await client.ask("model", model_id="hermes-agent")
    await client.ask("model", 404, model_id="some/other")


async def _chat(client: DescribedClient) -> None:
    body = {"messages": [{"role": "user", "content": LISTING}]}
    await client.ask("chat_completions", body=body)
    chunks = await client.ask(
        "chat_completions",
        body={**body, "stream": True, "stream_options": {"include_usage": True}},
    )
    assert any("toolCallId" in chunk for chunk in chunks), "a tool was meant to run"
    await client.ask("chat_completions", 400, body={"messages": []})
    kept = (await client.ask("chat_completions", body={**body, "store": True}))["id"]
    assert [chat["id"] for chat in (await client.ask("stored_chats", limit=1))["data"]] == [kept]
    await client.ask("stored_chat_update", completion_id=kept, body={"metadata": {"a": "b"}})
    assert (await client.ask("stored_chat", completion_id=kept))["metadata"] == {"a": "b"}
    assert (await client.ask("stored_chat_messages", completion_id=kept))["data"]
    await client.ask("stored_chat_delete", completion_id=kept)
    await client.ask("stored_chat", 404, completion_id=kept)


async def _responses(client: DescribedClient) -> None:
    whole = await client.ask("responses", body={"input": LISTING})
    assert {item["type"] for item in whole["output"]} >= {"function_call", "message"}
    events = await client.ask("responses", body={"input": LISTING, "stream": True})
    assert events[-1]["type"] == "response.completed"
    response_id = events[-1]["response"]["id"]
    await client.ask("response", response_id=response_id)
    replayed = await client.ask("response", response_id=response_id, stream="true")
    assert replayed == events
    await client.ask("response_input_items", response_id=response_id, limit=1)
    await client.ask("response_cancel", 400, response_id=response_id)
    waiting = await client.ask("responses", body={"input": LISTING, "background": True})
    await client.ask("response_cancel", response_id=waiting["id"])
    await client.ask("response_delete", response_id=response_id)
    await client.ask("response", 404, response_id=response_id)
    await client.ask("responses_websocket", 400)
    await client.ask("response_input_tokens", body={"input": "How many?"})
    short = await client.ask("response_compact", body={"model": "any", "input": LISTING})
    await client.ask("responses", body={"input": [*short["output"], QUESTION]})


async def _conversations(client: DescribedClient) -> None:
    items = [QUESTION, {"type": "function_call", "call_id": "c", "name": "f", "arguments": "{}"}]
    made = await client.ask("conversation_create", body={"items": items, "metadata": {"a": "b"}})
    named = {"conversation_id": made["id"]}
    await client.ask("conversation", **named)
    await client.ask("conversation_update", **named, body={"metadata": None})
    more = [{"type": "function_call_output", "call_id": "c", "output": "done"}]
    await client.ask("conversation_items_add", **named, body={"items": more})
    await client.ask("responses", body={"input": LISTING, "conversation": made["id"]})
    listed = await client.ask("conversation_items", **named, order="asc")
    assert len(listed["data"]) > 3
    one = {**named, "item_id": listed["first_id"]}
    await client.ask("conversation_item", **one)
    await client.ask("conversation_item_delete", **one)
    await client.ask("conversation_item", 404, **one)
    await client.ask("conversation_delete", **named)
    await client.ask("conversation", 404, **named)


async def _sessions(client: DescribedClient) -> None:
    made = await client.ask("session_create", 201, body={"title": "One"})
    session_id = made["session"]["id"]
    await client.ask("session_patch", session_id=session_id, body={"title": None})
    await client.ask("session_chat", session_id=session_id, body={"message": LISTING})
    await client.ask("session_chat_stream", session_id=session_id, body={"message": LISTING})
    await client.ask("session_chat_rejoin", session_id=session_id)
    said = (await client.ask("session_messages", session_id=session_id))["data"]
    assert (await client.ask("session_messages", session_id=session_id, limit=1))["has_more"]
    assert (await client.ask("session_search", q="hello OR files"))["query"]
    exported = await client.ask("session_export", session_id=session_id)
    await client.ask("session_import", 201, body=exported)
    await client.ask("session_import", 409, body=exported, keep_id="true")
    await client.ask("session_compact", session_id=session_id, body={"keep_last": 1})
    branch = {"message_id": said[0]["id"]}
    await client.ask("session_fork", 201, session_id=session_id, body=branch)
    await client.ask("session", session_id=session_id)
    assert (await client.ask("session_todos", session_id=session_id))["data"] == []
    await client.ask("session_fork", 201, session_id=session_id)
    assert (await client.ask("sessions", limit=1))["has_more"]
    await client.ask("session_delete", session_id=session_id)
    await client.ask("session_chat", 404, session_id=session_id, body={"message": "Hello"})


async def _runs(client: DescribedClient) -> None:
    done = await client.ask("runs", body={"input": LISTING, "wait": 10})
    await client.ask("run_status", run_id=done["id"])
    await client.ask("run_events", run_id=done["id"])
    await client.ask("run_events", run_id=done["id"], after=3)
    assert (await client.ask("run_list", limit=1))["has_more"]
    await client.ask("run_steer", 409, run_id=done["id"], body={"text": "Hurry up"})
    long = await client.ask("runs", 202, body={"input": SLEEPING})
    steered = {"run_id": long["id"], "body": {"text": "Be brief"}}
    async with asyncio.timeout(5):
        while not await _is_running(client, long["id"]):
            await asyncio.sleep(0.01)
    await client.ask("run_steer", 202, **steered)
    await client.ask("run_stop", run_id=long["id"])
    made = await client.ask("runs", body={"input": 'write "hi" to made.txt', "wait": 10})
    assert (await client.ask("run_receipt", run_id=made["id"]))["files"]
    assert (await client.ask("run_undo", run_id=made["id"], dry_run="true"))["files"]
    asking = await client.ask("runs", 202, body={"input": "run `rm -r build`", "wait": 10})
    await client.ask("run_undo", 409, run_id=asking["id"])
    await client.ask("run_approval", run_id=asking["id"], body={"decision": "deny"})
    await client.ask("run_approval", 409, run_id=asking["id"], body={"decision": "deny"})


async def _is_running(client: DescribedClient, run_id: str) -> bool:
    run = await client.ask("run_status", run_id=run_id)
    return bool(run["status"] == "running")


async def _mcp(client: DescribedClient) -> None:
    about = {
        "protocolVersion": "2025-06-18",
        "capabilities": {},
        "clientInfo": {"name": "test", "version": "1"},
    }
    opening = {"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": about}
    (answer,) = await client.ask("mcp", body=opening)
    assert answer["result"]["serverInfo"]["name"] == "hermes-gateway"
    await client.ask("mcp", 400, body={"jsonrpc": "2.0"})
    await client.ask("mcp_stream", 400)
    await client.ask("mcp_end", 400)


async def _files(client: DescribedClient) -> None:
    form = aiohttp.FormData({"purpose": "user_data"})
    form.add_field("file", b"data", filename="a.txt")
    file = await client.ask("file_create", body=form)
    await client.ask("file_create", 400, body=aiohttp.FormData({"purpose": "user_data"}))
    assert (await client.ask("files", limit=1))["data"] == [file]
    assert await client.ask("file", file_id=file["id"]) == file
    assert await client.ask("file_content", file_id=file["id"]) == b"data"
    await client.ask("file_delete", file_id=file["id"])
    await client.ask("file", 404, file_id=file["id"])


async def _memories(client: DescribedClient) -> None:
    made = await client.ask("memory_create", 201, body={"text": "Ada likes tea."})
    await client.ask("memory_create", 400, body={"text": " "})
    await client.ask("memory_create", 201, body={"text": "Ada has a cat."})
    assert (await client.ask("memories", limit=1))["has_more"]
    await client.ask("memories", 404, after="mem_none")
    changed = {"memory_id": made["id"], "body": {"text": "Ada likes coffee."}}
    assert (await client.ask("memory_change", **changed))["text"] == "Ada likes coffee."
    await client.ask("memory", memory_id=made["id"])
    await client.ask("memory_delete", memory_id=made["id"])
    await client.ask("memory", 404, memory_id=made["id"])
    assert (await client.ask("memories_delete"))["deleted"] == 1


@pytest.mark.parametrize("form", AUDIENCES)
async def test_every_form_of_the_servers_tools_is_described(
    client: DescribedClient, form: str
) -> None:
    headers = {"X-Hermes-Tool-Form": form, "X-Hermes-Reasoning": "show"}
    chat = {"messages": [{"role": "user", "content": LISTING}]}

    for body in (chat, {**chat, "stream": True}):
        await client.ask("chat_completions", body=body, headers=headers)
    for body in ({"input": LISTING}, {"input": LISTING, "stream": True}):
        await client.ask("responses", body=body, headers=headers)


async def test_calls_for_the_clients_own_tools_are_described(client: DescribedClient) -> None:
    function = {"name": "lookup", "parameters": {"type": "object"}}
    chat = {
        "messages": [{"role": "user", "content": "Call lookup"}],
        "tools": [{"type": "function", "function": function}],
        "tool_choice": "required",
    }
    response = {
        "input": "Call lookup",
        "tools": [{"type": "function", **function}],
        "tool_choice": "required",
    }

    whole = await client.ask("chat_completions", body=chat)
    assert whole["choices"][0]["finish_reason"] == "tool_calls"
    await client.ask("chat_completions", body={**chat, "stream": True})
    assert (await client.ask("responses", body=response))["output"][-1]["name"] == "lookup"
    await client.ask("responses", body={**response, "stream": True})


async def test_only_public_routes_are_described_without_a_key(client: DescribedClient) -> None:
    for path, item in client.document["paths"].items():
        for method, operation in item.items():
            async with (
                aiohttp.ClientSession() as stranger,
                stranger.request(
                    method, client.url + path.replace("{", "").replace("}", "")
                ) as answer,
            ):
                assert (answer.status == 401) == bool(operation["security"]), path


@pytest.mark.parametrize("name", ["compact", "input_tokens"])
async def test_what_is_no_response_is_only_posted_to(client: DescribedClient, name: str) -> None:
    async with client.http.get(f"{client.url}/v1/responses/{name}") as answer:
        assert (answer.status, answer.headers["Allow"]) == (405, "POST")


async def test_the_document_keeps_the_gateways_secrets(client: DescribedClient) -> None:
    assert KEY not in str(client.document)
