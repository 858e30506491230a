"""What makes a provider read the beginning of a conversation only once, on the wire."""

from __future__ import annotations

import json
from itertools import pairwise
from typing import Any

import pytest

from hermes.testing.replies import Text, ToolUse
from tests.flows.conftest import StartFlow
from tests.flows.test_sessions import chat, new_session

SCRIPT = [
    ToolUse("terminal", {"command": "echo seen"}),
    Text("Done."),
    Text("Again."),
]


async def asked_in_two_turns(flow: StartFlow, **agent: Any) -> list[dict[str, Any]]:
    served = await flow(SCRIPT, agent=agent)
    session_id = await new_session(served)
    for words in ("Look", "And now?"):
        status, answer = await chat(served, session_id, words)
        assert status == 200, answer
    return [dict(request.body) for request in served.requests]


async def test_the_system_prompt_and_the_tools_are_the_same_bytes_in_every_call(
    flow: StartFlow,
) -> None:
    bodies = await asked_in_two_turns(flow)
    assert len({json.dumps([body["messages"][0], body["tools"]]) for body in bodies}) == 1
    for earlier, later in pairwise(bodies):
        assert later["messages"][: len(earlier["messages"])] == earlier["messages"]


@pytest.mark.parametrize("api_mode", ["chat_completions", "codex_responses"])
async def test_openai_is_told_which_prompts_belong_together(flow: StartFlow, api_mode: str) -> None:
    bodies = await asked_in_two_turns(flow, provider="openai", api_mode=api_mode)
    assert len({body["prompt_cache_key"] for body in bodies}) == 1


async def test_an_endpoint_of_ones_own_is_sent_nothing_it_may_not_know(flow: StartFlow) -> None:
    bodies = await asked_in_two_turns(flow)
    assert not any("prompt_cache_key" in body for body in bodies)
    assert "cache_control" not in json.dumps(bodies)


async def test_openrouter_passes_marks_on_to_anthropic(flow: StartFlow) -> None:
    model = "anthropic/claude-sonnet-4.5"
    bodies = await asked_in_two_turns(flow, provider="openrouter", model=model)
    assert "cache_control" in json.dumps(bodies[-1]["messages"][0])
    assert json.dumps(bodies[-1]).count("cache_control") <= 4
