"""`hermes prompt` shows what would be sent, and sends nothing."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from hermes.core.errors import HermesError
from hermes.core.memories import MemoryScope
from hermes.store.memories import MemoryStore
from hermes_cli.main import hermes

CONFIG = """
provider: custom
base_url: http://127.0.0.1:9/v1
model: large
models:
  quick: {model: small, toolsets: [], system_prompt: You are quick.}
server:
  keys:
    laptop: {key: laptop-key-0123456789, toolsets: [files]}
"""


@pytest.fixture(autouse=True)
def configured(home: Path) -> None:
    home.mkdir(exist_ok=True)
    (home / "config.yaml").write_text(CONFIG)
    (home / "config.yaml").chmod(0o600)


def run(cli: CliRunner, *arguments: str) -> Result:
    return cli.invoke(hermes, ["prompt", *arguments])


def request_of(cli: CliRunner, *arguments: str) -> Any:
    result = run(cli, "--json", *arguments)
    assert result.exit_code == 0, result.output
    return json.loads(result.stdout)


def names_in(request: Any) -> set[str]:
    return {tool["function"]["name"] for tool in request.get("tools", ())}


def test_the_system_prompt_goes_to_stdout_and_its_size_to_stderr(cli: CliRunner) -> None:
    result = run(cli, "--system", "Be brief.")

    assert result.exit_code == 0, result.output
    assert result.stdout.startswith("You are Hermes")
    assert result.stdout.endswith("Be brief.\n")
    rows = [line.split() for line in result.stderr.splitlines()]
    assert [row[0] for row in rows[1:]][:3] == ["identity", "tools", "environment"]
    assert rows[-1][0] == "together"
    assert int(rows[-1][1].replace(",", "")) == sum(
        int(row[-1].replace(",", "")) for row in rows[1:-1]
    )


def test_the_request_is_the_one_the_provider_would_get(cli: CliRunner) -> None:
    request = request_of(cli, "--message", "What is here?")

    assert request["model"] == "large"
    assert [message["role"] for message in request["messages"]] == ["system", "user"]
    assert request["messages"][1]["content"] == "What is here?"
    assert {"terminal", "memory", "todo", "skill", "session_search"} <= names_in(request)
    assert request["messages"][0]["content"] == run(cli).stdout.removesuffix("\n")


def test_the_dialect_is_the_providers(cli: CliRunner, home: Path) -> None:
    config = CONFIG.replace("model: large", "model: large\napi_mode: anthropic_messages")
    (home / "config.yaml").write_text(config)

    request = request_of(cli)

    assert [message["role"] for message in request["messages"]] == ["user"]
    assert "You are Hermes" in json.dumps(request["system"])
    assert all("input_schema" in tool for tool in request["tools"])


def test_another_model_and_another_key_are_told_other_things(cli: CliRunner) -> None:
    quick = request_of(cli, "--model", "quick")
    assert (quick["model"], names_in(quick)) == ("small", set())
    assert quick["messages"][0]["content"].startswith("You are quick.")

    laptop = names_in(request_of(cli, "--key-name", "laptop"))
    assert "read_file" in laptop
    assert "terminal" not in laptop


def test_the_memories_are_those_of_the_session_key(cli: CliRunner, home: Path) -> None:
    store = MemoryStore(lambda: home / "memory.db")
    store.add(MemoryScope(owner="local", session_key="ada"), "Ada likes tea.")
    store.close()

    assert "Ada likes tea." in run(cli, "--session-key", "ada").stdout
    assert "tea" not in run(cli, "--session-key", "bob").stdout


def test_unknown_names_are_explained(cli: CliRunner) -> None:
    for arguments, known in ((("--model", "x"), "quick"), (("--key-name", "x"), "laptop")):
        result = run(cli, *arguments)
        assert isinstance(result.exception, HermesError)
        assert known in str(result.exception)


def test_nothing_is_stored_by_looking(cli: CliRunner, home: Path) -> None:
    run(cli)
    assert {file.name for file in home.iterdir()} <= {"config.yaml", "workspace"}
