"""Sessions of the gateway are the CLI's own: resumed one turn at a time, each counted once."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from hermes.testing.replies import Text
from tests.cli.stage import Stage, unique

both = pytest.mark.parametrize("model", ["claude/haiku", "codex/scripted"])


async def _session(stage: Stage) -> str:
    status, body = await stage.served.answer("POST", "/api/sessions", json={})
    assert status in (200, 201), body
    return str(body["session"]["id"] if "session" in body else body["id"])


async def _turn(stage: Stage, model: str, session_id: str, prompt: str) -> Any:
    headers = {"X-Hermes-Session-Id": session_id}
    return await stage.chat(model, prompt, extra_headers=headers)


@both
async def test_a_session_is_resumed_twice_and_each_turn_is_counted_once(
    stage: Stage, model: str
) -> None:
    session_id = await _session(stage)
    words = [unique(f"turn{number}") for number in (1, 2, 3)]
    scenes = [stage.on(word, Text(f"Heard {word}.")) for word in words]

    for word, scene in zip(words, scenes, strict=True):
        answer = await _turn(stage, model, session_id, word)
        assert answer.choices[0].message.content == f"Heard {word}."
        assert len(scene.requests) == 1
        assert answer.usage.prompt_tokens == scene.requests[0].input_tokens
        assert answer.usage.completion_tokens == 2

    said = scenes[-1].conversation
    assert [said.count(word) for word in words] == [2, 2, 1]


@both
async def test_turns_of_one_session_wait_for_each_other_and_none_is_lost(
    stage: Stage, model: str
) -> None:
    session_id = await _session(stage)
    opening = unique("opening")
    stage.on(opening, Text("Go on."))
    await _turn(stage, model, session_id, opening)
    words = [unique("at-once") for _ in range(3)]
    for word in words:
        stage.on(word, Text(pieces=["Heard ", word, "."], interval=0.2))

    await asyncio.gather(*(_turn(stage, model, session_id, word) for word in words))

    last = unique("last")
    scene = stage.on(last, Text("All of it."))
    await _turn(stage, model, session_id, last)
    said = scene.conversation
    assert [said.count(word) for word in words] == [2, 2, 2]


async def test_two_sessions_do_not_hear_each_other(stage: Stage) -> None:
    one, other = await _session(stage), await _session(stage)
    secret, question = unique("secret"), unique("question")
    stage.on(secret, Text("Noted."))
    scene = stage.on(question, Text("Nothing."))

    await _turn(stage, "claude/haiku", one, secret)
    await _turn(stage, "claude/haiku", other, question)

    assert secret not in scene.conversation
