"""What a turn looks like: the answer apart from what happens around it."""

from __future__ import annotations

import errno
import io

import pytest

from hermes.core.events import (
    Event,
    Notice,
    ReasoningDelta,
    SegmentEnd,
    TextDelta,
    ToolFinished,
    ToolProgress,
    ToolStarted,
)
from hermes_cli.terminal_screen import Screen
from hermes_cli.terminal_style import Style

PLAIN = Style(is_coloured=False)


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


class ClosedPipe(io.StringIO):
    def write(self, _text: str) -> int:
        raise BrokenPipeError(errno.EPIPE, "Broken pipe")


def shown(*events: Event) -> tuple[str, str]:
    """What the events leave on stdout and on stderr."""
    answer, around = io.StringIO(), io.StringIO()
    ticks = iter(range(100))
    screen = Screen(answer, around, PLAIN, on_lost=lambda: None, clock=lambda: next(ticks) / 4)
    for event in events:
        screen.show(event)
    screen.end_line()
    return answer.getvalue(), around.getvalue()


def seen_in_one_terminal(*events: Event) -> str:
    terminal = Terminal()
    screen = Screen(terminal, terminal, PLAIN, on_lost=lambda: None)
    for event in events:
        screen.show(event)
    screen.end_line()
    return terminal.getvalue()


def test_text_is_written_as_it_comes_and_ends_with_a_line() -> None:
    assert shown(TextDelta("Hel"), TextDelta("lo.")) == ("Hello.\n", "")


def test_a_text_that_ends_its_line_gets_no_second_end() -> None:
    assert shown(TextDelta("Hello.\n"), SegmentEnd()) == ("Hello.\n", "")


def test_a_tool_has_a_line_when_it_starts_and_one_with_its_duration() -> None:
    events = (
        ToolStarted("1", "terminal", {"command": "ls -la"}),
        ToolFinished("1", "terminal", {"command": "ls -la"}, "…"),
    )

    assert shown(*events) == ("", "⚙ terminal  ls -la\n✓ terminal  0.2 s\n")


def test_an_unknown_tool_is_named_once() -> None:
    assert shown(ToolStarted("1", "weather", {"at": "home"})) == ("", "⚙ weather\n")


def test_internal_tools_are_hidden() -> None:
    events = (ToolStarted("1", "_plan", {}), ToolFinished("1", "_plan", {}, ""))

    assert shown(*events) == ("", "")


def test_text_before_a_tool_ends_its_line_first() -> None:
    assert shown(TextDelta("Let me look."), ToolStarted("1", "list_files", {"path": "src"})) == (
        "Let me look.\n",
        "⚙ list_files  src\n",
    )


def test_reasoning_notices_and_progress_stay_beside_the_answer() -> None:
    events = (
        ReasoningDelta("Hm"),
        ReasoningDelta("m."),
        Notice("retry", "Trying again."),
        ToolProgress("tool.output", None, "line 3"),
        TextDelta("Yes."),
    )

    assert shown(*events) == ("Yes.\n", "Hmm.\n! Trying again.\n  │ line 3\n")


def test_in_one_terminal_every_kind_begins_its_own_line() -> None:
    events = (TextDelta("One."), ToolStarted("1", "list_files", {"path": "."}), TextDelta("Two."))

    assert seen_in_one_terminal(*events) == "One.\n⚙ list_files  .\nTwo.\n"


def test_a_terminal_is_not_commanded_by_what_is_said() -> None:
    assert seen_in_one_terminal(TextDelta("a\x1b[2Jb"), Notice("x", "c\x07d")) == "a[2Jb\n! cd\n"


def test_a_pipe_gets_the_answer_as_it_is() -> None:
    assert shown(TextDelta("a\x1b[2Jb")) == ("a\x1b[2Jb\n", "")


@pytest.mark.parametrize("events", [1, 3])
def test_a_reader_who_left_is_noticed_once(events: int) -> None:
    calls: list[str] = []
    screen = Screen(ClosedPipe(), io.StringIO(), PLAIN, on_lost=lambda: calls.append("lost"))

    for _ in range(events):
        screen.show(TextDelta("x"))

    assert calls == ["lost"]
    assert screen.lost is not None
    assert screen.lost.errno == errno.EPIPE
