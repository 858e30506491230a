"""From a call to a turn: is there anything left to spend, can the CLI be asked, is it new?"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from hermes.agent.hosted.narrating import called_in
from hermes.agent.hosted.outcomes import failure_of
from hermes.agent.hosted.permission import Allowed, Denied, decided
from hermes.agent.hosted.seams import HostedSeams
from hermes.agent.hosted.turn import HostedTurn, OnJob
from hermes.backends.hosting.asking import unusable
from hermes.backends.hosting.parking import Parked
from hermes.backends.saying import ToolAnswered, ToolCalled
from hermes.core import messages
from hermes.core.cli_agents import Examined, Profile
from hermes.core.errors import Interrupted
from hermes.core.messages import Content, Message, tool_calls_of
from hermes.core.turn import Failure, Outcome, Resumption, TurnResult
from hermes.core.usage import NO_USAGE
from hermes.fibers import blocking, wait_in_fiber

GO_ON = "The work was cut off here. Go on where it stopped."
_APPROVED = "The user has approved this call: {call}. Make it now, exactly like that, and go on."
_NOT_APPROVED = "About the call {call}: {message}"
_AGAIN = "Not made yet: the agent had to be started again, and is told what was decided."


def converse(
    seams: HostedSeams, said: Content | None, history: Sequence[Message], on_job: OnJob
) -> TurnResult:
    """Run one turn to its end, or go on with one that was begun before."""
    resumption = seams.parameters.resumption
    if resumption is None:
        spent = seams.allowance.exhausted()
        if spent is not None:  # before anything was said or kept
            return _refused(history, spent.message, spent.failure)
    driver = blocking(seams.driver)
    if isinstance(driver, Examined):
        ending = unusable(seams.model.agent.name, driver)
        return _refused(history, ending.error, failure_of(ending))
    if seams.parameters.is_plain and Profile.CHAT in driver.features.profiles:
        seams = replace(seams, model=replace(seams.model, profile=Profile.CHAT))
    before = [*history, *(() if resumption is None else resumption.messages)]
    used = NO_USAGE if resumption is None else resumption.usage
    turn = HostedTurn(seams, driver.features, before, used, on_job)
    try:
        if resumption is not None:
            return _go_on(seams, turn, resumption)
        opening = [*seams.parameters.tool_results]
        return turn.ask(opening if said is None else [*opening, messages.user(said)])
    except Interrupted as stop:  # what happens cannot be kept, so it must not go on happening
        turn.abandon()
        return turn.ended(Outcome.INTERRUPTED, error=str(stop))


def _refused(history: Sequence[Message], error: str | None, failure: Failure) -> TurnResult:
    return TurnResult(outcome=Outcome.FAILED, error=error, failure=failure, messages=list(history))


def _go_on(seams: HostedSeams, turn: HostedTurn, resumption: Resumption) -> TurnResult:
    """With the process that waits for the decision; where it is gone, with another one."""
    calls = _open_calls(resumption.messages)
    for call in calls:
        turn.narrator.hold(call)
    parked = seams.host.unpark(list(resumption.decisions))
    if parked is None:
        return _start_over(seams, turn, calls, resumption)
    if parked.job.is_stopping or parked.job.ending is not None:  # it was not waited for that long
        turn.count(wait_in_fiber(parked.job.over))
        return _start_over(seams, turn, calls, resumption)
    _tell_decisions(turn, parked, resumption)
    return turn.attend(parked.job)


def _tell_decisions(turn: HostedTurn, parked: Parked, resumption: Resumption) -> None:
    for asked in parked.questions:
        said = decided(asked.call_id, resumption)
        if isinstance(said, Allowed):
            turn.narrator.release(asked.call_id)
            parked.job.answer(asked.id, is_allowed=True)
        elif isinstance(said, Denied):
            parked.job.answer(asked.id, is_allowed=False, message=said.message)


def _start_over(
    seams: HostedSeams, turn: HostedTurn, calls: Sequence[ToolCalled], resumption: Resumption
) -> TurnResult:
    words = []
    for call in calls:
        said = decided(call.call_id, resumption)
        if isinstance(said, Allowed):
            turn.permissions.approve(call.name, call.arguments)
            words.append(_APPROVED.format(call=_shown(call)))
        elif isinstance(said, Denied):
            words.append(_NOT_APPROVED.format(call=_shown(call), message=said.message))
        turn.narrator.tell(ToolAnswered(call.call_id, call.name, _AGAIN))
    return turn.ask([], said=["\n\n".join(words) or GO_ON])


def _shown(call: ToolCalled) -> str:
    return f"{call.name}({json.dumps(dict(call.arguments), ensure_ascii=False, default=str)})"


def _open_calls(told: Sequence[Message]) -> list[ToolCalled]:
    answered = {message.get("tool_call_id") for message in told if message.get("role") == "tool"}
    parts: list[dict[str, Any]] = [part for message in told for part in tool_calls_of(message)]
    return [call for call in called_in(parts) if call.call_id not in answered]
