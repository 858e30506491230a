"""What clients of every kind are shown of the server's tools, their own, and the thinking."""

from __future__ import annotations

import json
from typing import Any

import pytest
from openai.types.chat import ChatCompletionChunk
from openai.types.responses import Response, ResponseStreamEvent
from pydantic import TypeAdapter

from hermes.testing.replies import Reasoning, Text, ToolUse
from hermes.testing.sse import parse_events
from hermes.wire.own_renderings import render
from tests.flows.conftest import Flow, StartFlow

CHAT, RESPONSES = "/v1/chat/completions", "/v1/responses"
EVENT: TypeAdapter[Any] = TypeAdapter(ResponseStreamEvent)
ASKED: list[Any] = [{"role": "user", "content": "What is here?"}]
LOOK = ToolUse("list_files", {"path": "."})
WINDOW = {"type": "object", "properties": {"file": {"type": "string"}}}

SHOWN = {
    "default": ["function_call", "function_call_output", "message"],
    "mcp": ["mcp_call", "message"],
    "open_webui": ["function_call", "function_call_output", "message"],
    "reasoning": ["reasoning", "message"],
    "hidden": ["message"],
}


async def streamed(served: Flow, headers: dict[str, str], **body: Any) -> dict[str, Any]:
    """The final response of a stream whose every event is what a strict reader wants."""
    text = await served.text(RESPONSES, {**body, "stream": True}, headers=headers)
    *events, last = parse_events(text)
    assert last.data == "[DONE]"
    for event in events:
        EVENT.validate_json(event.data, strict=True)
    payloads = [json.loads(event.data) for event in events]
    done = {
        payload["output_index"]: payload["item"]
        for payload in payloads
        if payload["type"] == "response.output_item.done"
    }
    final: dict[str, Any] = payloads[-1]["response"]
    assert [done[index] for index in sorted(done)] == final["output"]
    return final


async def created(served: Flow, headers: dict[str, str], **body: Any) -> dict[str, Any]:
    status, answer = await served.answer("POST", RESPONSES, json=body, headers=headers)
    assert status == 200, answer
    Response.model_validate_json(json.dumps(answer), strict=True)
    return answer  # type: ignore[no-any-return]


async def chunks(served: Flow, headers: dict[str, str], **body: Any) -> list[dict[str, Any]]:
    text = await served.text(CHAT, {"messages": ASKED, **body, "stream": True}, headers=headers)
    *events, last = parse_events(text)
    assert last.data == "[DONE]"
    for event in events:
        ChatCompletionChunk.model_validate_json(event.data, strict=True)
    return [json.loads(event.data) for event in events]


def kinds(response: dict[str, Any]) -> list[str]:
    return [item["type"] for item in response["output"]]


@pytest.mark.parametrize("form", SHOWN)
async def test_a_response_has_one_form_streamed_whole_and_stored(
    flow: StartFlow, form: str
) -> None:
    served = await flow([LOOK, Text("Nothing."), LOOK, Text("Nothing.")])
    headers = {"X-Hermes-Tool-Form": form}
    made = [
        await streamed(served, headers, input="What is here?"),
        await created(served, headers, input="What is here?"),
    ]
    for response in made:
        assert kinds(response) == SHOWN[form]
        assert await served.answer("GET", f"{RESPONSES}/{response['id']}") == (200, response)


async def test_open_webui_is_known_by_its_headers_and_never_gets_an_output_that_is_a_string(
    flow: StartFlow,
) -> None:
    served = await flow([LOOK, Text("Nothing.")])
    response = await created(served, {"X-OpenWebUI-Chat-Id": "c-1"}, input="What is here?")

    assert isinstance(response["output"][1]["output"], list)


async def test_the_sdk_sees_a_call_that_was_executed_and_has_nothing_to_run(
    flow: StartFlow,
) -> None:
    served = await flow([LOOK, Text("Nothing."), LOOK, Text("Nothing.")])
    made = await served.sdk.responses.create(model="m", input="What is here?")
    async with served.sdk.responses.stream(model="m", input="What is here?") as stream:
        async for _ in stream:
            pass
        final = await stream.get_final_response()

    for response in (made, final):
        assert [item.type for item in response.output] == ["mcp_call", "message"]
        assert response.output_text == "Nothing."


async def test_what_the_sdk_was_shown_can_be_sent_back(flow: StartFlow) -> None:
    served = await flow([LOOK, Text("Nothing."), Text("As I said.")])
    made = await served.sdk.responses.create(model="m", input="What is here?", store=False)
    again: Any = [
        {"role": "user", "content": "What is here?"},
        *(item.model_dump(exclude_none=True) for item in made.output),
        {"role": "user", "content": "Sure?"},
    ]
    await served.sdk.responses.create(model="m", input=again, store=False)

    roles = [message["role"] for message in served.requests[-1].messages[1:]]
    assert roles == ["user", "assistant", "tool", "assistant", "user"]


async def test_a_form_that_does_not_exist_is_refused_on_both_apis(flow: StartFlow) -> None:
    served = await flow([])
    for path, body in ((CHAT, {"messages": ASKED}), (RESPONSES, {"input": "Hi"})):
        status, answer = await served.answer(
            "POST", path, json=body, headers={"X-Hermes-Tool-Form": "fancy"}
        )
        assert (status, answer["error"]["code"]) == (400, "invalid_value")
        assert answer["error"]["param"] == "X-Hermes-Tool-Form"


async def test_the_setting_holds_for_everybody_who_does_not_choose(flow: StartFlow) -> None:
    served = await flow([LOOK, Text("Nothing.")], tool_form="hidden")
    assert kinds(await created(served, {}, input="What is here?")) == ["message"]


async def test_the_names_of_the_forms_are_told(flow: StartFlow) -> None:
    served = await flow([])
    _, told = await served.answer("GET", "/v1/capabilities")
    assert told["features"]["tool_forms"] == list(SHOWN)
    assert told["features"]["tool_form_header"] == "X-Hermes-Tool-Form"


async def test_chat_progress_is_where_the_client_can_bear_it(flow: StartFlow) -> None:
    served = await flow([LOOK, Text("Nothing.")] * 3)
    keys = {}
    for form in ("mcp", "reasoning", "hidden"):
        found = await chunks(served, {"X-Hermes-Tool-Form": form})
        keys[form] = {key for chunk in found for key in chunk["choices"][0]["delta"]}
        assert found[-1]["choices"][0]["finish_reason"] == "stop"

    assert keys["mcp"] == {"role", "content", "hermes_tool"}
    assert keys["reasoning"] == {"role", "content", "reasoning_content"}
    assert keys["hidden"] == {"role", "content"}


async def test_lines_we_rendered_never_reach_the_model_again(flow: StartFlow) -> None:
    served = await flow([Text("Yes."), Text("Yes.")])
    said = render("list_files: .") + "Nothing."
    history = [*ASKED, {"role": "assistant", "content": said}, {"role": "user", "content": "Sure?"}]
    await served.answer("POST", CHAT, json={"messages": history})
    await served.answer("POST", RESPONSES, json={"input": history})

    for request in served.requests:
        assert request.messages[2]["content"] == "Nothing."


# --- the client's own tools -----------------------------------------------------------------------


async def test_a_chat_stream_ends_with_the_clients_calls(flow: StartFlow) -> None:
    served = await flow([[Text("Opening."), ToolUse("window", {"file": "a"}, id="call_w")]])
    tool: Any = {"type": "function", "function": {"name": "window", "parameters": WINDOW}}
    async with served.sdk.chat.completions.stream(
        model="m", messages=ASKED, tools=[tool]
    ) as stream:
        final = await stream.get_final_completion()

    choice = final.choices[0]
    assert (choice.finish_reason, choice.message.content) == ("tool_calls", "Opening.")
    [call] = choice.message.tool_calls or []
    assert (call.id, call.function.name) == ("call_w", "window")
    assert json.loads(call.function.arguments) == {"file": "a"}


@pytest.mark.parametrize("form", SHOWN)
async def test_the_clients_calls_come_last_in_every_form_after_the_servers(
    flow: StartFlow, form: str
) -> None:
    both = [LOOK, ToolUse("window", {"file": "a"}, id="call_w")]
    served = await flow([both, both])
    headers = {"X-Hermes-Tool-Form": form}
    tools = [{"type": "function", "name": "window", "parameters": WINDOW}]
    for response in (
        await streamed(served, headers, input="Open it", tools=tools),
        await created(served, headers, input="Open it", tools=tools),
    ):
        assert kinds(response) == [*SHOWN[form][:-1], "function_call"]
        last = response["output"][-1]
        assert (last["name"], last["call_id"], last["status"]) == ("window", "call_w", "completed")
        assert response["status"] == "completed"


async def test_a_client_brings_its_results_and_gets_its_answer(flow: StartFlow) -> None:
    served = await flow([ToolUse("window", {"file": "a"}, id="call_w"), Text("It is open.")])
    tools = [{"type": "function", "name": "window", "parameters": WINDOW}]
    first = await streamed(served, {}, input="Open it", tools=tools)
    result = {"type": "function_call_output", "call_id": "call_w", "output": "done"}
    second = await streamed(served, {}, input=[result], previous_response_id=first["id"])

    assert kinds(second) == ["message"]
    assert second["output"][0]["content"][0]["text"] == "It is open."


# --- thinking -------------------------------------------------------------------------------------

THINKING = [Reasoning("Let me see."), Text("Nothing.")]


@pytest.mark.parametrize(
    ("headers", "body", "shown"),
    [
        ({}, {}, False),
        ({}, {"reasoning": {"summary": "auto"}}, True),
        ({"X-Hermes-Reasoning": "show"}, {}, True),
        ({"X-Hermes-Reasoning": "hide"}, {"reasoning": {"summary": "auto"}}, False),
    ],
)
async def test_responses_hold_the_thinking_for_those_who_ask(
    flow: StartFlow, headers: dict[str, str], body: dict[str, Any], shown: bool
) -> None:
    served = await flow([THINKING, THINKING])
    for response in (
        await streamed(served, headers, input="What is here?", **body),
        await created(served, headers, input="What is here?", **body),
    ):
        assert kinds(response) == (["reasoning", "message"] if shown else ["message"])
        if shown:
            [part] = response["output"][0]["summary"]
            assert part == {"type": "summary_text", "text": "Let me see."}


async def test_chats_have_the_thinking_beside_the_answer_where_it_is_shown(
    flow: StartFlow,
) -> None:
    served = await flow([THINKING] * 4, show_reasoning=True)
    found = await chunks(served, {})
    _, whole = await served.answer("POST", CHAT, json={"messages": ASKED})
    hide = {"X-Hermes-Reasoning": "hide"}
    hidden = await chunks(served, hide)
    _, quiet = await served.answer("POST", CHAT, json={"messages": ASKED}, headers=hide)

    thought = [chunk["choices"][0]["delta"].get("reasoning_content") or "" for chunk in found]
    assert "".join(thought) == "Let me see."
    message = whole["choices"][0]["message"]
    assert (message["content"], message["reasoning_content"]) == ("Nothing.", "Let me see.")
    assert all("reasoning_content" not in chunk["choices"][0]["delta"] for chunk in hidden)
    assert "reasoning_content" not in quiet["choices"][0]["message"]
