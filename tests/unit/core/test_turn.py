"""A turn's values: which outcomes are complete."""

from __future__ import annotations

from hermes.core.turn import Outcome, TurnResult


def test_a_turn_is_complete_when_the_model_said_all_it_wanted() -> None:
    complete = [outcome for outcome in Outcome if TurnResult(outcome=outcome).is_complete]
    assert complete == [Outcome.COMPLETED, Outcome.WAITING, Outcome.ASKING]
