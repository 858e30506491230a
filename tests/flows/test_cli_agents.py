"""CLI agents as models: what a chat gets of them, which there are, and what they are called."""

from __future__ import annotations

import base64
from pathlib import Path

from hermes.core.cli_agents import Profile
from tests.flows.conftest import StartFlow
from tests.flows.described import DescribedClient
from tests.flows.hosted import (
    MODEL,
    chat,
    hosting,
    nothing_is_left,
    text_of,
)
from tests.flows.run_client import read

PIXEL = base64.b64decode(
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8BQDwAEhQGAhKmMIQAAAABJRU5ErkJggg=="
)


class TestChat:
    async def test_a_completion_has_the_cli_s_answer_usage_and_cost(
        self, flow: StartFlow, tmp_path: Path
    ) -> None:
        served = await hosting(flow, tmp_path)
        status, answer = await chat(served, "Hello")

        assert (status, text_of(answer)) == (200, "echo: Hello")
        assert answer["model"] == MODEL
        assert answer["usage"]["prompt_tokens"] == 150
        assert answer["usage"]["completion_tokens"] == 17
        assert answer["usage"]["prompt_tokens_details"]["cached_tokens"] == 30
        assert answer["usage"]["cost_usd"] == 0.25
        await nothing_is_left(tmp_path / "home")

    async def test_a_stream_has_each_word_once_and_in_order(
        self, flow: StartFlow, tmp_path: Path
    ) -> None:
        served = await hosting(flow, tmp_path)
        chunks = [
            chunk.choices[0].delta.content
            async for chunk in await served.sdk.chat.completions.create(
                model=MODEL, messages=[{"role": "user", "content": "[slow: 3]"}], stream=True
            )
            if chunk.choices and chunk.choices[0].delta.content
        ]

        assert len(chunks) > 1
        assert "".join(chunks) == "word0 word1 word2"

    async def test_its_tools_are_the_server_s_and_no_calls_for_the_client(
        self, flow: StartFlow, tmp_path: Path
    ) -> None:
        served = await hosting(flow, tmp_path, profile=Profile.READ_ONLY)
        body = {
            "model": MODEL,
            "stream": True,
            "messages": [{"role": "user", "content": "[tool]"}],
        }
        streamed = read(await served.text("/v1/chat/completions", body))
        _, whole = await chat(served, "[tool]")

        assert not any(
            choice["delta"].get("tool_calls")
            for chunk in streamed
            for choice in chunk.get("choices", [])
        )
        assert whole["choices"][0]["finish_reason"] == "stop"
        assert text_of(whole) == "There is a.txt."

    async def test_a_client_s_history_is_told_and_nothing_is_kept(
        self, flow: StartFlow, tmp_path: Path
    ) -> None:
        served = await hosting(flow, tmp_path)
        _, answer = await chat(
            served,
            "",
            messages=[
                {"role": "user", "content": "My name is Ada."},
                {"role": "assistant", "content": "Hello Ada."},
                {"role": "user", "content": "Who am I?"},
            ],
        )

        told = text_of(answer)
        assert told.index("My name is Ada.") < told.index("Hello Ada.") < told.index("Who am I?")
        assert not (tmp_path / "home/cli.db").exists()
        assert not list((tmp_path / "home/cli").glob("sessions/*/*"))

    async def test_images_reach_it(self, flow: StartFlow, tmp_path: Path) -> None:
        served = await hosting(flow, tmp_path)
        url = f"data:image/png;base64,{base64.b64encode(PIXEL).decode()}"
        parts = [{"type": "text", "text": "Look"}, {"type": "image_url", "image_url": {"url": url}}]
        _, answer = await chat(served, "", messages=[{"role": "user", "content": parts}])

        assert text_of(answer) == "echo: Look with 1 image"

    async def test_sampling_and_client_tools_are_named_as_without_effect(
        self, flow: StartFlow, tmp_path: Path
    ) -> None:
        served = await hosting(flow, tmp_path)
        function = {"type": "function", "function": {"name": "f", "parameters": {}}}
        body = {
            "model": MODEL,
            "temperature": 0.1,
            "tools": [function],
            "messages": [{"role": "user", "content": "Hi"}],
        }
        async with served.http.post(served.gateway.url + "/v1/chat/completions", json=body) as got:
            assert got.status == 200
            assert got.headers["X-Hermes-Ignored-Params"] == "temperature, tools"

    async def test_an_answer_that_must_be_json_is_checked(
        self, flow: StartFlow, tmp_path: Path
    ) -> None:
        served = await hosting(flow, tmp_path, transport="one-shot")
        wanted = {"response_format": {"type": "json_object"}}
        status, refused = await chat(served, "No JSON at all", **wanted)

        assert (status, refused["error"]["code"]) == (502, "invalid_structured_output")


class TestModels:
    async def test_they_are_listed_and_validated(self, flow: StartFlow, tmp_path: Path) -> None:
        served = await hosting(flow, tmp_path)
        names = [model.id async for model in served.sdk.models.list()]
        unknown, answer = await chat(served, "Hi", model="claude/gpt-5")

        assert names == ["hermes-agent", "claude/haiku", "claude/sonnet", "claude/opus"]
        assert (unknown, answer["error"]["code"]) == (404, "model_not_found")

    async def test_a_request_may_lower_the_profile_and_not_raise_it(
        self, flow: StartFlow, tmp_path: Path
    ) -> None:
        served = await hosting(flow, tmp_path, profile=Profile.READ_ONLY)
        lowered, _ = await chat(served, "Hi", model="claude/haiku@chat")
        raised, answer = await chat(served, "Hi", model="claude/haiku@edit")

        assert lowered == 200
        assert (raised, answer["error"]["code"]) == (403, "profile_not_allowed")

    async def test_the_default_agent_answers_what_nobody_else_does(
        self, flow: StartFlow, tmp_path: Path
    ) -> None:
        served = await hosting(flow, tmp_path, cli={"default": "claude"})
        messages = [{"role": "user", "content": "Hi"}]
        _, unnamed = await served.answer(
            "POST", "/v1/chat/completions", json={"messages": messages}
        )
        _, unknown = await chat(served, "Hi", model="gpt-4o")

        assert text_of(unnamed) == text_of(unknown) == "echo: Hi"
        assert unnamed["model"] == "claude/sonnet"

    async def test_what_is_said_of_them_is_as_described(
        self, flow: StartFlow, tmp_path: Path
    ) -> None:
        served = await hosting(flow, tmp_path)
        _, document = await served.answer("GET", "/openapi.json")
        client = DescribedClient(served.http, served.gateway.url, document)
        health = await client.ask("health_detailed")
        messages = [{"role": "user", "content": "[tool]"}]
        for is_stream in (False, True):
            body = {"model": MODEL, "messages": messages, "stream": is_stream}
            await client.ask("chat_completions", body=body)
            body = {"model": MODEL, "input": "[tool]", "stream": is_stream}
            await client.ask("responses", body=body)

        assert health["cli_agents"] == [
            {"name": "claude", "running": 0, "queued": 0, "max_running": 2}
        ]
