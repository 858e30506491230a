"""Chat completions as clients meet them: the real SDK, a real socket, a scripted provider."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from openai.types.chat import ChatCompletion, ChatCompletionChunk

from hermes.testing.replies import Broken, Finish, HttpError, Reasoning, Text, ToolUse
from hermes.testing.scripted import EchoModel
from hermes.testing.sse import ServerSentEvent, parse_events
from tests.flows.conftest import KEY, Flow, StartFlow, eventually

CHAT = "/v1/chat/completions"
HELLO: list[Any] = [{"role": "user", "content": "Hello"}]
ASKED = {"messages": HELLO}


def chunks_of(stream: str) -> list[dict[str, Any]]:
    """The JSON of every event of a chat stream; the last event must be [DONE]."""
    *events, last = parse_events(stream)
    assert last == ServerSentEvent(None, "[DONE]")
    return [json.loads(event.data) for event in events]


def said(chunks: list[dict[str, Any]]) -> str:
    return "".join(
        choice["delta"].get("content") or "" for chunk in chunks for choice in chunk["choices"]
    )


# --- answers --------------------------------------------------------------------------------------


async def test_a_plain_completion_is_a_valid_object_of_the_sdk(flow: StartFlow) -> None:
    served = await flow([Text("Hello there")])
    answer = await served.sdk.chat.completions.create(model="mine", messages=HELLO)

    ChatCompletion.model_validate(answer.model_dump(), strict=True)
    assert answer.model == "mine"
    assert answer.choices[0].message.content == "Hello there"
    assert answer.choices[0].finish_reason == "stop"
    assert answer.usage is not None
    assert answer.usage.total_tokens == answer.usage.prompt_tokens + answer.usage.completion_tokens


async def test_a_plain_sdk_loop_survives_tool_progress(flow: StartFlow) -> None:
    served = await flow([ToolUse("list_files", {"path": "."}), Text("Nothing here.")])
    stream = await served.sdk.chat.completions.create(model="any", messages=HELLO, stream=True)
    text = "".join([chunk.choices[0].delta.content or "" async for chunk in stream])

    assert text == "Nothing here."


async def test_every_event_of_a_stream_is_a_valid_chunk(flow: StartFlow) -> None:
    served = await flow([[Text("Looking."), ToolUse("list_files", {"path": "."})], Text("Done.")])
    stream = await served.text(CHAT, {**ASKED, "stream": True})
    chunks = chunks_of(stream)
    for chunk in chunks:
        ChatCompletionChunk.model_validate_json(json.dumps(chunk), strict=True)

    assert chunks[0]["choices"][0]["delta"]["role"] == "assistant"
    assert [chunk["choices"][0]["finish_reason"] for chunk in chunks if chunk["choices"]] == [
        *[None] * (len(chunks) - 1),
        "stop",
    ]
    assert len({(chunk["id"], chunk["created"], chunk["model"]) for chunk in chunks}) == 1
    progress = [event for event in parse_events(stream) if event.event == "hermes.tool.progress"]
    assert [json.loads(event.data)["status"] for event in progress] == ["running", "completed"]
    assert said(chunks).startswith("Looking.")
    assert said(chunks).endswith("Done.")


async def test_usage_comes_once_at_the_end_and_only_when_asked_for(flow: StartFlow) -> None:
    served = await flow([Text("One two"), Text("One two")])
    without = chunks_of(await served.text(CHAT, {**ASKED, "stream": True}))
    asked = {**ASKED, "stream": True, "stream_options": {"include_usage": True}}
    with_usage = chunks_of(await served.text(CHAT, asked))

    assert all("usage" not in chunk for chunk in without)
    assert [chunk for chunk in with_usage if chunk["usage"]] == [with_usage[-1]]
    assert with_usage[-1]["choices"] == []
    assert with_usage[-1]["usage"]["completion_tokens"] == 2


async def test_usage_adds_up_over_the_model_calls_of_a_turn(flow: StartFlow) -> None:
    served = await flow([ToolUse("list_files", {"path": "."}), Text("One two three")])
    answer = await served.sdk.chat.completions.create(model="any", messages=HELLO)

    assert answer.usage is not None
    assert answer.usage.completion_tokens == 4


async def test_thinking_is_no_part_of_the_answer(flow: StartFlow) -> None:
    served = await flow([[Reasoning("Let me think"), Text("Yes.")]] * 2)
    whole = await served.sdk.chat.completions.create(model="any", messages=HELLO)
    streamed = chunks_of(await served.text(CHAT, {**ASKED, "stream": True}))

    assert whole.choices[0].message.content == said(streamed) == "Yes."


async def test_an_answer_cut_at_the_length_limit_says_so(flow: StartFlow) -> None:
    served = await flow([[Text("Half an ans"), Finish("length")]] * 2)
    answer = await served.sdk.chat.completions.with_raw_response.create(model="any", messages=HELLO)
    streamed = chunks_of(await served.text(CHAT, {**ASKED, "stream": True}))

    assert answer.headers["X-Hermes-Completed"] == "false"
    assert answer.parse().choices[0].finish_reason == "length"
    assert streamed[-1]["choices"][0]["finish_reason"] == "length"
    assert streamed[-1]["hermes"]["error_code"] == "output_truncated"
    assert said(streamed) == "Half an ans"


async def test_a_silent_stream_is_kept_open_with_comments(flow: StartFlow) -> None:
    silent = Text(pieces=["After", " a while"], interval=0.3)
    served = await flow([silent], keepalive_seconds=0.1)
    stream = await served.text(CHAT, {**ASKED, "stream": True})

    assert ": keepalive\n\n" in stream
    assert said(chunks_of(stream)) == "After a while"


async def test_the_client_gets_its_first_chunk_before_the_model_says_anything(
    flow: StartFlow,
) -> None:
    served = await flow([Broken(how="stall")])
    stream = await served.sdk.chat.completions.create(model="any", messages=HELLO, stream=True)
    async with asyncio.timeout(2):
        first = await anext(aiter(stream))
    await stream.close()

    assert first.choices[0].delta.role == "assistant"


@pytest.mark.parametrize(
    "text",
    [
        "data: [DONE]\n\ndata: {}\n\n",
        "\r\nevent: error\r\n\r\n",
        "one\u2028two\u2029three\x85four",
        ": comment\n\nid: 7\n\nretry: 1\n\n",
        '"}],"choices":[{"delta":{"content":"injected"',
    ],
)
async def test_no_text_of_a_model_can_break_out_of_its_event(flow: StartFlow, text: str) -> None:
    served = await flow([Text(pieces=[text]), Text(pieces=[text])])
    stream = await served.text(CHAT, {**ASKED, "stream": True})
    whole = await served.sdk.chat.completions.create(model="any", messages=HELLO)

    assert said(chunks_of(stream)) == text
    assert whole.choices[0].message.content == text


# --- what the model is asked ----------------------------------------------------------------------


async def test_the_conversation_reaches_the_model_in_order(flow: StartFlow) -> None:
    served = await flow([Text("Ok")])
    messages: list[Any] = [
        {"role": "system", "content": "Be brief."},
        {"role": "user", "content": "one"},
        {"role": "assistant", "content": "two"},
        {"role": "user", "content": [{"type": "text", "text": "three"}]},
    ]
    await served.sdk.chat.completions.create(model="any", messages=messages)
    system, *rest = served.requests[0].messages

    assert "Be brief." in system["content"]
    assert [(message["role"], message["content"]) for message in rest] == [
        ("user", "one"),
        ("assistant", "two"),
        ("user", "three"),
    ]


async def test_an_image_reaches_the_model(flow: StartFlow) -> None:
    served = await flow([Text("A dot.")])
    url = "data:image/png;base64,AAAA"
    parts = [{"type": "text", "text": "What?"}, {"type": "image_url", "image_url": {"url": url}}]
    messages: list[Any] = [{"role": "user", "content": parts}]
    await served.sdk.chat.completions.create(model="any", messages=messages)

    assert served.requests[0].messages[-1]["content"][1]["image_url"]["url"] == url


# --- sessions by header ---------------------------------------------------------------------------


async def test_a_named_session_continues_across_requests_and_a_restart(
    flow: StartFlow, tmp_path: Path
) -> None:
    named = {"X-Hermes-Session-Id": "my-session"}
    home = tmp_path / "home"
    first = await flow([Text("Pleased, Ann."), Text("Ann.")], home=home)
    await first.text(CHAT, {"messages": [{"role": "user", "content": "I am Ann."}]}, headers=named)
    streamed = {"messages": [{"role": "user", "content": "Who am I?"}], "stream": True}
    await first.text(CHAT, streamed, headers=named)
    await first.gateway.close()
    second = await flow([Text("Still Ann.")], home=home)
    await second.text(CHAT, {"messages": [{"role": "user", "content": "And now?"}]}, headers=named)

    assert [message["content"] for message in first.requests[1].messages[1:]] == [
        "I am Ann.",
        "Pleased, Ann.",
        "Who am I?",
    ]
    assert [message["content"] for message in second.requests[0].messages[1:]] == [
        "I am Ann.",
        "Pleased, Ann.",
        "Who am I?",
        "Ann.",
        "And now?",
    ]


async def test_the_session_headers_come_back_on_json_and_on_streams(flow: StartFlow) -> None:
    served = await flow(EchoModel())
    named = {"X-Hermes-Session-Id": "s-1", "X-Hermes-Session-Key": "user-7"}
    for stream in (False, True):
        async with served.http.post(
            served.gateway.url + CHAT, json={**ASKED, "stream": stream}, headers=named
        ) as response:
            await response.read()
            assert response.headers["X-Hermes-Session-Id"] == "s-1"
            assert response.headers["X-Hermes-Session-Key"] == "user-7"


async def test_two_clients_that_both_say_hello_share_nothing(flow: StartFlow) -> None:
    served = await flow(lambda request: Text(f"You said {request.last_user_text}"))
    secret = [*HELLO, {"role": "assistant", "content": "Hi"}, {"role": "user", "content": "secret"}]
    first = await served.sdk.chat.completions.with_raw_response.create(model="any", messages=secret)
    second = await served.sdk.chat.completions.with_raw_response.create(model="any", messages=HELLO)
    status, listed = await served.answer("GET", "/api/sessions")

    # The opening names both, so the id is the same; what was said must not be.
    assert first.headers["X-Hermes-Session-Id"] == second.headers["X-Hermes-Session-Id"]
    assert [message["content"] for message in served.requests[1].messages[1:]] == ["Hello"]
    assert (status, listed["data"]) == (200, [])


# --- idempotency ----------------------------------------------------------------------------------


async def test_the_same_key_and_body_run_once_even_at_the_same_time(flow: StartFlow) -> None:
    served = await flow(lambda _: Text(pieces=["slow", "ly"], interval=0.1))
    once = {"Idempotency-Key": "k-1"}
    answers = await asyncio.gather(
        *(served.answer("POST", CHAT, json=ASKED, headers=once) for _ in range(8))
    )
    later = await served.answer("POST", CHAT, json=ASKED, headers=once)

    assert len({answer["id"] for status, answer in [*answers, later]}) == 1
    assert len(served.requests) == 1


async def test_another_session_is_another_request_under_the_same_key(flow: StartFlow) -> None:
    served = await flow(EchoModel())
    answers = []
    for session in ("s-1", "s-2"):
        headers = {"Idempotency-Key": "k-1", "X-Hermes-Session-Id": session}
        answers.append(await served.answer("POST", CHAT, json=ASKED, headers=headers))
    counts = [
        (await served.answer("GET", f"/api/sessions/{session}"))[1]["session"]["message_count"]
        for session in ("s-1", "s-2")
    ]

    assert answers[0][1]["id"] != answers[1][1]["id"]
    assert counts == [2, 2]


async def test_a_failed_answer_is_not_kept_for_the_next_try(flow: StartFlow) -> None:
    refused = HttpError(400, {"error": {"message": "no such model"}})
    served = await flow([refused, Text("Now it works")])
    once = {"Idempotency-Key": "k-1"}
    first, _ = await served.answer("POST", CHAT, json=ASKED, headers=once)
    second, answer = await served.answer("POST", CHAT, json=ASKED, headers=once)

    assert (first, second) == (400, 200)
    assert answer["choices"][0]["message"]["content"] == "Now it works"


# --- clients that leave ---------------------------------------------------------------------------


@pytest.mark.parametrize("stream", [True, False])
async def test_the_model_call_ends_when_the_client_leaves(flow: StartFlow, stream: bool) -> None:
    served = await flow([Broken("Half an ans", how="stall")])
    asking = asyncio.create_task(served.text(CHAT, {**ASKED, "stream": stream}))
    await served.provider.wait_for_requests()
    asking.cancel()
    await asyncio.gather(asking, return_exceptions=True)

    await served.provider.wait_for_disconnects(within=1.0)
    await eventually(lambda: len(served.gateway.adapter.running) == 0, within=1.0)


async def test_closing_an_sdk_stream_ends_a_running_tool(flow: StartFlow, tmp_path: Path) -> None:
    command = "echo $$ > pid; sleep 30; echo late > late"
    served = await flow([ToolUse("terminal", {"command": command})])
    stream = await served.sdk.chat.completions.create(model="any", messages=HELLO, stream=True)
    pid = tmp_path / "workspace" / "pid"
    await eventually(lambda: pid.exists() and bool(pid.read_text()))
    await stream.close()

    process = Path("/proc") / pid.read_text().strip()
    await eventually(lambda: not process.exists(), within=2.0)


# --- provider faults ------------------------------------------------------------------------------

ERROR = {"error": {"message": "the cause", "type": "server_error"}}
FAULTS = {
    "reset": (Broken("Half an ans", how="reset"), "connection"),
    "eof": (Broken("Half an ans", how="eof"), "broke off"),
    "garbage": (Broken("Half an ans", how="garbage"), ""),
    "error event": (Broken("Half an ans", how="error_event"), "broke off, as its script says"),
    "refused": (HttpError(401, {"error": {"message": "the cause"}}), "the cause"),
    "bad request": (HttpError(400, {"error": {"message": "the cause"}}), "the cause"),
    "too long": (HttpError(400, {"error": {"message": "maximum context length"}}), "context"),
    "rate limit": (HttpError(429, ERROR, {"Retry-After": "0"}), "the cause"),
    "html": (HttpError(500, "<html><body><h1>Bad Gateway</h1></body></html>"), "500"),
}
ANSWERS = {
    "refused": (502, "provider_error", None),
    "bad request": (400, "provider_refused", None),
    "too long": (400, "context_length_exceeded", None),
    "rate limit": (429, "rate_limit_exceeded", "1"),
    "html": (503, "provider_unavailable", "5"),
}


@pytest.mark.parametrize("fault", FAULTS)
async def test_a_provider_fault_is_never_an_answer(flow: StartFlow, fault: str) -> None:
    reply, cause = FAULTS[fault]
    served = await flow(lambda _: reply)
    async with served.http.post(served.gateway.url + CHAT, json=ASKED) as response:
        body = await response.json()
    error = body["error"]
    told = (response.status, error["code"], response.headers.get("Retry-After"))

    assert told == ANSWERS.get(fault, (502, "agent_incomplete", None))
    assert error["hermes"]["failed"] is True
    assert cause.lower() in error["message"].lower()
    assert "<" not in error["message"]
    assert KEY not in json.dumps(body)


@pytest.mark.parametrize("fault", FAULTS)
async def test_a_provider_fault_ends_a_stream_with_an_error(flow: StartFlow, fault: str) -> None:
    reply, cause = FAULTS[fault]
    served = await flow(lambda _: reply)
    chunks = chunks_of(await served.text(CHAT, {**ASKED, "stream": True}))
    last = chunks[-1]

    assert last["choices"][0]["finish_reason"] == "error"
    assert cause.lower() in last["error"]["message"].lower()
    assert last["error"]["code"] == ANSWERS.get(fault, (0, "agent_failed"))[1]
    assert last["hermes"]["failed"] is True
    assert said(chunks) == ("Half an ans" if isinstance(reply, Broken) else "")


async def test_a_connection_that_breaks_before_any_text_is_tried_again(flow: StartFlow) -> None:
    served = await flow([Broken(how="reset"), Text("Second try")])
    answer = await served.sdk.chat.completions.create(model="any", messages=HELLO)

    assert answer.choices[0].message.content == "Second try"


# --- refusals -------------------------------------------------------------------------------------

DEEP = '{"messages": ' + "[" * 5000 + "]" * 5000 + "}"
MALFORMED: dict[str, tuple[str | bytes, str | None]] = {
    "empty": (b"", None),
    "not json": ("{nope", None),
    "not utf-8": (b'{"messages": "\xff\xfe"}', None),
    "a list": ("[]", None),
    "a string": ('"hi"', None),
    "null": ("null", None),
    "NaN": ('{"messages": NaN}', None),
    "deep": (DEEP, None),
    "lone surrogate": ('{"messages": [{"role": "user", "content": "\\ud800"}]}', None),
    "NUL": ('{"messages": [{"role": "user", "content": "a\\u0000b"}]}', "messages[0].content"),
    "huge integer": ('{"messages": [], "seed": 1' + "0" * 400 + "}", None),
    "no messages": ("{}", "messages"),
    "messages empty": ('{"messages": []}', "messages"),
    "messages text": ('{"messages": "hi"}', "messages"),
    "message text": ('{"messages": ["hi"]}', "messages[0]"),
    "no role": ('{"messages": [{"content": "hi"}]}', "messages[0].role"),
    "odd role": ('{"messages": [{"role": "wizard", "content": "hi"}]}', "messages[0].role"),
    "no content": ('{"messages": [{"role": "user"}]}', "messages[0].content"),
    "content number": ('{"messages": [{"role": "user", "content": 7}]}', "messages[0].content"),
    "odd part": (
        '{"messages": [{"role": "user", "content": [{"type": "audio"}]}]}',
        "messages[0].content[0]",
    ),
    "file image": (
        '{"messages": [{"role": "user", "content": [{"type": "image_url", "image_url":'
        ' {"url": "file:///etc/passwd"}}]}]}',
        "messages[0].content[0].image_url",
    ),
    "system only": ('{"messages": [{"role": "system", "content": "hi"}]}', "messages"),
    "stream odd": ('{"messages": [{"role": "user", "content": "hi"}], "stream": 7}', "stream"),
    "n": ('{"messages": [{"role": "user", "content": "hi"}], "n": 2}', "n"),
    "model number": ('{"messages": [{"role": "user", "content": "hi"}], "model": 7}', "model"),
    "stream options": (
        '{"messages": [{"role": "user", "content": "hi"}], "stream_options": []}',
        "stream_options",
    ),
}


@pytest.mark.parametrize("case", MALFORMED)
async def test_a_malformed_body_is_refused_by_name(flow: StartFlow, case: str) -> None:
    body, param = MALFORMED[case]
    served = await flow([])
    status, answer = await served.answer("POST", CHAT, data=body)
    error = answer["error"]

    assert status == 400
    assert set(error) == {"message", "type", "param", "code"}
    assert (error["type"], error["param"]) == ("invalid_request_error", param)
    assert error["message"]
    assert isinstance(error["code"], str)
    assert served.requests == []


JSON = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats()
    | st.text(st.characters(exclude_categories=()), max_size=8)
    | st.sampled_from(["user", "assistant", "tool", "system", "text", "image_url", "true", ""]),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(
                [
                    "role",
                    "content",
                    "type",
                    "text",
                    "image_url",
                    "url",
                    "tool_calls",
                    "id",
                    "function",
                ]
            )
            | st.text(max_size=4),
            inner,
            max_size=4,
        )
    ),
    max_leaves=12,
)
FIELDS = [
    *("messages", "input", "message", "stream", "model", "n", "stream_options", "tools", "title"),
    *("conversation", "previous_response_id", "instructions", "store", "metadata", "truncation"),
    *("temperature", "top_p", "text", "reasoning", "tool_choice", "logprobs"),
]
BODIES = JSON | st.dictionaries(st.sampled_from(FIELDS), JSON)


@pytest.fixture
async def agreeable(flow: StartFlow) -> Flow:
    """A gateway whose model says yes to everything."""
    return await flow(lambda _: Text("Yes."))


@settings(
    max_examples=200,
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)
@given(body=BODIES, path=st.sampled_from([CHAT, "/v1/responses", "/api/sessions"]))
async def test_no_generated_body_makes_the_gateway_fail(
    agreeable: Flow, body: Any, path: str
) -> None:
    url = agreeable.gateway.url + path
    async with agreeable.http.post(url, data=json.dumps(body).encode()) as response:
        status, text = response.status, await response.text()

    assert status < 500
    if status >= 400:
        error = json.loads(text)["error"]
        assert set(error) == {"message", "type", "param", "code"}
        assert all(isinstance(error[name], str) for name in ("message", "type", "code"))
