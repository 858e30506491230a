"""How long a session's history may get."""

from __future__ import annotations

from pathlib import Path

import pytest

from hermes.core.errors import SettingsError
from hermes.settings.loading import load_settings
from hermes.settings.model import SessionSettings


def load(home: Path, config: str) -> SessionSettings:
    home.mkdir(exist_ok=True)
    (home / "config.yaml").write_text(config)
    return load_settings(environ={"HERMES_HOME": str(home)}).sessions


def test_histories_are_made_short_unless_somebody_says_otherwise(tmp_path: Path) -> None:
    assert load(tmp_path, "").compact_after_messages == 400
    assert load(tmp_path, "sessions: {compact_after_messages: 0}").compact_after_messages == 0


@pytest.mark.parametrize("value", ["-1", "many", "1.5"])
def test_a_limit_that_is_none_is_refused(tmp_path: Path, value: str) -> None:
    with pytest.raises(SettingsError, match=r"sessions\.compact_after_messages"):
        load(tmp_path, f"sessions: {{compact_after_messages: {value}}}")
