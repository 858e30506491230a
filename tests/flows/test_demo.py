"""The gateway without any key: what a newcomer can try with the demo model and the OpenAI SDK."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import openai
import pytest

from hermes.testing.gateway import TestGateway

WEATHER: Any = {
    "type": "function",
    "function": {
        "name": "get_weather",
        "parameters": {
            "type": "object",
            "properties": {"city": {"type": "string"}},
            "required": ["city"],
        },
    },
}


@pytest.fixture
async def client(tmp_path: Path) -> AsyncIterator[openai.AsyncOpenAI]:
    async with (
        TestGateway(home=tmp_path) as gateway,
        openai.AsyncOpenAI(base_url=gateway.base_url, api_key="x", max_retries=0) as client,
    ):
        yield client


async def test_a_tool_of_the_client_makes_its_round_trip(client: openai.AsyncOpenAI) -> None:
    conversation: list[Any] = [{"role": "user", "content": "call get_weather"}]
    first = await client.chat.completions.create(
        model="demo", messages=conversation, tools=[WEATHER]
    )
    assert first.choices[0].finish_reason == "tool_calls"
    message = first.choices[0].message
    assert message.tool_calls is not None
    [call] = message.tool_calls
    assert call.type == "function"
    assert json.loads(call.function.arguments) == {"city": "example"}
    conversation += [
        message.model_dump(exclude_none=True),
        {"role": "tool", "tool_call_id": call.id, "content": "Rain."},
    ]
    second = await client.chat.completions.create(
        model="demo", messages=conversation, tools=[WEATHER]
    )
    assert second.choices[0].message.content == "I used `get_weather`. It answered: Rain."


async def test_a_structured_answer_keeps_to_its_schema(client: openai.AsyncOpenAI) -> None:
    schema = {
        "type": "object",
        "properties": {"name": {"type": "string"}, "age": {"type": "integer", "minimum": 18}},
        "required": ["name", "age"],
    }
    wanted: Any = {"type": "json_schema", "json_schema": {"name": "person", "schema": schema}}
    answer = await client.chat.completions.create(
        model="demo", messages=[{"role": "user", "content": "Who?"}], response_format=wanted
    )
    assert json.loads(answer.choices[0].message.content or "") == {"name": "example", "age": 18}


async def test_an_answer_over_its_limit_says_that_it_was_cut(client: openai.AsyncOpenAI) -> None:
    answer = await client.chat.completions.create(
        model="demo", messages=[{"role": "user", "content": "tell me a story"}], max_tokens=3
    )
    choice = answer.choices[0]
    assert (choice.message.content, choice.finish_reason) == ("Once there w", "length")


async def test_an_image_is_refused_in_words(client: openai.AsyncOpenAI) -> None:
    pixel = (
        "data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNkYPhf"
        "DwAChwGA60e6kgAAAABJRU5ErkJggg=="
    )
    parts: Any = [{"type": "image_url", "image_url": {"url": pixel}}]
    with pytest.raises(openai.APIStatusError, match="cannot see images"):
        await client.chat.completions.create(
            model="demo", messages=[{"role": "user", "content": parts}]
        )
