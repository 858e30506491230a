"""The system prompt puts what changes least first."""

from __future__ import annotations

from pathlib import Path

from hermes.agent.prompt import IDENTITY, system_prompt


def test_identity_workspace_and_the_callers_words_in_this_order() -> None:
    prompt = system_prompt(identity=None, workspace=Path("/srv/ws"), added_by_caller="Be brief.")
    first, second, third = prompt.split("\n\n")
    assert (first, third) == (IDENTITY, "Be brief.")
    assert "/srv/ws" in second


def test_an_identity_of_ones_own_replaces_ours() -> None:
    assert system_prompt(identity="You are Ada.", workspace=None, added_by_caller="") == (
        "You are Ada."
    )
