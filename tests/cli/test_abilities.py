"""What a CLI agent can do beyond text: pictures, answers by a schema, tools, asking first."""

from __future__ import annotations

import base64
import json
import struct
import zlib
from pathlib import Path

import pytest

from hermes.testing.replies import Reply, Text, ToolUse, structured
from hermes.testing.requests import ModelRequest
from tests.cli.stage import Stage, shell, unique

editing = pytest.mark.parametrize("model", ["editor/haiku", "coder/scripted"])
both = pytest.mark.parametrize("model", ["claude/haiku", "codex/scripted"])


def _png() -> bytes:
    """One red pixel, eight by eight times."""

    def chunk(kind: bytes, data: bytes) -> bytes:
        return (
            struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))
        )

    rows = b"".join(b"\0" + b"\xff\0\0" * 8 for _ in range(8))
    head = struct.pack(">IIBBBBB", 8, 8, 8, 2, 0, 0, 0)
    return (
        b"\x89PNG\r\n\x1a\n"
        + chunk(b"IHDR", head)
        + chunk(b"IDAT", zlib.compress(rows))
        + chunk(b"IEND", b"")
    )


@both
async def test_a_picture_reaches_the_model(stage: Stage, model: str) -> None:
    word = unique("picture")
    scene = stage.on(word, Text("Red."))
    url = "data:image/png;base64," + base64.b64encode(_png()).decode()
    prompt = [
        {"type": "text", "text": word},
        {"type": "image_url", "image_url": {"url": url}},
    ]

    assert await stage.say(model, prompt) == "Red."
    assert any(image.startswith("data:image/png;base64,") for image in scene.requests[0].images)


@both
async def test_an_answer_keeps_to_its_schema(stage: Stage, model: str) -> None:
    word, city = unique("schema"), {"city": "Oslo", "people": 717710}
    schema = {
        "type": "object",
        "properties": {"city": {"type": "string"}, "people": {"type": "integer"}},
        "required": ["city", "people"],
        "additionalProperties": False,
    }

    def reply(request: ModelRequest) -> Reply:
        # Claude Code has its model call a tool with the answer.
        is_called = "StructuredOutput" in request.tool_names
        return ToolUse("StructuredOutput", city) if is_called else structured(city)

    stage.on(word, reply)
    wanted = {"type": "json_schema", "json_schema": {"name": "city", "schema": schema}}

    assert json.loads(await stage.say(model, word, response_format=wanted)) == city


@editing
async def test_a_tool_runs_when_somebody_allows_it(
    stage: Stage, tmp_path: Path, model: str
) -> None:
    word, sign = unique("allow"), tmp_path / "done"
    scene = stage.on(word, shell(model, f"touch {sign}; echo done-it"), Text("It is done."))
    run_id = await stage.run(model, word)

    run = await stage.in_state(run_id, "waiting_for_approval")
    [approval] = run["approvals"]
    assert str(sign) in approval["command"]
    assert not sign.exists()
    await stage.decide(run_id, "once")

    run = await stage.in_state(run_id, "completed")
    assert run["output"].endswith("It is done.")
    assert sign.exists()
    assert "done-it" in scene.conversation
    events = await stage.events(run_id)
    outputs = [event["output"] for event in events if event["type"] == "tool.finished"]
    assert ["done-it" in output for output in outputs] == [True]


@editing
async def test_a_tool_that_somebody_denies_does_not_run(
    stage: Stage, tmp_path: Path, model: str
) -> None:
    word, sign = unique("deny"), tmp_path / "done"
    stage.on(word, shell(model, f"touch {sign}"), Text("Then not."))
    run_id = await stage.run(model, word)

    await stage.in_state(run_id, "waiting_for_approval")
    await stage.decide(run_id, "deny")

    run = await stage.in_state(run_id, "completed")
    assert run["output"].endswith("Then not.")
    assert not sign.exists()


async def test_the_tools_of_the_cli_are_never_the_clients_to_call(
    stage: Stage, tmp_path: Path
) -> None:
    word, sign = unique("own"), tmp_path / "done"
    stage.on(word, shell("claude/haiku", f"touch {sign}"), Text("No tools here."))

    answer = await stage.chat("claude/haiku", word)

    assert answer.choices[0].finish_reason == "stop"
    assert not answer.choices[0].message.tool_calls
    assert answer.choices[0].message.content.endswith("No tools here.")
    assert not sign.exists()
