"""What files were: kept once, found again, and deleted when nobody can want it any more."""

from __future__ import annotations

import hashlib
import stat
from pathlib import Path

from hypothesis import given, settings
from hypothesis import strategies as st

from hermes.core.changes import FileChange, FileState
from hermes.core.shadow import Deed, Doer, Entry, Opening, Stamp
from hermes.store.shadow import SqliteShadow
from hermes.store.shadow_retention import ShadowRetention

DAY = 86_400.0
ROOT = "/work"


def digest(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()


def entry(content: bytes) -> Entry:
    state = FileState(digest=digest(content), mode=0o644, size=len(content))
    return Entry(Stamp(stat.S_IFREG | 0o644, len(content), 1, 2, 3), state, 4)


def deed(before: bytes | None, after: bytes | None, run_id: str | None = "run_1") -> Deed:
    states = [
        None if each is None else FileState(digest=digest(each), mode=0o644, size=len(each))
        for each in (before, after)
    ]
    change = FileChange(path=f"{ROOT}/a.txt", before=states[0], after=states[1])
    return Deed(doer=Doer(run_id, "call"), root=ROOT, change=change)


def keep_deed(store: SqliteShadow, done: Deed, *contents: bytes) -> None:
    opening = Opening(id=f"deed_{len(contents)}", doer=done.doer, root=ROOT, process=1)
    store.begin(opening)
    store.finish(opening.id, [done], {digest(each): each for each in contents})


@settings(deadline=None, max_examples=40)
@given(st.binary(max_size=2000))
def test_contents_come_back_byte_for_byte(content: bytes) -> None:
    store = SqliteShadow(None)
    for _ in range(2):
        store.update(ROOT, {"a": entry(content)}, contents={digest(content): content})
    assert store.content(digest(content)) == content
    assert store.missing({digest(content), "none"}) == {"none"}
    store.close()


def test_files_are_0600_in_a_folder_0700(tmp_path: Path) -> None:
    path = tmp_path / "shadow" / "shadow.db"
    store = SqliteShadow(path)
    store.update(ROOT, {"a": entry(b"secret")}, contents={digest(b"secret"): b"secret"})
    assert stat.S_IMODE(path.parent.stat().st_mode) == 0o700
    assert {stat.S_IMODE(each.stat().st_mode) for each in path.parent.iterdir()} == {0o600}
    store.close()


def test_workspaces_are_found_as_they_were_seen_last(tmp_path: Path) -> None:
    store = SqliteShadow(tmp_path / "shadow.db")
    seen = {"a": entry(b"1"), "b/c": entry(b"2"), "\udcff": entry(b"3")}
    store.update(ROOT, seen)
    store.update(ROOT, {"a": entry(b"4")}, ["b/c"])
    store.close()
    again = SqliteShadow(tmp_path / "shadow.db")
    assert again.entries(ROOT) == {"a": entry(b"4"), "\udcff": entry(b"3")}
    assert again.entries("/elsewhere") == {}
    again.close()


def test_what_nobody_refers_to_is_swept_and_the_rest_stays() -> None:
    store = SqliteShadow(None, now=lambda: 1000 * DAY)
    kept = {digest(each): each for each in (b"in a workspace", b"stray")}
    store.update(ROOT, {"a": entry(b"in a workspace")}, contents=kept)
    keep_deed(store, deed(b"before", b"after"), b"before", b"after")
    store.sweep(1000 * DAY)
    found = (b"in a workspace", b"stray", b"before", b"after")
    assert [each for each in found if store.content(digest(each)) is None] == [b"stray"]
    store.close()


def test_what_is_too_old_goes_with_its_contents() -> None:
    retention = ShadowRetention(keep_seconds=30 * DAY)
    store = SqliteShadow(None, retention, now=lambda: 1000 * DAY)
    keep_deed(store, deed(b"before", None), b"before")
    store.set_undone("run_1", 1000 * DAY)
    store.sweep(1029 * DAY)
    assert store.content(digest(b"before")) == b"before"
    store.sweep(1031 * DAY)
    assert store.content(digest(b"before")) is None
    assert (store.deeds_of("run_1"), store.undone_at("run_1")) == ([], None)
    store.close()


def test_deeds_of_runs_that_were_never_kept_go_after_a_day() -> None:
    store = SqliteShadow(None, now=lambda: 1000 * DAY)
    keep_deed(store, deed(b"before", None, run_id=None), b"before")
    store.sweep(1000.5 * DAY)
    assert store.content(digest(b"before")) is not None
    store.sweep(1001.5 * DAY)
    assert store.content(digest(b"before")) is None
    store.close()


def test_a_forgotten_run_takes_its_contents_along(tmp_path: Path) -> None:
    store = SqliteShadow(tmp_path / "shadow.db")
    secret = b"the secret of a deleted session, long enough to be found " * 3
    keep_deed(store, deed(secret, b"after"), secret, b"after")
    assert store.runs() == {"run_1"}
    store.forget({"run_1"})
    assert (store.runs(), store.content(digest(secret))) == (set(), None)
    store.close()


def test_the_oldest_make_room_for_the_newest() -> None:
    times = iter([1.0, 2.0, 3.0])
    retention = ShadowRetention(keep_seconds=1e9, max_bytes=2500)
    store = SqliteShadow(None, retention, now=lambda: next(times))
    contents = [hashlib.shake_256(bytes([n])).digest(1000) for n in range(3)]  # cannot be packed
    for number, content in enumerate(contents):
        keep_deed(store, deed(content, None, f"run_{number}"), content)
    store.sweep(10.0)
    left = [store.content(digest(content)) is not None for content in contents]
    assert left == [False, True, True]
    store.close()


def test_nothing_is_deleted_while_a_deed_is_under_way() -> None:
    store = SqliteShadow(None)
    opening = Opening(id="deed", doer=Doer("run_1", "call"), root=ROOT, process=1)
    store.begin(opening, {digest(b"before"): b"before"})
    store.sweep(2e9)
    assert store.content(digest(b"before")) == b"before"
    store.finish("deed", [])
    store.sweep(2e9)
    assert store.content(digest(b"before")) is None
    store.close()


def test_the_last_deed_of_a_path_is_the_newest() -> None:
    store = SqliteShadow(None)
    for run_id in ("run_1", "run_2"):
        keep_deed(store, deed(None, run_id.encode(), run_id))
    found = store.last_deed(f"{ROOT}/a.txt")
    assert found is not None and found.doer.run_id == "run_2"
    assert store.last_deed("/other") is None
    store.close()
