"""The OpenAI SDK for Python, with every object and event held against its own types."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Iterator
from typing import Any

import openai
import pytest
from openai.types.chat import ChatCompletionChunk
from pydantic import BaseModel

from hermes.testing.replies import Reasoning, Text, ToolUse
from tests.clients import scenes
from tests.clients.serving import KEY, MODEL, Served
from tests.clients.stage import Stage
from tests.clients.strictness import strict, strict_events
from tests.clients.table import Client

CLIENT = Client("OpenAI SDK (Python)", "openai")

QUESTION: list[Any] = [{"role": "user", "content": "Hello"}]
CHAT_TOOL: Any = {
    "type": "function",
    "function": {"name": "get_weather", "description": "?", "parameters": scenes.WEATHER},
}
TOOL: Any = {
    "type": "function",
    "name": "get_weather",
    "description": "?",
    "parameters": scenes.WEATHER,
    "strict": True,
}


class Person(BaseModel):
    name: str
    age: int


@pytest.fixture
def client(served: Served) -> Iterator[openai.OpenAI]:
    with openai.OpenAI(base_url=served.base_url, api_key=KEY, max_retries=0) as client:
        yield client


def spoken(chunks: list[ChatCompletionChunk]) -> str:
    return "".join(chunk.choices[0].delta.content or "" for chunk in chunks if chunk.choices)


# --- models ---------------------------------------------------------------------------------------


@pytest.mark.case("models")
def test_models_are_listed_and_found(client: openai.OpenAI) -> None:
    listed = [strict(model).id for model in client.models.list()]

    assert MODEL in listed
    assert strict(client.models.retrieve(MODEL)).id == MODEL


# --- chat completions -----------------------------------------------------------------------------


@pytest.mark.case("chat")
def test_chat_answers(client: openai.OpenAI, stage: Stage) -> None:
    stage.says(Text(scenes.ANSWER))
    answer = strict(client.chat.completions.create(model=MODEL, messages=QUESTION))

    assert answer.choices[0].message.content == scenes.ANSWER
    assert answer.choices[0].finish_reason == "stop"
    assert answer.usage is not None
    assert answer.usage.total_tokens > 0


@pytest.mark.case("chat")
def test_chat_passes_on_how_the_model_shall_answer(client: openai.OpenAI, stage: Stage) -> None:
    stage.says(Text(scenes.ANSWER))
    client.chat.completions.create(
        model=MODEL,
        messages=QUESTION,
        temperature=0.5,
        top_p=0.9,
        max_tokens=50,
        stop=["END"],
        seed=7,
    )

    asked = {name: stage.last.get(name) for name in ("temperature", "top_p", "stop", "seed")}
    assert asked == {"temperature": 0.5, "top_p": 0.9, "stop": ["END"], "seed": 7}
    assert 50 in (stage.last.get("max_tokens"), stage.last.get("max_completion_tokens"))


@pytest.mark.case("stream")
def test_chat_streams_strict_chunks(client: openai.OpenAI, stage: Stage) -> None:
    stage.says(Text(scenes.ANSWER))
    chunks = list(client.chat.completions.create(model=MODEL, messages=QUESTION, stream=True))

    assert spoken([strict(chunk) for chunk in chunks]) == scenes.ANSWER
    assert chunks[0].choices[0].delta.role == "assistant"
    reasons = [chunk.choices[0].finish_reason for chunk in chunks]
    assert [reason for reason in reasons if reason] == ["stop"]
    assert all(chunk.usage is None for chunk in chunks)


@pytest.mark.case("stream")
def test_usage_comes_last_where_it_is_asked_for(client: openai.OpenAI, stage: Stage) -> None:
    stage.says(Text(scenes.ANSWER))
    *before, last = client.chat.completions.create(
        model=MODEL, messages=QUESTION, stream=True, stream_options={"include_usage": True}
    )

    assert strict(last).choices == []
    assert last.usage is not None
    assert last.usage.total_tokens > 0
    assert all(chunk.usage is None for chunk in before)


@pytest.mark.case("stream")
def test_the_stream_helper_puts_the_answer_together(client: openai.OpenAI, stage: Stage) -> None:
    stage.says(Text(scenes.ANSWER))
    with client.chat.completions.stream(model=MODEL, messages=QUESTION) as stream:
        answer = stream.get_final_completion()

    assert answer.choices[0].message.content == scenes.ANSWER


@pytest.mark.case("server tool")
def test_chat_answers_after_the_servers_tool(
    client: openai.OpenAI, stage: Stage, served: Served
) -> None:
    scenes.lists_its_files(stage, served)
    answer = strict(client.chat.completions.create(model=MODEL, messages=QUESTION))

    assert answer.choices[0].message.content == scenes.LISTED
    assert answer.choices[0].message.tool_calls is None
    assert answer.choices[0].finish_reason == "stop"
    assert scenes.listed_once(stage)


@pytest.mark.case("server tool")
def test_a_chat_stream_shows_the_servers_tool_to_nobody_who_would_run_it(
    client: openai.OpenAI, stage: Stage, served: Served
) -> None:
    scenes.lists_its_files(stage, served)
    chunks = list(client.chat.completions.create(model=MODEL, messages=QUESTION, stream=True))

    # Every chunk has a first choice: many clients look at it without asking.
    assert all(strict(chunk).choices[0].delta.tool_calls is None for chunk in chunks)
    assert spoken(chunks) == scenes.LISTED
    assert chunks[-1].choices[0].finish_reason == "stop"
    assert scenes.listed_once(stage)


@pytest.mark.case("client tool")
def test_chat_calls_the_clients_tool_and_goes_on(client: openai.OpenAI, stage: Stage) -> None:
    scenes.asks_for_the_weather(stage)
    asking = client.chat.completions.create(model=MODEL, messages=QUESTION, tools=[CHAT_TOOL])
    message = strict(asking).choices[0].message

    assert asking.choices[0].finish_reason == "tool_calls"
    assert message.tool_calls is not None
    assert message.tool_calls[0].function.name == "get_weather"
    assert json.loads(message.tool_calls[0].function.arguments) == scenes.CITY

    result = {
        "role": "tool",
        "tool_call_id": message.tool_calls[0].id,
        "content": scenes.REPORT,
    }
    history: list[Any] = [*QUESTION, message.to_dict(), result]
    answer = client.chat.completions.create(model=MODEL, messages=history, tools=[CHAT_TOOL])

    assert strict(answer).choices[0].message.content == scenes.FORECAST
    assert scenes.got_the_report(stage)


@pytest.mark.case("client tool")
def test_a_chat_stream_ends_with_the_clients_call(client: openai.OpenAI, stage: Stage) -> None:
    scenes.asks_for_the_weather(stage)
    chunks = [
        strict(chunk)
        for chunk in client.chat.completions.create(
            model=MODEL, messages=QUESTION, tools=[CHAT_TOOL], stream=True
        )
    ]
    calls = [call for chunk in chunks for call in chunk.choices[0].delta.tool_calls or ()]

    assert {call.index for call in calls} == {0}
    assert calls[0].id
    assert calls[0].function is not None
    assert calls[0].function.name == "get_weather"
    pieces = [call.function.arguments or "" for call in calls if call.function]
    assert json.loads("".join(pieces)) == scenes.CITY
    assert chunks[-1].choices[0].finish_reason == "tool_calls"
    assert "get_weather" in scenes.offered_tools(stage)


@pytest.mark.case("client tool")
def test_several_calls_of_one_answer_are_told_apart(client: openai.OpenAI, stage: Stage) -> None:
    stage.says([ToolUse("get_weather", {"city": "Oslo"}), ToolUse("get_weather", {"city": "Rome"})])
    with client.chat.completions.stream(
        model=MODEL, messages=QUESTION, tools=[CHAT_TOOL]
    ) as stream:
        calls = stream.get_final_completion().choices[0].message.tool_calls or []

    cities = [json.loads(call.function.arguments)["city"] for call in calls]
    assert cities == ["Oslo", "Rome"]
    assert len({call.id for call in calls}) == 2


@pytest.mark.case("structured")
def test_chat_parses_an_answer_into_the_clients_class(client: openai.OpenAI, stage: Stage) -> None:
    stage.says(Text(scenes.PERSON_JSON))
    answer = client.chat.completions.parse(model=MODEL, messages=QUESTION, response_format=Person)

    assert answer.choices[0].message.parsed == Person(**scenes.PERSON)
    assert set(scenes.answer_format(stage)["properties"]) == {"name", "age"}


@pytest.mark.case("image")
def test_chat_shows_the_model_a_picture(client: openai.OpenAI, stage: Stage) -> None:
    stage.says(Text("Red."))
    picture: Any = {"type": "image_url", "image_url": {"url": scenes.PICTURE}}
    question: Any = {"role": "user", "content": [{"type": "text", "text": "Colour?"}, picture]}
    answer = client.chat.completions.create(model=MODEL, messages=[question])

    assert answer.choices[0].message.content == "Red."
    assert stage.images() == [scenes.PICTURE]


# --- responses ------------------------------------------------------------------------------------


@pytest.mark.case("responses")
def test_a_response_is_created(client: openai.OpenAI, stage: Stage) -> None:
    stage.says(Text(scenes.ANSWER))
    response = strict(client.responses.create(model=MODEL, input="Hello", instructions="Be kind."))

    assert response.output_text == scenes.ANSWER
    assert response.status == "completed"
    assert response.instructions == "Be kind."
    assert response.usage is not None


@pytest.mark.case("responses stream")
def test_a_response_streams_strict_events_in_order(client: openai.OpenAI, stage: Stage) -> None:
    stage.says(Text(scenes.ANSWER))
    events = strict_events(client.responses.create(model=MODEL, input="Hello", stream=True))

    deltas = [event.delta for event in events if event.type == "response.output_text.delta"]
    assert "".join(deltas) == scenes.ANSWER
    assert events[-1].response.output_text == scenes.ANSWER
    stored = client.responses.retrieve(events[-1].response.id)
    assert stored.to_dict()["output"] == events[-1].response.to_dict()["output"]


@pytest.mark.case("responses stream")
def test_the_response_helper_puts_the_answer_together(client: openai.OpenAI, stage: Stage) -> None:
    stage.says(Text(scenes.ANSWER))
    with client.responses.stream(model=MODEL, input="Hello") as stream:
        kinds = [event.type for event in stream]
        response = stream.get_final_response()

    assert "response.output_text.delta" in kinds
    assert response.output_text == scenes.ANSWER


@pytest.mark.case("responses stream")
def test_thoughts_are_a_reasoning_item_where_they_are_asked_for(
    client: openai.OpenAI, stage: Stage
) -> None:
    stage.says([Reasoning("Let me think."), Text(scenes.ANSWER)])
    events = strict_events(
        client.responses.create(
            model=MODEL, input="Hello", stream=True, reasoning={"summary": "auto"}
        )
    )

    thought, said = events[-1].response.output
    assert [part.text for part in thought.summary] == ["Let me think."]
    assert said.content[0].text == scenes.ANSWER


@pytest.mark.case("server tool")
def test_a_response_has_the_servers_tool_as_done(
    client: openai.OpenAI, stage: Stage, served: Served
) -> None:
    scenes.lists_its_files(stage, served)
    response = strict(client.responses.create(model=MODEL, input="Hello"))

    assert response.output_text == scenes.LISTED
    assert "function_call" not in [item.type for item in response.output]
    assert scenes.listed_once(stage)


@pytest.mark.case("server tool")
def test_a_response_stream_has_the_servers_tool_as_done(
    client: openai.OpenAI, stage: Stage, served: Served
) -> None:
    scenes.lists_its_files(stage, served)
    events = strict_events(client.responses.create(model=MODEL, input="Hello", stream=True))

    assert events[-1].response.output_text == scenes.LISTED
    assert "function_call" not in [item.type for item in events[-1].response.output]
    assert scenes.listed_once(stage)


@pytest.mark.case("client tool")
def test_a_response_calls_the_clients_tool_and_goes_on(client: openai.OpenAI, stage: Stage) -> None:
    scenes.asks_for_the_weather(stage)
    asking = strict(client.responses.create(model=MODEL, input="Hello", tools=[TOOL]))
    (call,) = asking.output

    assert call.type == "function_call"
    assert json.loads(call.arguments) == scenes.CITY
    answer = client.responses.create(
        model=MODEL,
        previous_response_id=asking.id,
        tools=[TOOL],
        input=[{"type": "function_call_output", "call_id": call.call_id, "output": scenes.REPORT}],
    )
    assert strict(answer).output_text == scenes.FORECAST
    assert scenes.got_the_report(stage)


@pytest.mark.case("client tool")
def test_a_response_stream_ends_with_the_clients_call(client: openai.OpenAI, stage: Stage) -> None:
    scenes.asks_for_the_weather(stage)
    events = strict_events(
        client.responses.create(model=MODEL, input="Hello", tools=[TOOL], stream=True)
    )
    (call,) = events[-1].response.output
    written = [
        event.delta for event in events if event.type == "response.function_call_arguments.delta"
    ]

    assert call.type == "function_call"
    assert json.loads("".join(written)) == json.loads(call.arguments) == scenes.CITY

    history: Any = [
        {"role": "user", "content": "Hello"},
        call.to_dict(),
        {"type": "function_call_output", "call_id": call.call_id, "output": scenes.REPORT},
    ]
    answer = client.responses.create(model=MODEL, input=history, tools=[TOOL])
    assert answer.output_text == scenes.FORECAST
    assert scenes.got_the_report(stage)


@pytest.mark.case("structured")
def test_a_response_is_parsed_into_the_clients_class(client: openai.OpenAI, stage: Stage) -> None:
    stage.says(Text(scenes.PERSON_JSON))
    response = client.responses.parse(model=MODEL, input="Who?", text_format=Person)

    assert response.output_parsed == Person(**scenes.PERSON)
    assert set(scenes.answer_format(stage)["properties"]) == {"name", "age"}


@pytest.mark.case("image")
def test_a_response_shows_the_model_a_picture(client: openai.OpenAI, stage: Stage) -> None:
    stage.says(Text("Red."))
    parts: Any = [
        {"type": "input_text", "text": "Colour?"},
        {"type": "input_image", "image_url": scenes.PICTURE, "detail": "auto"},
    ]
    response = client.responses.create(model=MODEL, input=[{"role": "user", "content": parts}])

    assert response.output_text == "Red."
    assert stage.images() == [scenes.PICTURE]


@pytest.mark.case("chain")
def test_a_chain_remembers_and_branches(client: openai.OpenAI, stage: Stage) -> None:
    stage.says(Text("Noted."), Text("Blue."), Text("Blue, as I said."))
    first = client.responses.create(model=MODEL, input="My colour is blue.")
    for question in ("Which colour?", "Again, which?"):
        branch = client.responses.create(model=MODEL, input=question, previous_response_id=first.id)
        assert strict(branch).previous_response_id == first.id
        asked = [message["content"] for message in stage.requests[-1].messages[-3:]]
        assert asked == ["My colour is blue.", "Noted.", question]


@pytest.mark.case("stored")
def test_a_response_is_read_back_and_deleted(client: openai.OpenAI, stage: Stage) -> None:
    stage.says(Text(scenes.ANSWER))
    made = client.responses.create(model=MODEL, input="Hello")

    assert strict(client.responses.retrieve(made.id)).to_dict() == made.to_dict()
    items = [strict(item) for item in client.responses.input_items.list(made.id)]
    assert [item.type for item in items] == ["message"]
    client.responses.delete(made.id)
    with pytest.raises(openai.NotFoundError):
        client.responses.retrieve(made.id)


@pytest.mark.case("stored")
def test_a_response_that_is_not_stored_is_not_found(client: openai.OpenAI, stage: Stage) -> None:
    stage.says(Text(scenes.ANSWER))
    made = client.responses.create(model=MODEL, input="Hello", store=False)

    with pytest.raises(openai.NotFoundError):
        client.responses.retrieve(made.id)


# --- errors ---------------------------------------------------------------------------------------


@pytest.mark.case("errors")
def test_a_wrong_key_is_an_authentication_error(served: Served) -> None:
    with (
        openai.OpenAI(base_url=served.base_url, api_key="wrong", max_retries=0) as client,
        pytest.raises(openai.AuthenticationError, match="Incorrect API key provided"),
    ):
        client.models.list()


@pytest.mark.case("errors")
def test_what_does_not_exist_is_a_not_found_error(client: openai.OpenAI) -> None:
    with pytest.raises(openai.NotFoundError) as model:
        client.models.retrieve("no-such-model")
    with pytest.raises(openai.NotFoundError) as response:
        client.responses.retrieve("resp_none")

    assert (model.value.code, response.value.code) == ("model_not_found", "response_not_found")


@pytest.mark.case("errors")
def test_a_bad_request_names_its_parameter(client: openai.OpenAI) -> None:
    with pytest.raises(openai.BadRequestError) as refused:
        client.chat.completions.create(model=MODEL, messages=QUESTION, n=2)

    assert refused.value.param == "n"
    assert refused.value.request_id


@pytest.mark.case("errors")
def test_a_busy_provider_is_a_rate_limit_error_that_says_when(
    client: openai.OpenAI, stage: Stage
) -> None:
    stage.always(scenes.is_busy)
    with pytest.raises(openai.RateLimitError) as chat:
        client.chat.completions.create(model=MODEL, messages=QUESTION)
    with pytest.raises(openai.RateLimitError) as response:
        client.responses.create(model=MODEL, input="Hello")

    for refused in (chat.value, response.value):
        assert int(refused.response.headers["retry-after"]) >= 1


@pytest.mark.case("errors")
@pytest.mark.parametrize(
    ("script", "status"), [(scenes.is_down, 503), (scenes.rejects_the_key, 502)]
)
def test_a_broken_provider_is_an_internal_server_error(
    client: openai.OpenAI, stage: Stage, script: Any, status: int
) -> None:
    stage.always(script)
    with pytest.raises(openai.InternalServerError) as chat:
        client.chat.completions.create(model=MODEL, messages=QUESTION)
    with pytest.raises(openai.InternalServerError) as response:
        client.responses.create(model=MODEL, input="Hello")

    assert (chat.value.status_code, response.value.status_code) == (status, status)


@pytest.mark.case("errors")
def test_a_provider_that_breaks_a_stream_fails_the_response(
    client: openai.OpenAI, stage: Stage
) -> None:
    stage.always(scenes.rejects_the_key)
    events = strict_events(client.responses.create(model=MODEL, input="Hello", stream=True))

    assert events[-1].type == "response.failed"
    assert events[-1].response.error.message


# --- approval -------------------------------------------------------------------------------------


@pytest.mark.case("approval")
def test_a_yes_in_the_chat_approves_a_command(
    client: openai.OpenAI, stage: Stage, served: Served
) -> None:
    folder = scenes.wants_to_delete(stage, served)
    messages: list[Any] = [{"role": "user", "content": "Clean up"}]
    question = client.chat.completions.create(model=MODEL, messages=messages)
    assert scenes.DELETE in (question.choices[0].message.content or "")
    assert folder.exists()
    messages += [question.choices[0].message, {"role": "user", "content": "Yes."}]
    answer = client.chat.completions.create(model=MODEL, messages=messages)

    assert answer.choices[0].message.content == scenes.GONE
    assert not folder.exists()
    assert len(stage.requests) == 2


@pytest.mark.case("approval")
def test_a_yes_to_a_response_approves_a_command(
    client: openai.OpenAI, stage: Stage, served: Served
) -> None:
    folder = scenes.wants_to_delete(stage, served)
    question = client.responses.create(model=MODEL, input="Clean up")
    assert scenes.DELETE in question.output_text
    assert folder.exists()
    answer = client.responses.create(
        model=MODEL, input="yes", previous_response_id=strict(question).id
    )

    assert strict(answer).output_text == scenes.GONE
    assert not folder.exists()
    assert len(stage.requests) == 2


# --- resume ---------------------------------------------------------------------------------------


@pytest.mark.case("resume")
def test_a_response_in_the_background_is_read_on_where_its_stream_broke_off(
    client: openai.OpenAI, stage: Stage
) -> None:
    story = scenes.tells_slowly(stage)
    seen: list[Any] = []
    with client.responses.create(
        model=MODEL, input="A story", background=True, stream=True
    ) as stream:
        for event in stream:
            seen.append(event)
            if event.type == "response.output_text.delta":
                break
    seen += client.responses.retrieve(
        seen[0].response.id, stream=True, starting_after=seen[-1].sequence_number
    )

    assert [event.sequence_number for event in seen] == list(range(len(seen)))
    deltas = [event.delta for event in seen if event.type == "response.output_text.delta"]
    assert "".join(deltas) == story
    assert seen[-1].type == "response.completed"


@pytest.mark.case("resume")
def test_a_chat_completion_is_found_by_its_run(client: openai.OpenAI, stage: Stage) -> None:
    stage.says(Text(scenes.ANSWER))
    answer = client.chat.completions.with_raw_response.create(model=MODEL, messages=QUESTION)
    run: Any = client.get(f"/runs/{answer.headers['X-Hermes-Run-Id']}", cast_to=object)

    assert (run["status"], run["output"]) == ("completed", scenes.ANSWER)


# --- leaving --------------------------------------------------------------------------------------


@pytest.mark.case("leaving")
def test_closing_a_chat_stream_stops_the_model(client: openai.OpenAI, stage: Stage) -> None:
    stage.starts_and_waits()
    stream = client.chat.completions.create(model=MODEL, messages=QUESTION, stream=True)
    while not spoken([next(stream)]):
        pass
    stream.close()
    stage.wait_until_left()


@pytest.mark.case("leaving")
def test_closing_a_response_stream_stops_the_model(client: openai.OpenAI, stage: Stage) -> None:
    stage.starts_and_waits()
    stream = client.responses.create(model=MODEL, input="Hello", stream=True)
    while next(stream).type != "response.output_text.delta":
        pass
    stream.close()
    stage.wait_until_left()


@pytest.mark.case("leaving")
async def test_cancelling_a_task_that_waits_stops_the_model(served: Served, stage: Stage) -> None:
    stage.starts_and_waits()
    async with openai.AsyncOpenAI(base_url=served.base_url, api_key=KEY, max_retries=0) as client:
        asking = asyncio.ensure_future(
            client.chat.completions.create(model=MODEL, messages=QUESTION)
        )
        async with asyncio.timeout(5):
            while not stage.requests:
                await asyncio.sleep(0.01)
        asking.cancel()
        await asyncio.gather(asking, return_exceptions=True)
        await asyncio.to_thread(stage.wait_until_left)
