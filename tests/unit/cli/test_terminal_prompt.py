"""The prompt's history belongs to its owner."""

from __future__ import annotations

import stat
from pathlib import Path

import pytest

from hermes_cli import terminal_prompt
from hermes_cli.terminal_style import Style


def test_the_history_file_is_private(tmp_path: Path) -> None:
    history = tmp_path / "chat_history"

    with terminal_prompt.typed_lines(history, Style(is_coloured=False)):
        pass

    assert stat.S_IMODE(history.stat().st_mode) == 0o600


def test_a_home_that_cannot_be_written_does_not_end_the_chat(tmp_path: Path) -> None:
    missing = tmp_path / "missing" / "chat_history"

    with terminal_prompt.typed_lines(missing, Style(is_coloured=False)):
        pass

    assert not missing.exists()


def test_lines_end_with_the_end_of_input(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    typed = iter(["one", "two"])

    def next_line(_prompt: str = "") -> str:
        try:
            return next(typed)
        except StopIteration:
            raise EOFError from None

    monkeypatch.setattr("builtins.input", next_line)
    with terminal_prompt.typed_lines(tmp_path / "h", Style(is_coloured=False)) as lines:
        assert list(lines) == ["one", "two"]

    assert capsys.readouterr().out == ""
