"""A running turn as it looks in a terminal.

The answer goes to stdout, all that happens around it to stderr: a pipe gets the answer alone.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import TextIO, assert_never

from hermes.core.events import (
    ApprovalDecided,
    ApprovalRequested,
    CommandRan,
    Delegated,
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
    is_internal,
)
from hermes.tools.registry import Registry
from hermes_cli.terminal_style import Style, readable
from hermes_cli.terminal_times import duration_text
from hermes_cli.terminal_tools import call_text


class Screen:
    """Takes events from whichever thread they happen in, one after another; never raises.

    When nobody reads any more, `on_lost` is called once, from the thread that noticed.
    """

    def __init__(
        self,
        answer: TextIO,
        around: TextIO,
        style: Style,
        *,
        on_lost: Callable[[], None],
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self.lost: OSError | None = None
        """Why nothing can be shown any more, such as a closed pipe."""
        self._answer = answer
        self._around = around
        self._style = style
        self._on_lost = on_lost
        self._clock = clock
        self._registry = Registry.builtin()
        self._started: dict[str, float] = {}
        self._open_line: TextIO | None = None

    def show(self, event: Event) -> None:
        match event:
            case TextDelta(text):
                self._continue(self._answer, text, text)
            case ReasoningDelta(text):
                self._continue(self._around, text, self._style.dim(readable(text)))
            case ToolStarted(call_id, name, arguments):
                self._started[call_id] = self._clock()
                self._tool_line(name, f"⚙ {call_text(self._registry, name, arguments)}")
            case ToolProgress(_, name, preview):
                self._tool_line(name or "", f"  │ {readable(preview or '')}")
            case ToolFinished(call_id, name, _, _):
                seconds = self._clock() - self._started.pop(call_id, self._clock())
                self._tool_line(name, f"✓ {readable(name)}  {duration_text(seconds)}")
            case Delegated(_, ToolStarted(_, name, arguments)):
                self._tool_line(name, f"  ⚙ {call_text(self._registry, name, arguments)}")
            case Notice(_, message):
                self.line(self._style.yellow(f"! {readable(message)}"))
            case SegmentEnd() | TurnEnded():
                self.end_line()
            case (
                Idle()
                | FilesChanged()
                | CommandRan()
                | MessageKept()
                | ApprovalRequested()
                | ApprovalDecided()
                | SteerAccepted()
                | Steered()
                | RunQueued()
                | RunStarted()
                | Delegated()
                | TurnPaused()
            ):
                pass
            case _:
                assert_never(event)

    def line(self, text: str) -> None:
        """A line of its own beside the answer."""
        self.end_line()
        self._write(self._around, f"{text}\n")

    def end_line(self) -> None:
        """Make sure that what follows begins at the left."""
        stream, self._open_line = self._open_line, None
        if stream is not None:
            self._write(stream, "\n")

    def _tool_line(self, name: str, text: str) -> None:
        if not is_internal(name):
            self.line(self._style.dim(text))

    def _continue(self, stream: TextIO, text: str, shown: str) -> None:
        """Write on where the same kind of text stopped; another kind begins a new line."""
        if self._open_line not in (None, stream):
            self.end_line()
        self._write(
            stream, readable(shown) if stream is self._answer and stream.isatty() else shown
        )
        self._open_line = None if text.endswith("\n") else stream

    def _write(self, stream: TextIO, text: str) -> None:
        if self.lost is not None:
            return
        try:
            stream.write(text)
            stream.flush()
        except OSError as error:
            self.lost = error
            self._on_lost()
