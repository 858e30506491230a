"""What the model said reaches the client: in order, once, whole, whatever it looks like."""

from __future__ import annotations

import asyncio
import json
import time
from typing import Literal
from urllib.parse import urlsplit

import pytest

from hermes.testing.replies import Broken, Reasoning, Text
from hermes.testing.sse import parse_events
from tests.cli.stage import Stage, unique
from tests.faults.served import KEY

BIG = 300_000

both = pytest.mark.parametrize("model", ["claude/haiku", "codex/scripted"])


async def test_the_models_of_every_agent_are_listed(stage: Stage) -> None:
    listed = {model.id for model in (await stage.sdk.models.list()).data}

    assert {"claude/haiku", "codex/scripted", "editor/haiku"} <= listed


@both
async def test_text_streams_in_order_as_it_is_said(stage: Stage, model: str) -> None:
    word = unique("count")
    pieces = [f"{number}, " for number in range(1, 9)]
    scene = stage.on(word, Text(pieces=pieces, interval=0.25))
    times: list[float] = []
    received = []

    async for chunk in await stage.chat(model, f"Please {word}.", stream=True):
        for choice in chunk.choices:
            if choice.delta.content:
                times.append(time.monotonic())
                received.append(choice.delta.content)

    assert "".join(received) == "".join(pieces)
    assert len(scene.requests) == 1
    # It took the provider 1.75 s from the first piece to the last.
    assert times[-1] - times[0] > 0.5


@both
async def test_the_usage_is_what_the_provider_counted(stage: Stage, model: str) -> None:
    word = unique("usage")
    scene = stage.on(word, Text("one two three four five"))

    pieces, usage = await stage.stream(model, word)

    assert "".join(pieces) == "one two three four five"
    assert usage.prompt_tokens == scene.requests[0].input_tokens
    assert usage.completion_tokens == 5


@both
async def test_the_answer_in_one_piece_is_the_same(stage: Stage, model: str) -> None:
    word = unique("whole")
    stage.on(word, Text("First this.\n\nThen that: ä, 漢, 🙂."))

    assert await stage.say(model, word) == "First this.\n\nThen that: ä, 漢, 🙂."


@both
@pytest.mark.parametrize("how", ["error_event", "reset"])
async def test_a_stream_that_broke_off_and_was_tried_again_is_said_once(
    stage: Stage, model: str, how: Literal["error_event", "reset"]
) -> None:
    word = unique("broken")
    text = "All of this is said exactly once."
    scene = stage.on(word, Broken(after="All of this is", how=how), Text(text))

    pieces, _ = await stage.stream(model, word)

    assert "".join(pieces) == text
    assert len(scene.requests) == 2


@both
async def test_a_long_answer_reaches_a_slow_reader_whole(stage: Stage, model: str) -> None:
    word = unique("long")
    pieces = [f"{number:08d} {'x' * 990}\n" for number in range(BIG // 1000)]
    stage.on(word, Text(pieces=pieces))

    body = {"model": model, "messages": [{"role": "user", "content": word}], "stream": True}
    received = await _slowly(stage.served.url, body)

    chunks = [json.loads(event.data) for event in parse_events(received) if event.data != "[DONE]"]
    deltas = [choice["delta"] for chunk in chunks for choice in chunk["choices"]]
    assert "".join(delta.get("content") or "" for delta in deltas) == "".join(pieces)


async def _slowly(url: str, body: object) -> str:
    """Everything that is said to a client that reads little at a time, with rests in between."""
    parts = urlsplit(url)
    reader, writer = await asyncio.open_connection(parts.hostname, parts.port, limit=8192)
    sent = json.dumps(body).encode()
    head = (
        f"POST /v1/chat/completions HTTP/1.0\r\nHost: {parts.netloc}\r\n"
        f"Authorization: Bearer {KEY}\r\nContent-Type: application/json\r\n"
        f"Content-Length: {len(sent)}\r\n\r\n"
    )
    writer.write(head.encode() + sent)
    received = b""
    async with asyncio.timeout(60):
        while data := await reader.read(8192):
            received += data
            await asyncio.sleep(0.005)
    writer.close()
    return received.partition(b"\r\n\r\n")[2].decode()


@both
async def test_a_long_prompt_reaches_the_model_whole(stage: Stage, model: str) -> None:
    word = unique("read")
    scene = stage.on(word, Text("Read."))
    prompt = "".join(f"Line {number:07d}.\n" for number in range(BIG // 14)) + word

    assert await stage.say(model, prompt) == "Read."
    assert prompt.strip() in scene.conversation


@both
@pytest.mark.parametrize("prompt", ["--version", "-p", "/cost", "/clear all", "!ls", "#note", "-"])
async def test_a_prompt_is_never_taken_for_a_command(stage: Stage, model: str, prompt: str) -> None:
    answer = unique("answer")
    scene = stage.on(prompt, Text(answer))

    assert await stage.say(model, prompt) == answer
    assert prompt in scene.conversation


@both
async def test_what_the_caller_says_the_agent_is_reaches_the_model(
    stage: Stage, model: str
) -> None:
    word, role = unique("who"), unique("You are a parrot named ")
    scene = stage.on(word, Text("Polly."))
    messages = [{"role": "system", "content": role}, {"role": "user", "content": word}]

    answer = await stage.sdk.chat.completions.create(model=model, messages=messages)

    assert answer.choices[0].message.content == "Polly."
    request = scene.requests[0]
    assert role in request.system_text + scene.conversation


@both
async def test_the_conversation_of_a_client_that_keeps_it_itself_is_told(
    stage: Stage, model: str
) -> None:
    first, second, last = unique("first"), unique("second"), unique("last")
    scene = stage.on(last, Text("I see."))
    messages = [
        {"role": "user", "content": first},
        {"role": "assistant", "content": second},
        {"role": "user", "content": last},
    ]

    answer = await stage.sdk.chat.completions.create(model=model, messages=messages)

    assert answer.choices[0].message.content == "I see."
    said = scene.conversation
    assert -1 < said.index(first) < said.index(second) < said.index(last)


async def test_thinking_is_kept_apart_from_the_answer(stage: Stage) -> None:
    word = unique("think")
    stage.on(word, [Reasoning("Let me see."), Text("It is seven.")])

    run_id = await stage.run("claude/haiku", word)
    events = await stage.events(run_id)

    thought = [event["delta"] for event in events if event["type"] == "reasoning.delta"]
    assert "".join(thought) == "Let me see."
    assert events[-1]["output"] == "It is seven."


@both
async def test_the_responses_api_streams_it_too(stage: Stage, model: str) -> None:
    word = unique("responses")
    stage.on(word, Text("As a response."))

    async with stage.sdk.responses.stream(model=model, input=word) as stream:
        pieces = [event.delta async for event in stream if event.type.endswith("text.delta")]
        response = await stream.get_final_response()

    assert "".join(pieces) == response.output_text == "As a response."
    assert response.usage is not None
    assert response.usage.output_tokens == 3
