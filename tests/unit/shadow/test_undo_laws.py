"""Whatever a command does to a tree, undoing it brings back the tree from before."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from hypothesis import given, settings

from hermes.core.shadow import Doer, Fate
from hermes.shadow.shadow import Shadow
from tests.unit.shadow.trees import DOER, Tree, grown, plant, shadow_at, trees


@contextmanager
def stage() -> Iterator[tuple[Path, Shadow]]:
    shadow = shadow_at()
    try:
        with tempfile.TemporaryDirectory() as folder:
            yield Path(folder).resolve(), shadow
    finally:
        shadow.close()


@settings(deadline=None, max_examples=30)
@given(before=trees(), after=trees())
def test_undoing_brings_back_the_tree(before: Tree, after: Tree) -> None:
    with stage() as (root, shadow):
        plant(root, before)
        recording = shadow.before_command(root, DOER)
        plant(root, after)
        changes = recording.finish()
        assert bool(changes) == (before != after)
        shadow.undo("run_1", root, changes, is_dry=False)
        assert grown(root) == before


@settings(deadline=None, max_examples=30)
@given(before=trees(), after=trees(), later=trees())
def test_a_dry_run_says_exactly_what_will_happen_and_touches_nothing(
    before: Tree, after: Tree, later: Tree
) -> None:
    with stage() as (root, shadow):
        plant(root, before)
        recording = shadow.before_command(root, DOER)
        plant(root, after)
        changes = recording.finish()
        plant(root, later)
        foretold = shadow.undo("run_1", root, changes, is_dry=True)
        assert grown(root) == later
        assert shadow.undone_at("run_1") is None
        assert shadow.undo("run_1", root, changes, is_dry=False) == foretold


@settings(deadline=None, max_examples=30)
@given(before=trees(), after=trees(), later=trees())
def test_what_somebody_has_edited_since_is_never_touched(
    before: Tree, after: Tree, later: Tree
) -> None:
    with stage() as (root, shadow):
        plant(root, before)
        recording = shadow.before_command(root, DOER)
        plant(root, after)
        changes = recording.finish()
        plant(root, later)
        shadow.undo("run_1", root, changes, is_dry=False)
        left = grown(root)
        for path, node in later.items():
            if node not in (before.get(path), after.get(path)):
                assert left[path] == node, path


@settings(deadline=None, max_examples=25)
@given(first=trees(), second=trees(), third=trees())
def test_runs_can_be_undone_in_reverse_order(first: Tree, second: Tree, third: Tree) -> None:
    with stage() as (root, shadow):
        plant(root, first)
        done = []
        for run_id, tree in (("run_1", second), ("run_2", third)):
            recording = shadow.before_command(root, Doer(run_id, "call"))
            plant(root, tree)
            done.append((run_id, recording.finish()))
        for run_id, changes in reversed(done):
            shadow.undo(run_id, root, changes, is_dry=False)
        assert grown(root) == first


@settings(deadline=None, max_examples=25)
@given(before=trees(), after=trees())
def test_undoing_twice_finds_everything_as_before(before: Tree, after: Tree) -> None:
    with stage() as (root, shadow):
        plant(root, before)
        recording = shadow.before_command(root, DOER)
        plant(root, after)
        changes = recording.finish()
        shadow.undo("run_1", root, changes, is_dry=False)
        again = shadow.undo("run_1", root, changes, is_dry=False)
        assert {each.fate for each in again} <= {Fate.UNCHANGED}
        assert grown(root) == before
