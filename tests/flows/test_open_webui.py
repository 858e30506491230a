"""Chats of Open WebUI: kept, branched, and spared its side requests."""

from __future__ import annotations

from typing import Any

from hermes.testing.replies import Text, ToolUse
from tests.flows.conftest import Flow, StartFlow

CHAT = "/v1/chat/completions"
ABC = {"X-OpenWebUI-Chat-Id": "abc"}


async def say(served: Flow, *texts: str, headers: dict[str, str] = ABC, **body: Any) -> str:
    """Send a conversation, user and assistant by turns; the id of the session that answered."""
    roles = ("user", "assistant")
    messages = [{"role": roles[at % 2], "content": text} for at, text in enumerate(texts)]
    url = served.gateway.url + CHAT
    async with served.http.post(
        url, json={"messages": messages, **body}, headers=headers
    ) as response:
        assert response.status == 200, await response.text()
        await response.read()
        return response.headers.get("X-Hermes-Session-Id", "")


async def stored(served: Flow, session_id: str) -> list[str]:
    _, answer = await served.answer("GET", f"/api/sessions/{session_id}/messages")
    return [message["content"] for message in answer["data"] if message["role"] != "tool"]


async def test_a_chat_goes_on_in_its_session_with_what_the_tools_did(flow: StartFlow) -> None:
    served = await flow([ToolUse("list_files", {"path": "."}), Text("Empty."), Text("Still.")])
    first = await say(served, "What is there?")
    second = await say(served, "What is there?", "Empty.", "And now?")
    roles = [message["role"] for message in served.requests[-1].messages]

    assert (first, second) == ("owui-abc", "owui-abc")
    assert roles == ["system", "user", "assistant", "tool", "assistant", "user"]


async def test_an_edited_or_regenerated_chat_branches_and_nothing_is_mixed(
    flow: StartFlow,
) -> None:
    served = await flow(lambda request: Text(f"Re: {request.messages[-1]['content']}"))
    await say(served, "a")
    await say(served, "a", "Re: a", "b")
    regenerated = await say(served, "a", "Re: a", "b")
    edited = await say(served, "x")
    back = await say(served, "x", "Re: x", "y")

    assert (regenerated, edited, back) == ("owui-abc-2", "owui-abc-3", "owui-abc-3")
    assert await stored(served, "owui-abc") == ["a", "Re: a", "b", "Re: b"]
    assert await stored(served, "owui-abc-2") == ["a", "Re: a", "b", "Re: b"]
    assert await stored(served, "owui-abc-3") == ["x", "Re: x", "y", "Re: y"]


async def test_side_requests_reach_the_model_alone(flow: StartFlow) -> None:
    served = await flow(lambda _: Text("A title"))
    await say(served, "Hello")
    prompt = "### Task:\nGenerate a concise, 3-5 word title with an emoji."
    by_prompt = await say(served, prompt)
    by_header = await say(
        served, "Name it", headers={**ABC, "X-OpenWebUI-Task": "title_generation"}, stream=True
    )
    side = served.requests[1:]

    assert (by_prompt, by_header) == ("", "")
    assert [request.body.get("tools") for request in side] == [None, None]
    assert [[message["role"] for message in request.messages] for request in side] == [
        ["user"],
        ["user"],
    ]
    assert await stored(served, "owui-abc") == ["Hello", "A title"]


async def test_temporary_chats_and_open_gateways_keep_nothing(flow: StartFlow) -> None:
    served = await flow(lambda _: Text("Hi"))
    temporary = await say(served, "Hello", headers={"X-OpenWebUI-Chat-Id": "local:abc"})
    opened = await flow(lambda _: Text("Hi"), key="")
    without_key = await say(opened, "Hello")

    assert temporary.startswith("api-")
    assert without_key.startswith("api-")


async def test_dozens_of_client_tools_with_every_message_are_fine(flow: StartFlow) -> None:
    tools = [{"type": "function", "function": {"name": f"tool_{at}"}} for at in range(36)]
    served = await flow([Text("Hi")])

    assert await say(served, "Hello", tools=tools, stream=True) == "owui-abc"
    assert len(served.requests[0].body["tools"]) > 36
