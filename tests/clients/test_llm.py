"""Simon Willison's `llm` command, configured as its users do: by a file."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from hermes.testing.replies import Text
from tests.clients import scenes
from tests.clients.serving import KEY, MODEL, Served
from tests.clients.stage import Stage
from tests.clients.table import Client

CLIENT = Client("llm", "llm")

NAME = "hermes"

# JSON is YAML, too.
MODELS = {
    "model_id": NAME,
    "model_name": MODEL,
    "api_key_name": NAME,
    "supports_tools": True,
    "supports_schema": True,
    "vision": True,
}

WEATHER_TOOL = f"""
def get_weather(city: str) -> str:
    "The weather of a city."
    assert city == {scenes.CITY["city"]!r}
    return {scenes.REPORT!r}
"""


class Shell:
    """A home with one configured model, and the command in it."""

    def __init__(self, home: Path, served: Served, key: str) -> None:
        self._environment = os.environ | {"LLM_USER_PATH": str(home)}
        entry = MODELS | {"api_base": served.base_url}
        (home / "extra-openai-models.yaml").write_text(json.dumps([entry]))
        (home / "keys.json").write_text(json.dumps({NAME: key}))

    def start(self, *arguments: str) -> subprocess.Popen[str]:
        return subprocess.Popen(
            [sys.executable, "-m", "llm", *arguments],
            env=self._environment,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )

    def ask(self, *arguments: str) -> str:
        """What the command prints; it must succeed."""
        asking = self.start("-m", NAME, *arguments)
        answer, complaint = asking.communicate(timeout=30)
        assert asking.returncode == 0, complaint
        return answer.strip()

    def fail(self, *arguments: str) -> str:
        """What the command complains; it must fail."""
        asking = self.start("-m", NAME, *arguments)
        _, complaint = asking.communicate(timeout=30)
        assert asking.returncode == 1
        return complaint


@pytest.fixture
def shell(tmp_path: Path, served: Served) -> Shell:
    return Shell(tmp_path, served, KEY)


@pytest.mark.case("models")
def test_the_model_is_listed(shell: Shell) -> None:
    listed, _ = shell.start("models").communicate(timeout=30)

    assert NAME in listed


@pytest.mark.case("chat")
def test_it_answers(shell: Shell, stage: Stage) -> None:
    stage.says(Text(scenes.ANSWER))

    assert shell.ask("--no-stream", "Hello") == scenes.ANSWER


@pytest.mark.case("stream")
def test_it_streams(shell: Shell, stage: Stage) -> None:
    stage.says(Text(scenes.ANSWER))

    assert shell.ask("Hello") == scenes.ANSWER


@pytest.mark.case("server tool")
@pytest.mark.parametrize("options", [[], ["--no-stream"]], ids=["streamed", "whole"])
def test_it_leaves_the_servers_tool_alone(
    shell: Shell, stage: Stage, served: Served, options: list[str]
) -> None:
    scenes.lists_its_files(stage, served)

    assert shell.ask(*options, "Files?") == scenes.LISTED
    assert scenes.listed_once(stage)


@pytest.mark.case("client tool")
@pytest.mark.parametrize("options", [[], ["--no-stream"]], ids=["streamed", "whole"])
def test_it_runs_its_own_tool(shell: Shell, stage: Stage, options: list[str]) -> None:
    scenes.asks_for_the_weather(stage)

    assert shell.ask(*options, "--functions", WEATHER_TOOL, "Weather?") == scenes.FORECAST
    assert scenes.got_the_report(stage)


@pytest.mark.case("structured")
def test_it_gives_structured_answers(shell: Shell, stage: Stage) -> None:
    stage.says(Text(scenes.PERSON_JSON))
    answer = shell.ask("--schema", json.dumps(scenes.PERSON_SCHEMA), "Who?")

    assert json.loads(answer) == scenes.PERSON
    assert scenes.answer_format(stage) == scenes.PERSON_SCHEMA


@pytest.mark.case("image")
def test_it_shows_the_model_a_picture(shell: Shell, stage: Stage, tmp_path: Path) -> None:
    stage.says(Text("Red."))
    (tmp_path / "red.png").write_bytes(scenes.png())

    assert shell.ask("-a", str(tmp_path / "red.png"), "Colour?") == "Red."
    assert stage.images() == [scenes.PICTURE]


@pytest.mark.case("errors")
def test_a_wrong_key_is_said(tmp_path: Path, served: Served) -> None:
    assert "Incorrect API key provided" in Shell(tmp_path, served, "wrong").fail("Hello")


@pytest.mark.case("errors")
def test_a_broken_provider_is_said(shell: Shell, stage: Stage) -> None:
    stage.always(scenes.rejects_the_key)

    assert "Error" in shell.fail("--no-stream", "Hello")


@pytest.mark.case("leaving")
def test_ending_the_command_stops_the_model(shell: Shell, stage: Stage) -> None:
    stage.starts_and_waits()
    asking = shell.start("-m", NAME, "Hello")
    try:
        assert asking.stdout is not None
        assert asking.stdout.read(4) == "Once"
    finally:
        asking.kill()
        asking.communicate()
    stage.wait_until_left()
