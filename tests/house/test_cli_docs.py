"""The command line's page is what the commands say themselves."""

from __future__ import annotations

from tests.house.generate_cli_docs import PAGE, render


def test_the_page_equals_the_commands_help() -> None:
    hint = "refresh it: .venv/bin/python tests/house/generate_cli_docs.py"

    assert PAGE.exists(), hint
    assert PAGE.read_text() == render(), hint


def test_every_promised_command_has_a_section() -> None:
    text = render()
    promised = ["hermes serve", "hermes chat", "hermes sessions list", "hermes doctor"]

    assert [command for command in promised if f"# `{command}`" not in text] == []
