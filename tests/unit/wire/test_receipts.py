"""Receipts as clients see them: always JSON, whatever files are called."""

from __future__ import annotations

import os

import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hermes.core.changes import FileChange, FileState
from hermes.core.errors import InvalidRequest
from hermes.core.events import CommandRan, FilesChanged, ToolStarted
from hermes.core.receipts import receipt_of
from hermes.core.shadow import Fate, FileFate
from hermes.wire.queries import yes_or_no
from hermes.wire.receipts import REASONS, receipt_object, undo_object
from tests.unit.wire.test_runs import RUN

STATE = FileState(digest="0" * 64, mode=0o755, size=3)
ROOT = "/work"


def changed(path: str, **more: bool) -> FilesChanged:
    change = FileChange(path=path, before=None, after=STATE, **more)
    return FilesChanged("call_1", (change,), ROOT)


@given(st.binary(min_size=1, max_size=20).filter(lambda name: b"\0" not in name))
def test_whatever_a_file_is_called_the_receipt_is_json(name: bytes) -> None:
    receipt = receipt_of([changed(f"{ROOT}/{os.fsdecode(name)}")])
    told = receipt_object(RUN, receipt, lost=(), undone_at=None)
    assert orjson.loads(orjson.dumps(told)) == told


def test_a_file_is_named_from_its_workspace_with_all_that_is_known_of_it() -> None:
    told = receipt_object(RUN, receipt_of([changed(f"{ROOT}/a/b")]), lost=(), undone_at=1.5)
    [file] = told["files"]
    assert file == {
        "path": "a/b",
        "change": "created",
        "before": None,
        "after": {"type": "file", "digest": f"sha256:{'0' * 64}", "size": 3, "mode": "0755"},
        "restorable": True,
        "certain": True,
        "call_ids": ["call_1"],
    }
    assert (told["workspaces"], told["undone_at"]) == ([ROOT], 1.5)


def test_what_cannot_be_restored_says_so() -> None:
    def is_restorable(event: FilesChanged, *lost: str) -> bool:
        told = receipt_object(RUN, receipt_of([event]), lost=lost, undone_at=None)
        return bool(told["files"][0]["restorable"])

    assert is_restorable(changed(f"{ROOT}/a"))
    assert not is_restorable(changed(f"{ROOT}/a"), f"{ROOT}/a")
    assert not is_restorable(changed(f"{ROOT}/a", is_sure=False))
    assert not is_restorable(changed("/elsewhere/a"))


def test_one_untracked_command_is_enough_to_say_that_not_all_is_known() -> None:
    ran = CommandRan(call_id="c", command="ls", directory="/", exit_code=None, seconds=1.0)
    hidden = CommandRan(
        call_id="c", command="ls", directory="/", exit_code=0, seconds=1.0, untracked="Too large."
    )
    for commands, is_tracked in (([ran], True), ([ran, hidden], False)):
        told = receipt_object(RUN, receipt_of(commands), lost=(), undone_at=None)
        assert told["commands_tracked"] is is_tracked


def test_what_internal_tools_are_given_is_not_shown() -> None:
    receipt = receipt_of([ToolStarted("c1", "_inner", {"secret": 1})])
    [call] = receipt_object(RUN, receipt, lost=(), undone_at=None)["tool_calls"]
    assert (call["name"], call["arguments"]) == ("_inner", None)


def test_every_fate_is_counted_and_explained() -> None:
    fates = [
        FileFate(path=f"{ROOT}/a", fate=Fate.RESTORED),
        FileFate(path=f"{ROOT}/b", fate=Fate.KEPT, reason="edited_since", run_id="run_9"),
        FileFate(path=f"{ROOT}/c", fate=Fate.FAILED, reason="Permission denied"),
    ]
    told = undo_object(RUN, [(ROOT, fate) for fate in fates], is_dry=True, undone_at=None)
    assert told["counts"] == {
        "restored": 1,
        "removed": 0,
        "unchanged": 0,
        "kept": 1,
        "failed": 1,
    }
    _, kept, failed = told["files"]
    assert (kept["message"], kept["run_id"]) == (REASONS["edited_since"], "run_9")
    assert (failed["reason"], failed["message"]) == ("system_error", "Permission denied")


@pytest.mark.parametrize(("written", "meant"), [("true", True), ("0", False), ("", None)])
def test_a_choice_is_read_from_a_query(written: str, meant: bool | None) -> None:
    for default in (True, False):
        found = yes_or_no({"dry_run": written}, "dry_run", default=default)
        assert found is (default if meant is None else meant)


def test_anything_else_is_refused() -> None:
    with pytest.raises(InvalidRequest, match="true or false"):
        yes_or_no({"dry_run": "maybe"}, "dry_run", default=False)
