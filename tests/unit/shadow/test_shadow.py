"""What is recorded of files and commands: exactly, with others at work, and after a death."""

from __future__ import annotations

import os
import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from hermes.core.changes import FileChange, FileState
from hermes.core.errors import HermesError
from hermes.core.shadow import Doer, Entry, Fate, Opening
from hermes.shadow.contents import digest_of
from hermes.shadow.scanning import Limits, stamp_of
from hermes.shadow.shadow import Premises, Shadow
from hermes.shadow.snapshots import Snapshots
from hermes.store.shadow import SqliteShadow
from tests.unit.shadow.trees import DOER, File, Link, grown, plant, shadow_at

OTHER = Doer("run_2", "call_2")


@pytest.fixture
def root(tmp_path: Path) -> Path:
    folder = tmp_path / "workspace"
    folder.mkdir()
    return folder.resolve()


@pytest.fixture
def shadow(tmp_path: Path) -> Iterator[Shadow]:
    made = shadow_at(tmp_path / "shadow.db")
    yield made
    made.close()


def paths(root: Path, changes: tuple[FileChange, ...]) -> list[str]:
    return [Path(change.path).relative_to(root).as_posix() for change in changes]


# --- files ----------------------------------------------------------------------------------------


def test_a_file_is_kept_before_it_is_written(shadow: Shadow, root: Path, tmp_path: Path) -> None:
    plant(root, {"a.txt": File(b"before", 0o640)})
    recording = shadow.before_file(root, root / "a.txt", DOER)
    beside = SqliteShadow(tmp_path / "shadow.db")
    [opening] = beside.openings()
    assert opening.before is not None
    [(path, state)] = opening.before
    assert state is not None and state.digest is not None
    assert (path, beside.content(state.digest)) == (str(root / "a.txt"), b"before")
    beside.close()

    (root / "a.txt").write_bytes(b"after")
    [change] = recording.finish()
    assert (change.before, change.is_sure) == (state, True)
    assert change.after is not None and change.after.size == 5


def test_folders_made_for_a_file_are_changes_too(shadow: Shadow, root: Path) -> None:
    recording = shadow.before_file(root, root / "a" / "b" / "c.txt", DOER)
    (root / "a" / "b").mkdir(parents=True)
    (root / "a" / "b" / "c.txt").write_text("x")
    changes = recording.finish()
    assert paths(root, changes) == ["a", "a/b", "a/b/c.txt"]
    shadow.undo("run_1", root, changes, is_dry=False)
    assert grown(root) == {}


def test_a_write_that_failed_is_no_change(shadow: Shadow, root: Path) -> None:
    plant(root, {"a.txt": File(b"before")})
    assert shadow.before_file(root, root / "a.txt", DOER).finish() == ()


def test_what_a_file_tool_writes_is_not_taken_for_the_work_of_a_command(
    shadow: Shadow, root: Path
) -> None:
    plant(root, {"a.txt": File(b"before")})
    command = shadow.before_command(root, DOER)
    writing = shadow.before_file(root, root / "a.txt", OTHER)
    (root / "a.txt").write_text("by the file tool")
    written = writing.finish()
    (root / "b.txt").write_text("by the command")
    assert paths(root, written) == ["a.txt"]
    assert paths(root, command.finish()) == ["b.txt"]


def test_an_undoing_is_not_taken_for_the_work_of_a_command(shadow: Shadow, root: Path) -> None:
    writing = shadow.before_file(root, root / "a.txt", OTHER)
    (root / "a.txt").write_text("x")
    changes = writing.finish()
    command = shadow.before_command(root, DOER)
    shadow.undo("run_2", root, changes, is_dry=False)
    assert command.finish() == ()


# --- commands -------------------------------------------------------------------------------------


def test_commands_of_other_runs_at_the_same_time_make_both_uncertain(
    shadow: Shadow, root: Path
) -> None:
    first, second = shadow.before_command(root, DOER), shadow.before_command(root, OTHER)
    (root / "a.txt").write_text("whose?")
    changes = [*first.finish(), *second.finish()]
    assert [change.is_sure for change in changes] == [False, False]
    fates = shadow.undo("run_1", root, changes[:1], is_dry=False)
    assert [(fate.fate, fate.reason) for fate in fates] == [(Fate.KEPT, "uncertain")]


def test_commands_of_one_run_may_overlap(shadow: Shadow, root: Path) -> None:
    first = shadow.before_command(root, DOER)
    second = shadow.before_command(root, replace(DOER, call_id="call_9"))
    (root / "a.txt").write_text("ours")
    assert all(change.is_sure for change in (*first.finish(), *second.finish()))


@pytest.mark.parametrize(("age_ns", "is_read"), [(1_000_000, True), (10**10, False)])
def test_what_was_written_just_before_it_was_read_is_read_again(
    root: Path, age_ns: int, is_read: bool
) -> None:
    """Within one tick of the clock a file can change and keep its stamp."""
    (root / "a.txt").write_text("two")
    stamp = stamp_of((root / "a.txt").stat())
    assert stamp is not None
    store = SqliteShadow(None)
    wrong = FileState(digest=digest_of(b"one"), mode=0o644, size=3)
    store.update(str(root), {"a.txt": Entry(stamp, wrong, stamp.ctime_ns + age_ns)})
    picture = Snapshots(str(root), store, Limits(), ()).take(may_give_up=False)
    assert (picture["a.txt"].state.digest == digest_of(b"two")) is is_read
    store.close()


def test_a_settled_file_is_not_read_again(tmp_path: Path, root: Path) -> None:
    store = Counting(None)
    shadow = Shadow(lambda: Premises(open_store=lambda: store, limits=Limits(seconds=60)))
    plant(root, {f"{number}.txt": File(b"x" * number) for number in range(20)})
    time.sleep(0.15)  # so that the file system's clock has moved on
    shadow.before_command(root, DOER).finish()
    updated = store.updated
    shadow.before_command(root, DOER).finish()
    assert (updated, store.updated) == (20, 20)
    shadow.close()


class Counting(SqliteShadow):
    """Knows how many files it was told about."""

    updated = 0

    def update(self, root: str, seen: Any, *rest: Any, **more: Any) -> None:
        self.updated += len(seen)
        super().update(root, seen, *rest, **more)


def test_skipped_folders_pipes_and_our_own_home_are_not_looked_into(
    tmp_path: Path, root: Path
) -> None:
    premises = Premises(
        open_store=lambda: SqliteShadow(None),
        limits=Limits(),
        excluded=frozenset({str(root / "home")}),
    )
    shadow = Shadow(lambda: premises)
    recording = shadow.before_command(root, DOER)
    for folder in (".git", "node_modules", "home", "src"):
        (root / folder).mkdir()
        (root / folder / "file").write_text("x")
    os.mkfifo(root / "pipe")
    assert paths(root, recording.finish()) == ["src", "src/file"]
    shadow.close()


@pytest.mark.parametrize(
    ("limits", "told"),
    [
        ({"max_files": 3}, "receipts.max_files"),
        ({"max_bytes": 10}, "receipts.max_workspace_bytes"),
        ({"seconds": -1.0}, "took longer"),
    ],
)
def test_what_is_too_much_is_not_tracked_and_says_why(
    root: Path, limits: dict[str, float], told: str
) -> None:
    shadow = shadow_at(**limits)
    plant(root, {f"{number}.txt": File(b"four") for number in range(4)})
    recording = shadow.before_command(root, DOER)
    (root / "0.txt").write_text("five!")
    assert recording.finish() == ()
    assert told in str(recording.untracked)
    shadow.close()


def test_a_workspace_that_grew_too_large_says_so_at_the_end(root: Path) -> None:
    shadow = shadow_at(max_files=3)
    recording = shadow.before_command(root, DOER)
    plant(root, {f"{number}.txt": File(b"") for number in range(4)})
    assert (recording.finish(), recording.untracked is None) == ((), False)
    shadow.close()


def test_a_large_file_that_changed_is_noticed_though_its_content_is_not_known(root: Path) -> None:
    shadow = shadow_at(max_file_bytes=10)
    plant(root, {"big": File(b"x" * 100), "same": File(b"y" * 100)})
    recording = shadow.before_command(root, DOER)
    (root / "big").write_bytes(b"z" * 100)
    [change] = recording.finish()
    assert paths(root, (change,)) == ["big"]
    assert shadow.lost([change]) == {str(root / "big")}
    [fate] = shadow.undo("run_1", root, [change], is_dry=False)
    assert (fate.fate, fate.reason) == (Fate.KEPT, "not_restorable")
    shadow.close()


def test_names_that_are_no_text_are_recorded_and_restored(shadow: Shadow, root: Path) -> None:
    name = os.fsdecode(b"\xff\xfe.txt")
    (root / name).write_text("before")
    recording = shadow.before_command(root, DOER)
    (root / name).write_text("after")
    changes = recording.finish()
    shadow.undo("run_1", root, changes, is_dry=False)
    assert (root / name).read_text() == "before"
    assert shadow.deeds_of("run_1")["call_1"][1] == changes


def test_outside_of_the_workspace_nothing_is_undone(
    shadow: Shadow, root: Path, tmp_path: Path
) -> None:
    recording = shadow.before_file(root, tmp_path / "elsewhere.txt", DOER)
    (tmp_path / "elsewhere.txt").write_text("x")
    changes = recording.finish()
    [fate] = shadow.undo("run_1", root, changes, is_dry=False)
    assert (fate.fate, fate.reason) == (Fate.KEPT, "outside")
    climbing = FileChange(path=f"{root}/../elsewhere.txt", before=None, after=changes[0].after)
    [fate] = shadow.undo("run_1", root, [climbing], is_dry=False)
    assert (fate.fate, fate.reason) == (Fate.KEPT, "outside")
    assert (tmp_path / "elsewhere.txt").exists()


def test_a_folder_that_became_a_link_is_a_folder_again(
    shadow: Shadow, root: Path, tmp_path: Path
) -> None:
    (tmp_path / "other").mkdir()
    (tmp_path / "other" / "a.txt").write_text("theirs")
    (root / "d").mkdir()
    (root / "d" / "a.txt").write_text("ours")
    before = grown(root)
    recording = shadow.before_command(root, DOER)
    (root / "d" / "a.txt").unlink()
    (root / "d").rmdir()
    (root / "d").symlink_to(tmp_path / "other")
    shadow.undo("run_1", root, recording.finish(), is_dry=False)
    assert grown(root) == before
    assert (tmp_path / "other" / "a.txt").read_text() == "theirs"
    assert not any(isinstance(node, Link) for node in grown(root).values())


# --- trouble --------------------------------------------------------------------------------------


class Broken(SqliteShadow):
    def begin(self, *_: Any, **__: Any) -> None:
        raise HermesError("the disk is full")


def test_without_a_store_the_work_goes_on_and_the_receipt_says_so(root: Path) -> None:
    shadow = Shadow(lambda: Premises(open_store=lambda: Broken(None), limits=Limits()))
    command = shadow.before_command(root, DOER)
    assert "could not be kept" in str(command.untracked)
    plant(root, {"a.txt": File(b"before")})
    writing = shadow.before_file(root, root / "a.txt", DOER)
    (root / "a.txt").write_text("after")
    changes = writing.finish()
    assert paths(root, changes) == ["a.txt"]
    assert shadow.lost(changes) == {str(root / "a.txt")}
    shadow.close()


def test_switched_off_nothing_is_opened(root: Path) -> None:
    def refuse() -> SqliteShadow:
        raise AssertionError("opened")

    shadow = Shadow(lambda: Premises(open_store=refuse, limits=Limits(), is_enabled=False))
    for recording in (shadow.before_command(root, DOER), shadow.before_file(root, root, DOER)):
        assert "receipts.enabled" in str(recording.untracked)
        assert recording.finish() == ()


# --- death ----------------------------------------------------------------------------------------


def dead(opening: Opening) -> Opening:
    """As if another process had begun it, which is gone."""
    return replace(opening, process=2**22 + 7)


def test_what_a_dead_process_was_about_to_do_is_compared_at_the_next_start(
    root: Path, tmp_path: Path
) -> None:
    plant(root, {"a.txt": File(b"before"), "b.txt": File(b"before")})
    first = shadow_at(tmp_path / "shadow.db")
    first.before_command(root, DOER)
    first.before_file(root, root / "b.txt", OTHER)
    (root / "a.txt").write_text("by the command")
    (root / "b.txt").write_text("by the file tool")
    first.close()  # without an end to either

    second = shadow_at(tmp_path / "shadow.db")
    second.settle()
    assert [each.path for each in second.deeds_of("run_2")["call_2"][1]] == [str(root / "b.txt")]
    changes = second.deeds_of("run_1")["call_1"][1]
    assert str(root / "a.txt") in [each.path for each in changes]
    second.undo("run_1", root, changes, is_dry=False)
    assert (root / "a.txt").read_bytes() == b"before"
    second.close()


def test_what_is_at_work_is_left_alone_by_a_start(shadow: Shadow, root: Path) -> None:
    recording = shadow.before_command(root, DOER)
    (root / "a.txt").write_text("x")
    shadow.settle()
    assert shadow.deeds_of("run_1") == {}
    assert paths(root, recording.finish()) == ["a.txt"]


def test_a_process_that_is_alive_is_waited_for(root: Path, tmp_path: Path) -> None:
    store = SqliteShadow(tmp_path / "shadow.db")
    opening = Opening(id="deed_1", doer=DOER, root=str(root), process=os.getppid())
    store.begin(opening)
    store.begin(dead(replace(opening, id="deed_2")))
    store.close()
    shadow = shadow_at(tmp_path / "shadow.db")
    shadow.settle()
    shadow.close()
    left = SqliteShadow(tmp_path / "shadow.db")
    assert [each.id for each in left.openings()] == ["deed_1"]
    left.close()
