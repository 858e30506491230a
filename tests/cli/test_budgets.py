"""What a turn may use is held by the relay: its CLI gets no more, and the turn says why."""

from __future__ import annotations

from typing import Any

import pytest

from hermes.testing.replies import ToolUse
from tests.cli.stage import Stage, unique

LOOKING = {
    "reader/haiku": ToolUse("Grep", {"pattern": "anything"}),
    "codex/scripted": ToolUse("exec_command", {"cmd": "ls"}),
}


@pytest.mark.parametrize("model", LOOKING)
@pytest.mark.parametrize(
    ("budget", "most", "words"),
    [({"max_iterations": 3}, 3, "3 requests"), ({"max_tokens": 20_000}, 10, "20000 tokens")],
)
async def test_a_model_that_never_comes_to_an_end_is_stopped_by_the_budget(
    stage: Stage, model: str, budget: dict[str, int], most: int, words: str
) -> None:
    word = unique("endless")
    scene = stage.on(word, LOOKING[model])

    body = {"model": model, "messages": [{"role": "user", "content": word}], "budget": budget}
    async with stage.post("/v1/chat/completions", body) as answer:
        error: dict[str, Any] = (await answer.json())["error"]

    assert answer.status == 502
    assert error["hermes"]["error_code"] == "budget_exhausted"
    assert words in error["message"]
    assert 1 < len(scene.requests) <= most
