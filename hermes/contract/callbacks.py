"""The contract speaks in callbacks, the house in events: both directions, side by side.

| callback                                              | event            |
|-------------------------------------------------------|------------------|
| `stream_delta_callback(text)`                         | `TextDelta`      |
| `stream_delta_callback(None)`                         | `SegmentEnd`     |
| `reasoning_callback(text)`                            | `ReasoningDelta` |
| `tool_start_callback(id, name, args)`                 | `ToolStarted`    |
| `tool_progress_callback(kind, tool_name=, preview=)`  | `ToolProgress`   |
| `tool_complete_callback(id, name, args, output)`      | `ToolFinished`   |
| `notice_callback(code, message)`                      | `Notice`         |
| `event_callback(event)`                               | what only a run's log knows |

The rest has no callback: `Idle` belongs to a viewer, the states of a run to its keeper, and the end
is the returned result or the raised error.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, assert_never

from hermes.core.events import (
    ApprovalDecided,
    ApprovalRequested,
    CommandRan,
    Delegated,
    Emit,
    Event,
    FilesChanged,
    Idle,
    MessageKept,
    Notice,
    ReasoningDelta,
    RunQueued,
    RunStarted,
    SegmentEnd,
    SteerAccepted,
    Steered,
    TextDelta,
    ToolFinished,
    ToolProgress,
    ToolStarted,
    TurnEnded,
    TurnPaused,
)

Callback = Callable[..., Any] | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Callbacks:
    """The contract's callbacks; any of them may be missing."""

    stream_delta_callback: Callback = None
    reasoning_callback: Callback = None
    tool_start_callback: Callback = None
    tool_progress_callback: Callback = None
    tool_complete_callback: Callback = None
    notice_callback: Callback = None
    event_callback: Callback = None

    def as_keywords(self) -> dict[str, Callback]:
        return {name: getattr(self, name) for name in self.__slots__}


NO_CALLBACKS = Callbacks().as_keywords()
"""The keywords of a turn that nobody watches."""


def callbacks_for(emit: Emit) -> Callbacks:
    """Callbacks that turn every call into the event it means."""

    def on_delta(text: str | None) -> None:
        emit(SegmentEnd() if text is None else TextDelta(text))

    def on_progress(
        kind: str, tool_name: str | None = None, preview: str | None = None, *_: Any, **__: Any
    ) -> None:
        emit(ToolProgress(kind, tool_name, preview))

    return Callbacks(
        stream_delta_callback=on_delta,
        reasoning_callback=lambda text: emit(ReasoningDelta(text)),
        tool_start_callback=lambda call_id, name, args: emit(ToolStarted(call_id, name, args)),
        tool_progress_callback=on_progress,
        tool_complete_callback=lambda call_id, name, args, output: emit(
            ToolFinished(call_id, name, args, output)
        ),
        notice_callback=lambda code, message: emit(Notice(code, message)),
        event_callback=emit,
    )


def fire(event: Event, callbacks: Callbacks) -> None:
    """Make the call that means `event`, where there is a callback for it."""
    match event:
        case TextDelta(text):
            _call(callbacks.stream_delta_callback, text)
        case SegmentEnd():
            _call(callbacks.stream_delta_callback, None)
        case ReasoningDelta(text):
            _call(callbacks.reasoning_callback, text)
        case ToolStarted(call_id, name, arguments):
            _call(callbacks.tool_start_callback, call_id, name, arguments)
        case ToolProgress(kind, tool_name, preview):
            _call(callbacks.tool_progress_callback, kind, tool_name=tool_name, preview=preview)
        case ToolFinished(call_id, name, arguments, output):
            _call(callbacks.tool_complete_callback, call_id, name, arguments, output)
        case Notice(code, message):
            _call(callbacks.notice_callback, code, message)
        case (
            FilesChanged()
            | CommandRan()
            | Delegated()
            | MessageKept()
            | ApprovalRequested()
            | ApprovalDecided()
            | Steered()
        ):
            _call(callbacks.event_callback, event)
        case Idle() | RunQueued() | RunStarted() | SteerAccepted() | TurnPaused() | TurnEnded():
            pass
        case _:
            assert_never(event)


def _call(callback: Callback, *args: Any, **kwargs: Any) -> None:
    if callback is not None:
        callback(*args, **kwargs)


def item_to_event(item: object) -> Event:
    """What an item of a plain stream queue means: text is a `TextDelta`, an event is itself."""
    if isinstance(item, str):
        return TextDelta(item)
    if isinstance(item, Event):
        return item
    # Foreign producers may put records of their own; an unknown one must not end the stream.
    return Notice("unknown_stream_item", f"ignored a stream item of type {type(item).__name__}")
