"""What is due and when, without any waiting."""

from __future__ import annotations

import pytest

from hermes.backends.running.clocks import Clocks, Due
from hermes.backends.saying import StopReason
from hermes.settings.cli_settings import CliClocks

LIMITS = CliClocks(start_seconds=10, idle_seconds=100, total_seconds=1000, final_seconds=1)


@pytest.fixture
def clocks() -> Clocks:
    return Clocks(LIMITS)


def test_nothing_is_due_while_nothing_was_said_to_it(clocks: Clocks) -> None:
    assert clocks.due() is None
    clocks.heard(5)
    assert clocks.due() is None


def test_to_its_first_line_it_has_time_from_the_first_word(clocks: Clocks) -> None:
    clocks.sent(5)
    clocks.sent(8)
    assert clocks.due() == Due(15, StopReason.NO_START)
    clocks.heard(9)
    assert clocks.due() is None
    clocks.asked(500)
    assert clocks.due() == Due(600, StopReason.IDLE)


def test_a_question_is_a_word_too(clocks: Clocks) -> None:
    clocks.asked(5)
    assert clocks.due() == Due(15, StopReason.NO_START)


def test_every_line_gives_it_more_time_until_all_is_used(clocks: Clocks) -> None:
    clocks.asked(0)
    clocks.heard(50)
    assert clocks.due() == Due(150, StopReason.IDLE)
    clocks.heard(950)
    assert clocks.due() == Due(1000, StopReason.TOO_LONG)


def test_while_it_waits_for_us_only_the_whole_time_runs(clocks: Clocks) -> None:
    clocks.asked(0)
    clocks.heard(1)
    clocks.waits_for_us("q1")
    clocks.waits_for_us("q2")
    clocks.answered("q1", 300)
    assert clocks.due() == Due(1000, StopReason.TOO_LONG)
    clocks.answered("q2", 400)
    assert clocks.due() == Due(500, StopReason.IDLE)


def test_after_its_last_word_it_has_a_moment_to_go(clocks: Clocks) -> None:
    clocks.asked(0)
    clocks.heard(7)
    clocks.concluded()
    assert clocks.due() == Due(8, None)
    clocks.heard(7.5)
    assert clocks.due() == Due(8.5, None)


def test_a_last_word_that_was_none_is_forgotten(clocks: Clocks) -> None:
    clocks.asked(0)
    clocks.heard(7)
    clocks.concluded()
    clocks.heard(8)
    clocks.goes_on()
    assert clocks.due() == Due(108, StopReason.IDLE)


def test_who_can_say_nothing_more_has_a_moment_to_go(clocks: Clocks) -> None:
    clocks.fell_mute(3)
    assert clocks.due() == Due(4, StopReason.IDLE)
    clocks.concluded()
    assert clocks.due() == Due(4, None)
