"""Tools that the chat client runs itself, and answers in a form it asked for."""

from __future__ import annotations

import json
from typing import Any

import openai
import pytest
from openai.types.chat import ChatCompletion

from hermes.testing.replies import Text, ToolUse
from tests.flows.conftest import StartFlow

CHAT = "/v1/chat/completions"
HELLO: list[Any] = [{"role": "user", "content": "Is it warm in Oslo?"}]
WEATHER: Any = {
    "type": "function",
    "function": {
        "name": "weather",
        "parameters": {"type": "object", "properties": {"place": {"type": "string"}}},
    },
}


async def test_a_call_goes_to_the_client_and_comes_back_with_its_result(flow: StartFlow) -> None:
    served = await flow([ToolUse("weather", {"place": "Oslo"}), Text("It is cold.")])
    create = served.sdk.chat.completions.create
    first = await create(model="m", messages=HELLO, tools=[WEATHER])
    ChatCompletion.model_validate(first.model_dump(), strict=True)
    message = first.choices[0].message
    assert (first.choices[0].finish_reason, message.content) == ("tool_calls", None)
    [call] = message.tool_calls or []
    assert call.type == "function"
    assert json.loads(call.function.arguments) == {"place": "Oslo"}

    result = {"role": "tool", "tool_call_id": call.id, "content": "-3 degrees"}
    messages: Any = [*HELLO, message.model_dump(exclude_none=True), result]
    second = await create(model="m", messages=messages, tools=[WEATHER])

    assert second.choices[0].message.content == "It is cold."
    assert served.requests[-1].tool_results == {call.id: "-3 degrees"}


async def test_the_servers_tools_stay_beside_the_clients(flow: StartFlow) -> None:
    served = await flow([ToolUse("list_files", {"path": "."}), Text("Empty.")])
    answer = await served.sdk.chat.completions.create(model="m", messages=HELLO, tools=[WEATHER])

    assert answer.choices[0].message.content == "Empty."
    assert answer.choices[0].message.tool_calls is None


async def test_a_result_nobody_asked_for_is_refused(flow: StartFlow) -> None:
    served = await flow([])
    stray = {"role": "tool", "tool_call_id": "call_x", "content": "?"}
    status, answer = await served.answer("POST", CHAT, json={"messages": [*HELLO, stray]})

    assert (status, answer["error"]["code"]) == (400, "unknown_call_id")


async def test_a_faulty_structured_answer_is_put_right_before_the_client_sees_it(
    flow: StartFlow,
) -> None:
    served = await flow([Text("It is cold."), Text('{"degrees": -3}')])
    schema = {
        "type": "object",
        "properties": {"degrees": {"type": "integer"}},
        "required": ["degrees"],
    }
    wanted: Any = {"type": "json_schema", "json_schema": {"name": "weather", "schema": schema}}
    answer = await served.sdk.chat.completions.create(
        model="m", messages=HELLO, response_format=wanted
    )

    assert json.loads(answer.choices[0].message.content or "") == {"degrees": -3}


async def test_a_parameter_that_cannot_be_served_is_the_sdks_bad_request(flow: StartFlow) -> None:
    served = await flow([])
    with pytest.raises(openai.BadRequestError) as caught:
        await served.sdk.chat.completions.create(model="m", messages=HELLO, n=2)

    assert (caught.value.param, caught.value.code) == ("n", "unsupported_parameter")
