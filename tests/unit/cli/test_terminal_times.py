"""Moments and durations as a person reads them."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta, timezone

import pytest

from hermes_cli.terminal_times import duration_text, moment_text

NOW = datetime(2026, 3, 1, 0, 30, tzinfo=timezone(timedelta(hours=2)))


@pytest.mark.parametrize(
    ("then", "text"),
    [
        (datetime(2026, 2, 28, 22, 5, tzinfo=UTC), "today 00:05"),
        (datetime(2026, 2, 28, 12, 0, tzinfo=UTC), "yesterday 14:00"),
        (datetime(2026, 1, 5, 7, 9, tzinfo=UTC), "5 Jan 09:09"),
        (datetime(2024, 12, 24, 7, 9, tzinfo=UTC), "24 Dec 2024"),
    ],
)
def test_a_moment_is_told_from_the_reader_s_day(then: datetime, text: str) -> None:
    assert moment_text(then.timestamp(), NOW) == text


@pytest.mark.parametrize(
    ("seconds", "text"),
    [(0, "0.0 s"), (0.34, "0.3 s"), (9.96, "10 s"), (59.7, "1 min 0 s"), (185, "3 min 5 s")],
)
def test_a_duration_is_as_precise_as_it_is_interesting(seconds: float, text: str) -> None:
    assert duration_text(seconds) == text
