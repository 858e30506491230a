"""What a log says about a turn that was begun before: what was said, done and decided."""

from __future__ import annotations

from collections.abc import Sequence

from hermes.core.events import (
    ApprovalDecided,
    Delegated,
    Event,
    MessageKept,
    Notice,
    RunStarted,
    SegmentEnd,
    SteerAccepted,
    Steered,
    TextDelta,
    ToolStarted,
    TurnPaused,
)
from hermes.core.run_link import Steer
from hermes.core.runs import LoggedEvent
from hermes.core.turn import Resumption
from hermes.core.usage import Usage

RESTARTED = "The gateway stopped while this was being said; the step begins again."


def resumption_of(log: Sequence[LoggedEvent], opening: Sequence[Event]) -> Resumption | None:
    """What is known of a turn that was begun before; None when it was not."""
    events = [*(each.event for each in log), *opening]
    messages = [event.message for event in events if isinstance(event, MessageKept)]
    decided = [event for event in events if isinstance(event, ApprovalDecided)]
    if not messages:
        return None
    return Resumption(
        messages=tuple(messages),
        started=frozenset(event.call_id for event in events if isinstance(event, ToolStarted)),
        decisions={event.call_id: event.decision for event in decided},
        decided_by={event.call_id: event.by for event in decided},
        steps=len(messages),
        usage=_used_in(events),
        calls=sum(1 for event in events if _is_reply(event)),
        seconds=_seconds_in(log),
    )


def _used_in(events: Sequence[Event]) -> Usage:
    """What the turn had used when it was heard of last: each tells all of it."""
    for event in reversed(events):
        if isinstance(event, TurnPaused):
            return event.result.usage
        if isinstance(event, MessageKept) and event.used is not None:
            return event.used
    return Usage()


def _is_reply(event: Event) -> bool:
    """Whether a model said this, be it a sub-agent's."""
    told = event.event if isinstance(event, Delegated) else event
    return isinstance(told, MessageKept) and told.message.get("role") == "assistant"


def _seconds_in(log: Sequence[LoggedEvent]) -> float:
    """How long agents were at work: from each beginning to the last that was heard of it."""
    seconds, begun, last = 0.0, None, 0.0
    for each in log:
        if isinstance(each.event, RunStarted):
            seconds += 0.0 if begun is None else last - begun
            begun = each.at
        if not isinstance(each.event, ApprovalDecided):  # which is waited for, not worked for
            last = each.at
    return seconds if begun is None else seconds + last - begun


def restart_of(log: Sequence[LoggedEvent]) -> list[Event]:
    """What readers are told of a step that was cut off while it was being said.

    It begins again: what was said of it stays where it is, and the answer does not go on from it.
    """
    is_open = False
    for each in log:
        if isinstance(each.event, TextDelta):
            is_open = True
        elif isinstance(each.event, SegmentEnd | MessageKept | TurnPaused):
            is_open = False
    return [SegmentEnd(), Notice("step_restarted", RESTARTED)] if is_open else []


def unheard_in(log: Sequence[LoggedEvent]) -> list[Steer]:
    """What people said to the agent before and it was never told."""
    events = [each.event for each in log]
    heard = {event.steer_id for event in events if isinstance(event, Steered)}
    return [
        Steer(event.steer_id, event.text)
        for event in events
        if isinstance(event, SteerAccepted) and event.steer_id not in heard
    ]
