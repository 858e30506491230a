"""A question outlives its process: it is asked, the server is killed, and "yes" still counts."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import openai
import pytest

from hermes.testing.fake_provider import FakeProvider
from hermes.testing.replies import Reply, Text, ToolUse
from hermes.testing.requests import ModelRequest
from hermes.testing.scripted import ScriptedModel
from tests.faults.planned_model import executions
from tests.faults.served import KEY, Served, serving

COMMAND = "echo ran >> tokens.txt; rm -rf build"
QUESTION = {"role": "user", "content": "Clean up."}


def model(request: ModelRequest) -> Reply:
    """Wants to delete something, and then is content with whatever it hears."""
    if any(COMMAND in str(message) for message in request.messages):
        return Text("It is done.")
    return ToolUse("terminal", {"command": COMMAND})


@asynccontextmanager
async def sdk_of(served: Served) -> AsyncIterator[openai.AsyncOpenAI]:
    url = f"{served.url}/v1"
    async with openai.AsyncOpenAI(base_url=url, api_key=KEY, max_retries=0) as sdk:
        yield sdk


async def said(served: Served, messages: list[Any], **options: Any) -> str:
    async with sdk_of(served) as sdk:
        answer = await sdk.chat.completions.create(model="any", messages=messages, **options)
    return answer.choices[0].message.content or ""


@pytest.mark.parametrize("session", [{}, {"X-Hermes-Session-Id": "kept"}])
async def test_a_yes_after_a_kill_runs_the_command_exactly_once(
    tmp_path: Path, session: dict[str, str]
) -> None:
    home = tmp_path / "home"
    async with FakeProvider(ScriptedModel(model)) as provider:
        async with serving(home, provider) as served:
            asked = await said(served, [QUESTION], extra_headers=session)
            await served.kill()
        assert COMMAND in asked
        assert executions(home)["ran"] == 0
        answered = [
            QUESTION,
            {"role": "assistant", "content": asked},
            {"role": "user", "content": "yes"},
        ]
        async with serving(home, provider) as again:
            first = await said(again, answered, extra_headers=session)
            assert executions(home)["ran"] == 1
            await again.kill()
        async with serving(home, provider) as again:
            if not session:  # there, a second yes is another message in the conversation
                assert await said(again, answered) == first

    assert first == "It is done."
    assert executions(home)["ran"] == 1


async def test_a_decision_over_the_api_counts_after_a_kill_and_only_once(tmp_path: Path) -> None:
    home = tmp_path / "home"
    async with FakeProvider(ScriptedModel(model)) as provider:
        async with serving(home, provider) as served:
            body = {"input": "Clean up.", "wait": 20}
            _, run = await served.answer("POST", "/v1/runs", json=body)
            await served.kill()
        assert run["status"] == "waiting_for_approval"
        path = f"/v1/runs/{run['id']}"
        async with serving(home, provider) as again:
            waiting = await again.get(path)
            status, _ = await again.answer("POST", f"{path}/approval", json={"decision": "once"})
            events = await again.stream(f"{path}/events")
            late, error = await again.answer("POST", f"{path}/approval", json={"decision": "once"})

    assert waiting == run
    assert (status, late) == (200, 409)
    assert error["error"]["code"] == "no_approval_pending"
    assert b"event: run.completed" in events
    assert executions(home)["ran"] == 1
