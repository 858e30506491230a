"""The balance of a run, read from its events."""

from __future__ import annotations

from hermes.core.changes import FileChange, FileState
from hermes.core.events import (
    CommandRan,
    Delegated,
    FilesChanged,
    TextDelta,
    ToolFinished,
    ToolStarted,
)
from hermes.core.receipts import ChangedFile, receipt_of

ONE, TWO, THREE = (FileState(digest=str(n) * 64, mode=0o644, size=n) for n in (1, 2, 3))
LARGE = FileState(digest=None, mode=0o644, size=10**9)


def changed(
    call_id: str, before: FileState | None, after: FileState | None, path: str = "/w/a"
) -> FilesChanged:
    return FilesChanged(call_id, (FileChange(path=path, before=before, after=after),), "/w")


def test_several_changes_of_a_file_are_one_from_the_first_to_the_last() -> None:
    receipt = receipt_of([changed("c1", ONE, TWO), TextDelta("…"), changed("c2", TWO, THREE)])
    change = FileChange(path="/w/a", before=ONE, after=THREE)
    assert receipt.files == (ChangedFile(root="/w", change=change, call_ids=("c1", "c2")),)


def test_what_was_made_and_removed_again_is_not_there() -> None:
    assert receipt_of([changed("c1", None, ONE), changed("c2", ONE, None)]).files == ()
    assert receipt_of([changed("c1", ONE, TWO), changed("c2", TWO, ONE)]).files == ()


def test_of_a_large_file_nobody_knows_that_it_is_the_same() -> None:
    [file] = receipt_of([changed("c1", LARGE, LARGE)]).files
    assert file.has_changed


def test_a_file_that_somebody_else_changed_in_between_is_uncertain() -> None:
    [file] = receipt_of([changed("c1", None, TWO), changed("c2", THREE, ONE)]).files
    assert file.change == FileChange(path="/w/a", before=None, after=ONE, is_sure=False)


def test_calls_are_told_with_those_of_sub_agents_and_whether_they_came_to_an_end() -> None:
    ran = CommandRan(call_id="c1", command="ls", directory="/w", exit_code=0, seconds=0.1)
    receipt = receipt_of(
        [
            ToolStarted("c1", "delegate", {"task": "x"}),
            Delegated("c1", ToolStarted("c1", "terminal", {"command": "ls"})),
            ran,
            Delegated("c1", ToolFinished("c1", "terminal", {}, "out")),
        ]
    )
    assert receipt.commands == (ran,)
    told = [(call.name, call.delegated_by, call.is_finished) for call in receipt.calls]
    assert told == [("delegate", None, False), ("terminal", "c1", True)]
