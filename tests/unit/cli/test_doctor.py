"""`hermes doctor` as a whole: its verdict, its order of things, and what it never says."""

from __future__ import annotations

import json
import socket
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from hermes.testing.fake_provider_thread import FakeProviderThread
from hermes.testing.scripted import EchoModel
from hermes_cli.doctor import line_for
from hermes_cli.doctor_finding import ok, problem
from hermes_cli.main import hermes
from hermes_cli.terminal_style import Style

SECRET = "sk-test-1234567890abcdef"


@pytest.fixture
def closed_port() -> Iterator[int]:
    """A port that is bound but not listened on: whoever connects is refused."""
    with socket.socket() as bound:
        bound.bind(("127.0.0.1", 0))
        yield bound.getsockname()[1]


def findings(cli: CliRunner) -> dict[str, dict[str, Any]]:
    result = cli.invoke(hermes, ["doctor", "--json"])
    return {finding["title"]: finding for finding in json.loads(result.output)["findings"]}


def configure(home: Path, text: str) -> None:
    home.mkdir(mode=0o700)
    (home / "config.yaml").write_text(text)
    (home / "config.yaml").chmod(0o600)


def test_a_fresh_machine_is_healthy_and_nothing_is_created(cli: CliRunner, home: Path) -> None:
    result = cli.invoke(hermes, ["doctor"])

    assert result.exit_code == 0
    assert "demo model" in result.output
    assert "✗" not in result.output
    assert not home.exists()


def test_a_provider_that_answers_is_fine(cli: CliRunner, home: Path) -> None:
    with FakeProviderThread(EchoModel()) as provider:
        configure(home, f"base_url: {provider.base_url}\nmodel: scripted\napi_key: {SECRET}\n")
        result = cli.invoke(hermes, ["doctor", "--json"])

    found = {finding["title"]: finding for finding in json.loads(result.output)["findings"]}
    assert result.exit_code == 0
    assert found["Provider"]["level"] == "ok"
    assert found["Model"] == {"level": "ok", "title": "Model", "detail": "scripted", "fix": ""}
    assert SECRET not in result.output


def test_a_model_the_provider_does_not_list_is_worth_a_warning(cli: CliRunner, home: Path) -> None:
    with FakeProviderThread(EchoModel()) as provider:
        configure(home, f"base_url: {provider.base_url}\nmodel: mistyped\n")
        found = findings(cli)

    assert found["Model"]["level"] == "warning"


def test_a_closed_port_is_a_problem_with_advice(
    cli: CliRunner, home: Path, closed_port: int
) -> None:
    configure(home, f"base_url: http://127.0.0.1:{closed_port}/v1\nmodel: m\n")

    result = cli.invoke(hermes, ["doctor"])

    assert result.exit_code == 1
    assert "✗ Provider" in result.output
    assert "check that the server is running" in result.output


def test_the_fallback_is_examined_too(cli: CliRunner, home: Path, closed_port: int) -> None:
    with FakeProviderThread(EchoModel()) as provider:
        fallback = f"fallback:\n  base_url: http://127.0.0.1:{closed_port}/v1\n  model: f\n"
        configure(home, f"base_url: {provider.base_url}\nmodel: scripted\n{fallback}")
        found = findings(cli)

    assert found["Provider"]["level"] == "ok"
    assert found["Fallback provider"]["level"] == "problem"


def test_every_key_of_several_is_examined(cli: CliRunner, home: Path) -> None:
    with FakeProviderThread(EchoModel()) as provider:
        keys = "api_keys: [sk-first-key-1, sk-first-key-2]\n"
        configure(home, f"base_url: {provider.base_url}\nmodel: scripted\n{keys}")
        found = findings(cli)

    assert [title for title in found if title.startswith("Provider")] == [
        "Provider, key 1",
        "Provider, key 2",
    ]
    assert "sk-first" not in str(found)


def test_a_broken_config_is_the_last_finding(cli: CliRunner, home: Path) -> None:
    configure(home, "modle: x\n")

    result = cli.invoke(hermes, ["doctor"])

    assert result.exit_code == 1
    assert "did you mean model?" in result.output


def test_a_key_that_others_can_read_is_told_with_its_fix(cli: CliRunner, home: Path) -> None:
    configure(home, f"server:\n  key: {SECRET}\n")
    (home / "config.yaml").chmod(0o644)

    result = cli.invoke(hermes, ["doctor"])

    assert f"chmod 600 {home / 'config.yaml'}" in result.output
    assert SECRET not in result.output


def test_a_finding_is_a_line_with_its_fix_below() -> None:
    plain = Style(is_coloured=False)

    assert line_for(ok("Disk", "plenty"), plain) == "✓ Disk: plenty"
    assert line_for(problem("Disk", "full", "empty it"), plain) == "✗ Disk: full\n    → empty it"
