"""Whether a CLI can be used: looked for, started, asked for its version, and by whom it is paid."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from hermes.backends.drivers.claude import ClaudeDriver
from hermes.backends.hosting.catalogue import Catalogue, Spoken, ask_program
from hermes.core.cli_agents import Examined, Readiness
from hermes.settings.cli_settings import CliAgentSettings


def program(folder: Path, script: str, name: str = "claude") -> Path:
    path = folder / name
    path.write_text(f"#!/bin/sh\n{script}\n")
    path.chmod(0o755)
    return path


def agent(command: Path | str = "claude", **fields: Any) -> CliAgentSettings:
    return CliAgentSettings(
        name="claude", driver=fields.pop("driver", "claude"), command=(str(command),), **fields
    )


def environ(folder: Path, **more: str) -> dict[str, str]:
    return {"PATH": f"{folder}:/usr/bin:/bin", "HOME": str(folder / "home"), **more}


def test_one_that_is_not_there_says_how_to_get_it(tmp_path: Path) -> None:
    found = Catalogue({"PATH": str(tmp_path)}).find(agent())

    assert found.installed is None
    assert found.examined.readiness is Readiness.NOT_FOUND
    assert "npm install -g @anthropic-ai/claude-code" in found.examined.fix
    assert "cli.agents.claude.command" in found.examined.fix


def test_one_that_does_not_start_says_what_it_complains_about(tmp_path: Path) -> None:
    program(tmp_path, "echo 'env: node: No such file' >&2; exit 127")
    found = Catalogue(environ(tmp_path)).find(agent())

    assert found.installed is None
    assert found.examined.readiness is Readiness.MISSING_DEPENDENCY
    assert "node: No such file" in found.examined.detail
    assert "Node.js" in found.examined.fix


def test_one_that_is_no_program_is_missing_something(tmp_path: Path) -> None:
    (tmp_path / "claude").write_text("#!/no/such/interpreter\n")
    (tmp_path / "claude").chmod(0o755)
    found = Catalogue(environ(tmp_path)).find(agent())

    assert found.examined.readiness is Readiness.MISSING_DEPENDENCY


def test_one_without_a_login_is_used_all_the_same(tmp_path: Path) -> None:
    program(tmp_path, "echo '2.1.300 (Claude Code)'")
    catalogue = Catalogue(environ(tmp_path))

    assert catalogue.find(agent()).examined.readiness is Readiness.LOGIN_UNKNOWN
    assert catalogue.find(agent()).examined.fix
    assert isinstance(catalogue.driver(agent()), ClaudeDriver)


@pytest.mark.parametrize("login", ["key", "variable", "file"])
def test_one_with_a_login_is_ready(tmp_path: Path, login: str) -> None:
    program(tmp_path, "echo '2.1.300 (Claude Code)'")
    (tmp_path / "home/.claude").mkdir(parents=True)
    if login == "file":
        (tmp_path / "home/.claude/.credentials.json").write_text("{}")
    known = {"CLAUDE_CODE_OAUTH_TOKEN": "x"} if login == "variable" else {}
    settings = agent(api_key="x") if login == "key" else agent()
    found = Catalogue(environ(tmp_path, **known)).find(settings)

    assert found.examined == Examined(readiness=Readiness.READY, version="2.1.300")


def test_a_version_nobody_tried_is_told(tmp_path: Path) -> None:
    program(tmp_path, "echo '3.0.0 (Claude Code)'")
    found = Catalogue(environ(tmp_path)).find(agent(api_key="x"))

    assert found.examined.readiness is Readiness.READY
    assert "only" in found.examined.detail


def test_a_program_is_asked_once_until_it_changes(tmp_path: Path) -> None:
    asked: list[tuple[str, ...]] = []

    def ask(argv: tuple[str, ...], environment: Mapping[str, str]) -> Spoken:
        asked.append(argv[1:])
        return Spoken(True, "2.1.300", "")

    path = program(tmp_path, "true")
    catalogue = Catalogue(environ(tmp_path), ask)
    catalogue.find(agent())
    catalogue.find(agent())
    assert asked == [("--version",), ("--help",)]

    path.unlink()
    program(tmp_path, "true # another one")
    catalogue.find(agent())
    assert len(asked) == 4


def test_it_is_asked_in_an_environment_that_knows_no_secret(tmp_path: Path) -> None:
    known: list[Mapping[str, str]] = []

    def ask(argv: tuple[str, ...], environment: Mapping[str, str]) -> Spoken:
        known.append(environment)
        return Spoken(True, "2.1.300", "")

    program(tmp_path, "true")
    Catalogue(environ(tmp_path, API_SERVER_KEY="hunter2"), ask).find(agent())

    assert all("hunter2" not in str(each) for each in known)
    assert all(each["HOME"] != str(tmp_path / "home") for each in known)


def test_a_program_that_never_answers_is_given_up(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("hermes.backends.hosting.catalogue.ASK_SECONDS", 0.2)
    path = program(tmp_path, "exec sleep 60")

    assert not ask_program((str(path), "--version"), {"PATH": "/usr/bin:/bin"}).is_ok
