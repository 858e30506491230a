"""The fake provider over real sockets: read by the real SDK, and breaking off as told."""

from __future__ import annotations

import asyncio
import json
import signal
import sys
from collections.abc import AsyncIterator
from typing import Any

import aiohttp
import openai
import pytest
from openai.types.chat import ChatCompletionChunk

from hermes.testing.fake_provider import FakeProvider
from hermes.testing.fake_provider_thread import FakeProviderThread
from hermes.testing.replies import (
    Broken,
    Finish,
    HttpError,
    Reasoning,
    Reply,
    Text,
    ToolUse,
    refusal,
)
from hermes.testing.scripted import EchoModel, ScriptedModel, StreamOf
from hermes.testing.sse import parse_events

ASKED: list[Any] = [{"role": "user", "content": "hello out there"}]


@pytest.fixture
async def http() -> AsyncIterator[aiohttp.ClientSession]:
    async with aiohttp.ClientSession(timeout=aiohttp.ClientTimeout(total=10)) as session:
        yield session


def sdk(provider: FakeProvider) -> openai.AsyncOpenAI:
    return openai.AsyncOpenAI(base_url=provider.base_url, api_key="x", max_retries=0)


def stream_body(**fields: Any) -> dict[str, Any]:
    return {"model": "m", "messages": ASKED, "stream": True, **fields}


async def streamed(http: aiohttp.ClientSession, reply: Reply, path: str) -> bytes:
    """Everything one streamed answer consists of."""
    async with FakeProvider(ScriptedModel([reply])) as provider:
        response = await http.post(f"{provider.base_url}/{path}", json=stream_body())
        return await response.read()


async def test_the_sdk_reads_a_whole_chat_completion() -> None:
    async with FakeProvider(EchoModel()) as provider, sdk(provider) as client:
        answer = await client.chat.completions.create(model="m", messages=ASKED)
    assert answer.choices[0].message.content == "hello out there"
    assert answer.choices[0].finish_reason == "stop"
    assert answer.usage is not None
    assert answer.usage.completion_tokens == 3
    assert answer.model == "m"


async def test_the_sdk_reads_a_streamed_chat_completion_piece_by_piece() -> None:
    model = ScriptedModel([Text(pieces=["a", "b", "a"])])
    async with FakeProvider(model) as provider, sdk(provider) as client:
        stream = await client.chat.completions.create(
            model="m", messages=ASKED, stream=True, stream_options={"include_usage": True}
        )
        chunks = [chunk async for chunk in stream]
    deltas = [chunk.choices[0].delta.content for chunk in chunks if chunk.choices]
    assert deltas == ["", "a", "b", "a", None]
    assert chunks[-2].choices[0].finish_reason == "stop"
    assert chunks[-1].usage is not None
    assert chunks[-1].usage.completion_tokens == 3
    for chunk in chunks:
        ChatCompletionChunk.model_validate(chunk.model_dump(), strict=True)


async def test_usage_is_only_streamed_when_asked_for(http: aiohttp.ClientSession) -> None:
    async with FakeProvider(EchoModel()) as provider:
        url = f"{provider.base_url}/chat/completions"
        async with http.post(url, json=stream_body()) as response:
            events = parse_events(await response.read())
    assert response.content_type == "text/event-stream"
    assert events[-1].data == "[DONE]"
    assert not any("usage" in json.loads(event.data) for event in events[:-1])


async def test_tool_uses_and_reasoning_are_streamed_in_the_chat_dialect() -> None:
    script: list[Reply] = [
        [Reasoning("let me see"), ToolUse("ls", {"path": "."}), ToolUse("pwd", id="mine")]
    ]
    async with FakeProvider(ScriptedModel(script)) as provider, sdk(provider) as client:
        stream = await client.chat.completions.create(model="m", messages=ASKED, stream=True)
        deltas = [chunk.choices[0].delta async for chunk in stream]
    thought = "".join(getattr(delta, "reasoning_content", "") or "" for delta in deltas)
    calls = [call for delta in deltas for call in delta.tool_calls or ()]
    assert thought == "let me see"
    assert [(call.index, call.id) for call in calls if call.id] == [(0, "call_1_0"), (1, "mine")]
    first = "".join(
        call.function.arguments or "" for call in calls if call.index == 0 and call.function
    )
    assert json.loads(first) == {"path": "."}


async def test_a_whole_chat_completion_carries_tool_uses() -> None:
    script: list[Reply] = [[Reasoning("hm"), ToolUse("ls", {"path": "."})]]
    async with FakeProvider(ScriptedModel(script)) as provider, sdk(provider) as client:
        answer = await client.chat.completions.create(model="m", messages=ASKED)
    choice = answer.choices[0]
    assert choice.finish_reason == "tool_calls"
    assert choice.message.content is None
    assert choice.message.tool_calls is not None
    assert choice.message.tool_calls[0].model_dump()["function"] == {
        "name": "ls",
        "arguments": '{"path": "."}',
    }


async def test_the_sdk_reads_a_streamed_response() -> None:
    script: list[Reply] = [
        [Reasoning("let me see"), Text("all good"), ToolUse("ls", {"path": "."})]
    ]
    async with (
        FakeProvider(ScriptedModel(script)) as provider,
        sdk(provider) as client,
        client.responses.stream(model="m", input="hi") as stream,
    ):
        events = [event async for event in stream]
        final = await stream.get_final_response()
    texts = [event.delta for event in events if event.type == "response.output_text.delta"]
    assert texts == ["all", " good"]
    assert [event.type for event in events][:2] == ["response.created", "response.in_progress"]
    assert events[-1].type == "response.completed"
    assert [event.sequence_number for event in events] == list(range(len(events)))
    assert [item.type for item in final.output] == ["reasoning", "message", "function_call"]
    assert final.output_text == "all good"
    assert final.usage is not None
    assert final.usage.output_tokens == 6


async def test_the_sdk_reads_a_whole_response() -> None:
    async with FakeProvider(EchoModel()) as provider, sdk(provider) as client:
        answer = await client.responses.create(model="m", input="hello out there")
    assert answer.output_text == "hello out there"
    assert answer.status == "completed"


async def test_a_response_cut_at_its_length_is_incomplete() -> None:
    model = ScriptedModel([[Text("half a"), Finish("length")]])
    async with FakeProvider(model) as provider, sdk(provider) as client:
        stream = await client.responses.create(model="m", input="hi", stream=True)
        events = [event async for event in stream]
    last = events[-1]
    assert last.type == "response.incomplete"
    assert last.response.incomplete_details is not None
    assert last.response.incomplete_details.reason == "max_output_tokens"


async def test_anthropic_messages_are_streamed_block_by_block(http: aiohttp.ClientSession) -> None:
    reply: Reply = [Reasoning("let me see"), Text("all good"), ToolUse("ls", {"path": "."})]
    events = parse_events(await streamed(http, reply, "messages"))
    data = [json.loads(event.data) for event in events]
    assert [event.event for event in events] == [event["type"] for event in data]
    assert data[0]["type"] == "message_start"
    assert [event["content_block"]["type"] for event in data if "content_block" in event] == [
        "thinking",
        "text",
        "tool_use",
    ]
    deltas = [event["delta"] for event in data if event["type"] == "content_block_delta"]
    assert "".join(delta.get("thinking", "") for delta in deltas) == "let me see"
    assert "".join(delta.get("text", "") for delta in deltas) == "all good"
    assert json.loads("".join(d.get("partial_json", "") for d in deltas)) == {"path": "."}
    assert data[-2]["delta"]["stop_reason"] == "tool_use"
    assert data[-2]["usage"] == {"output_tokens": 6}
    assert data[-1] == {"type": "message_stop"}


async def test_an_anthropic_message_can_be_whole(http: aiohttp.ClientSession) -> None:
    script: list[Reply] = [[Reasoning("hm"), Text("hi"), ToolUse("ls", {"path": "."})]]
    async with FakeProvider(ScriptedModel(script)) as provider:
        body = {"model": "m", "messages": ASKED}
        async with http.post(f"{provider.origin}/v1/messages", json=body) as response:
            message = await response.json()
    assert [block["type"] for block in message["content"]] == ["thinking", "text", "tool_use"]
    assert message["content"][2]["input"] == {"path": "."}
    assert message["stop_reason"] == "tool_use"


async def test_the_models_are_listed() -> None:
    async with FakeProvider(EchoModel()) as provider, sdk(provider) as client:
        names = [model.id async for model in client.models.list()]
    assert "scripted" in names


async def test_the_model_sees_the_request_as_it_was_sent() -> None:
    model = ScriptedModel([Text("hi")])
    async with FakeProvider(model) as provider, sdk(provider) as client:
        await client.chat.completions.create(model="m", messages=ASKED, temperature=0.5)
    request = model.requests[0]
    assert request.body == {"model": "m", "messages": ASKED, "temperature": 0.5}
    assert request.headers["Authorization"] == "Bearer x"
    assert (request.dialect, request.number, request.wants_stream) == ("chat", 1, False)


async def test_a_request_beyond_the_script_is_refused_with_the_reason() -> None:
    async with FakeProvider(ScriptedModel([])) as provider, sdk(provider) as client:
        with pytest.raises(openai.BadRequestError, match="The script has 0 replies"):
            await client.chat.completions.create(model="m", messages=ASKED)


@pytest.mark.parametrize("body", [b"{", b"[]"])
async def test_a_body_that_is_no_json_object_is_refused(
    http: aiohttp.ClientSession, body: bytes
) -> None:
    async with FakeProvider(EchoModel()) as provider:
        url = f"{provider.base_url}/chat/completions"
        async with http.post(url, data=body) as response:
            assert response.status == 400


async def test_an_http_error_has_its_status_body_and_headers(http: aiohttp.ClientSession) -> None:
    errors = [
        HttpError(429, {"error": {"message": "slow down"}}, {"Retry-After": "7"}),
        HttpError(502, "<html>bad gateway</html>"),
    ]
    async with FakeProvider(ScriptedModel(errors)) as provider:
        url = f"{provider.base_url}/chat/completions"
        async with http.post(url, json=stream_body()) as first:
            assert (first.status, first.headers["Retry-After"]) == (429, "7")
            assert await first.json() == {"error": {"message": "slow down"}}
        async with http.post(url, json=stream_body()) as second:
            assert (second.status, second.content_type) == (502, "text/html")
            assert await second.text() == "<html>bad gateway</html>"


PATHS = ["chat/completions", "responses", "messages"]


@pytest.mark.parametrize("path", PATHS)
async def test_a_reset_with_nothing_before_it_comes_instead_of_an_answer(
    http: aiohttp.ClientSession, path: str
) -> None:
    async with FakeProvider(ScriptedModel([Broken(), Broken()])) as provider:
        for wants_stream in (True, False):
            with pytest.raises(aiohttp.ClientOSError):
                await http.post(
                    f"{provider.base_url}/{path}", json=stream_body(stream=wants_stream)
                )
    assert provider.disconnects == 0


@pytest.mark.parametrize("path", PATHS)
async def test_a_reset_in_mid_stream_comes_after_the_text(
    http: aiohttp.ClientSession, path: str
) -> None:
    received = b""
    async with (
        FakeProvider(ScriptedModel([Broken("some words")])) as provider,
        http.post(f"{provider.base_url}/{path}", json=stream_body()) as response,
    ):
        with pytest.raises(aiohttp.ClientError):
            async for piece in response.content.iter_any():
                received += piece
    assert b" words" in received
    assert provider.disconnects == 0


@pytest.mark.parametrize("path", PATHS)
async def test_an_early_end_is_clean_but_lacks_the_closing_events(
    http: aiohttp.ClientSession, path: str
) -> None:
    text = (await streamed(http, Broken("some words", how="eof"), path)).decode()
    assert " words" in text
    assert not any(end in text for end in ("[DONE]", "response.completed", "message_stop"))
    parse_events(text)


@pytest.mark.parametrize("path", PATHS)
async def test_garbage_is_an_event_that_is_not_json(http: aiohttp.ClientSession, path: str) -> None:
    events = parse_events(await streamed(http, Broken("some words", how="garbage"), path))
    with pytest.raises(json.JSONDecodeError):
        json.loads(events[-1].data)
    json.loads(events[-2].data)


@pytest.mark.parametrize("path", PATHS)
async def test_an_error_event_is_the_dialects_own(http: aiohttp.ClientSession, path: str) -> None:
    events = parse_events(await streamed(http, Broken("some words", how="error_event"), path))
    data = json.loads(events[-1].data)
    assert "broke off" in str(data)
    assert "error" in data or data["type"] == "error"


async def test_the_sdk_raises_on_an_error_event() -> None:
    model = ScriptedModel([Broken("some words", how="error_event")])
    async with FakeProvider(model) as provider, sdk(provider) as client:
        stream = await client.chat.completions.create(model="m", messages=ASKED, stream=True)
        with pytest.raises(openai.APIError, match="broke off"):
            [chunk async for chunk in stream]


@pytest.mark.parametrize(
    ("how", "status", "is_json"),
    [("eof", 200, False), ("garbage", 200, False), ("error_event", 500, True)],
)
async def test_an_answer_that_is_not_streamed_breaks_in_its_own_way(
    http: aiohttp.ClientSession, how: Any, status: int, is_json: bool
) -> None:
    async with FakeProvider(ScriptedModel([Broken("some words", how=how)])) as provider:
        body = {"model": "m", "messages": ASKED}
        async with http.post(f"{provider.base_url}/chat/completions", json=body) as response:
            raw = await response.read()
    assert response.status == status
    if is_json:
        assert "error" in json.loads(raw)
    else:
        with pytest.raises(json.JSONDecodeError):
            json.loads(raw)


@pytest.mark.parametrize("wants_stream", [True, False])
async def test_a_client_that_leaves_a_stalled_answer_is_noticed_within_a_second(
    wants_stream: bool,
) -> None:
    async with FakeProvider(ScriptedModel([Broken(how="stall")])) as provider:
        async with aiohttp.ClientSession() as leaving:
            body = stream_body(stream=wants_stream)
            url = f"{provider.base_url}/chat/completions"
            asking = asyncio.ensure_future(leaving.post(url, json=body))
            await provider.wait_for_requests()
            assert (provider.disconnects, provider.open_connections) == (0, 1)
            asking.cancel()
            await asyncio.gather(asking, return_exceptions=True)
        await provider.wait_for_disconnects(within=1.0)
        assert provider.disconnects == 1


async def test_a_client_that_leaves_a_running_stream_is_noticed() -> None:
    async with FakeProvider(StreamOf(100_000, interval=0.001)) as provider:
        async with aiohttp.ClientSession() as leaving:
            url = f"{provider.base_url}/chat/completions"
            async with leaving.post(url, json=stream_body()) as response:
                await response.content.readany()
        await provider.wait_for_disconnects(within=1.0)


async def test_waiting_for_what_does_not_happen_ends_with_a_timeout() -> None:
    async with FakeProvider(EchoModel()) as provider:
        with pytest.raises(TimeoutError):
            await provider.wait_for_disconnects(within=0.01)
        with pytest.raises(TimeoutError):
            await provider.wait_for_requests(within=0.01)


async def test_closing_the_provider_ends_a_stalled_answer_without_counting_a_disconnect(
    http: aiohttp.ClientSession,
) -> None:
    async with FakeProvider(ScriptedModel([Broken(how="stall")])) as provider:
        url = f"{provider.base_url}/chat/completions"
        response = await http.post(url, json=stream_body())
    await response.read()
    assert provider.disconnects == 0
    assert provider.open_connections == 0


async def test_a_kept_connection_counts_once(http: aiohttp.ClientSession) -> None:
    async with FakeProvider(EchoModel()) as provider:
        for _ in range(3):
            url = f"{provider.base_url}/chat/completions"
            async with http.post(url, json=stream_body()) as response:
                await response.read()
        assert (provider.requests_seen, provider.connections_made) == (3, 1)


async def test_the_pace_of_a_stream_is_kept(http: aiohttp.ClientSession) -> None:
    loop = asyncio.get_running_loop()
    async with FakeProvider(StreamOf()) as provider:
        url = f"{provider.base_url}/chat/completions"
        for wants_stream in (True, False):
            started = loop.time()
            body = stream_body(model="tokens-20-10ms", stream=wants_stream)
            async with http.post(url, json=body) as response:
                text = await response.text()
            assert text.count(" token") == 20
            assert loop.time() - started >= 0.19


def test_the_threaded_provider_serves_code_without_an_event_loop() -> None:
    with FakeProviderThread(EchoModel()) as provider:
        with openai.OpenAI(base_url=provider.base_url, api_key="x", max_retries=0) as client:
            answer = client.chat.completions.create(model="m", messages=ASKED)
            assert answer.choices[0].message.content == "hello out there"
        assert provider.origin + "/v1" == provider.base_url
        provider.wait_for_requests(1)
        assert (provider.requests_seen, provider.connections_made) == (1, 1)
        assert provider.disconnects == 0


def test_the_threaded_provider_notices_a_client_that_leaves() -> None:
    with FakeProviderThread(ScriptedModel([Broken("some", how="stall")])) as provider:
        with openai.OpenAI(base_url=provider.base_url, api_key="x", max_retries=0) as client:
            stream = client.chat.completions.create(model="m", messages=ASKED, stream=True)
            next(iter(stream))
            stream.close()
        provider.wait_for_disconnects(within=1.0)
        assert provider.disconnects == 1


def test_the_threaded_provider_frees_its_loop_when_the_port_is_taken() -> None:
    with FakeProviderThread(EchoModel()) as first:
        port = int(first.origin.rpartition(":")[2])
        with pytest.raises(OSError, match=r"in use"), FakeProviderThread(EchoModel(), port=port):
            pass


async def test_it_runs_as_a_program_of_its_own(http: aiohttp.ClientSession) -> None:
    command = (sys.executable, "-m", "hermes.testing.fake_provider", "--tokens", "3")
    program = await asyncio.create_subprocess_exec(*command, stdout=asyncio.subprocess.PIPE)
    try:
        assert program.stdout is not None
        line = await asyncio.wait_for(program.stdout.readline(), 20)
        base_url = line.decode().split()[-1]
        async with http.post(f"{base_url}/chat/completions", json=stream_body()) as response:
            assert (await response.text()).count(" token") == 3
    finally:
        program.send_signal(signal.SIGTERM)
        assert await asyncio.wait_for(program.wait(), 10) == 0


async def test_the_sdk_sees_how_much_of_the_usage_was_thought() -> None:
    model = ScriptedModel([[Reasoning("let me think"), Text("Yes")]] * 2)
    async with FakeProvider(model) as provider, sdk(provider) as client:
        chat = await client.chat.completions.create(model="m", messages=ASKED)
        response = await client.responses.create(model="m", input="hello")
    assert chat.usage is not None and response.usage is not None
    assert chat.usage.completion_tokens_details is not None
    assert chat.usage.completion_tokens_details.reasoning_tokens == 3
    assert response.usage.output_tokens_details.reasoning_tokens == 3


async def test_the_sdk_raises_its_own_error_for_a_refusal() -> None:
    model = ScriptedModel([refusal(429, "Slow down.", retry_after=1.5)])
    async with FakeProvider(model) as provider, sdk(provider) as client:
        with pytest.raises(openai.RateLimitError, match=r"Slow down\.") as refused:
            await client.chat.completions.create(model="m", messages=ASKED)
    assert refused.value.response.headers["Retry-After"] == "1.5"
