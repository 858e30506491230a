"""What a model would be asked, without asking it."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, NoReturn

from hermes.agent.loop import converse
from hermes.agent.seams import AgentSeams
from hermes.core.errors import HermesError, Interrupted


def first_request(seams: AgentSeams, message: str) -> dict[str, Any]:
    """The first call of a turn, in the provider's dialect. Nothing is sent, kept or told."""
    asked: list[dict[str, Any]] = []

    def note(request: dict[str, Any]) -> NoReturn:
        asked.append(request)
        raise Interrupted("Only the request was wanted.")

    quiet = replace(seams, ask=note, record=lambda _message, _used: None, emit=lambda _event: None)
    result = converse(quiet, message, ())
    if not asked:
        raise HermesError(result.error or "There is no request to show.")
    return asked[0]
