"""The settings of runs."""

from __future__ import annotations

import pytest

from hermes.core.errors import SettingsError
from hermes.core.runs import DETACH, Disconnect, RunRetention, WhenBusy
from hermes.settings.loading import load_settings
from hermes.settings.model import RunSettings
from tests.unit.settings.conftest import WriteConfig


def test_nothing_said_means_the_defaults(environ: dict[str, str]) -> None:
    assert load_settings(environ=environ).runs == RunSettings()


def test_the_file_says_what_becomes_of_runs(
    environ: dict[str, str], write_config: WriteConfig
) -> None:
    write_config(
        """
runs:
  disconnect_chat: grace:2.5
  disconnect_responses: Detach
  when_busy: interrupt
  recovery: resume
  max_per_key: 4
  stalled_write_seconds: 0.5
"""
    )
    assert load_settings(environ=environ).runs == RunSettings(
        disconnect_chat=Disconnect(2.5),
        disconnect_responses=DETACH,
        when_busy=WhenBusy.INTERRUPT,
        recovery="resume",
        max_per_key=4,
        stalled_write_seconds=0.5,
    )


@pytest.mark.parametrize(
    ("line", "complaint"),
    [
        ("disconnect_chat: grace", "runs.disconnect_chat: found 'grace'; allowed: cancel, detach"),
        ("disconnect_sessions: 30", "runs.disconnect_sessions: found 30; allowed: cancel"),
        ("when_busy: wait", "runs.when_busy: found 'wait'; allowed: one of queue, reject"),
        ("recovery: retry", "runs.recovery: found 'retry'; allowed: one of interrupt, resume"),
        ("max_concurrent: 0", "runs.max_concurrent: found 0; allowed: a whole number from 1"),
        ("keep_days: -1", "runs.keep_days: found -1; allowed: a whole number from 1 to 36500"),
        ("max_concurent: 5", "did you mean runs.max_concurrent?"),
    ],
)
def test_a_wrong_value_is_refused_with_what_is_allowed(
    environ: dict[str, str], write_config: WriteConfig, line: str, complaint: str
) -> None:
    write_config(f"runs:\n  {line}\n")
    with pytest.raises(SettingsError) as caught:
        load_settings(environ=environ)
    assert complaint in str(caught.value)


def test_what_is_kept_by_default_is_what_a_store_keeps_by_default() -> None:
    assert RunSettings().retention == RunRetention()
    assert RunSettings(keep_deltas_hours=2, keep_days=3, max_bytes=9).retention == RunRetention(
        keep_deltas_seconds=7200.0, keep_runs_seconds=259_200.0, max_bytes=9
    )
