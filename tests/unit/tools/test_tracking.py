"""Tools tell what they did, whether or not anybody keeps what was before."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from hermes.core.changes import FileChange
from hermes.core.events import CommandRan, Event, FilesChanged
from hermes.core.shadow import Doer
from hermes.tools.base import Scope, ToolContext
from hermes.tools.services import Services
from hermes.tools.tracking import MOST_IN_ONE_EVENT, tracked_command, tracked_file


class Recorder:
    """Finds what it is told to find."""

    untracked: str | None = None

    def __init__(self, *found: str) -> None:
        self._found = found
        self.doers: list[Doer] = []

    def before_file(self, root: Path, path: Path, doer: Doer) -> Recorder:
        assert path.is_relative_to(root)
        return self.before_command(root, doer)

    def before_command(self, root: Path, doer: Doer) -> Recorder:
        assert root.is_dir()
        self.doers.append(doer)
        return self

    def finish(self) -> tuple[FileChange, ...]:
        return tuple(FileChange(path=path, before=None, after=None) for path in self._found)


def recorded(context: ToolContext, events: list[Event], recorder: Recorder | None) -> ToolContext:
    return replace(
        context,
        services=Services(changes=recorder),
        emit=events.append,
        call_id="call_1",
        scope=Scope(run_id="run_1"),
    )


def test_a_written_file_is_told_with_its_call_and_workspace(
    context: ToolContext, events: list[Event]
) -> None:
    recorder = Recorder("/a")
    with tracked_file(recorded(context, events, recorder), context.workspace.root / "a"):
        assert events == []
    [told] = events
    assert isinstance(told, FilesChanged)
    assert (told.call_id, told.root) == ("call_1", str(context.workspace.root))
    assert [change.path for change in told.changes] == ["/a"]
    assert recorder.doers == [Doer("run_1", "call_1")]


def test_a_write_that_failed_halfway_is_told_too(context: ToolContext, events: list[Event]) -> None:
    with (
        pytest.raises(OSError, match="half"),
        tracked_file(recorded(context, events, Recorder("/a")), context.workspace.root / "a"),
    ):
        raise OSError("half of it")
    assert [type(event) for event in events] == [FilesChanged]


def test_a_command_is_told_after_what_it_changed(context: ToolContext, events: list[Event]) -> None:
    there = context.workspace.root
    with tracked_command(recorded(context, events, Recorder("/a")), "make", there) as running:
        running.exit_code = 2
    changed, ran = events
    assert isinstance(changed, FilesChanged)
    assert isinstance(ran, CommandRan)
    assert (ran.command, ran.directory, ran.exit_code) == ("make", str(there), 2)
    assert (ran.call_id, ran.untracked) == ("call_1", None)


def test_a_command_that_could_not_be_started_has_not_run(
    context: ToolContext, events: list[Event]
) -> None:
    with (
        pytest.raises(OSError, match="no such"),
        tracked_command(recorded(context, events, Recorder()), "x", context.workspace.root),
    ):
        raise OSError("no such program")
    assert events == []


def test_thousands_of_changes_are_told_in_several_events(
    context: ToolContext, events: list[Event]
) -> None:
    found = [f"/{number}" for number in range(MOST_IN_ONE_EVENT + 1)]
    with tracked_command(recorded(context, events, Recorder(*found)), "x", context.workspace.root):
        pass
    told = [event for event in events if isinstance(event, FilesChanged)]
    assert [len(event.changes) for event in told] == [MOST_IN_ONE_EVENT, 1]


def test_where_nobody_records_commands_are_told_all_the_same(
    context: ToolContext, events: list[Event]
) -> None:
    unrecorded = recorded(context, events, None)
    with tracked_command(unrecorded, "x", context.workspace.root):
        pass
    with tracked_file(unrecorded, context.workspace.root / "a"):
        pass
    [ran] = events
    assert isinstance(ran, CommandRan)
    assert ran.untracked
