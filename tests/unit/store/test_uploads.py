"""Uploaded files come back as they went in, stay within their limits, and go in time."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from hermes.core.errors import BodyTooLarge
from hermes.core.uploads import FilePage, UploadedFile
from hermes.settings.model import FileSettings
from hermes.store.errors import StoreUnusable
from hermes.store.uploads import UploadStore

DAY = 86_400


@dataclass(slots=True)
class Clock:
    time: float = 1_000_000.5

    def __call__(self) -> float:
        return self.time


Open = Callable[..., UploadStore]


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def open_store(tmp_path: Path, clock: Clock) -> Iterator[Open]:
    opened: list[UploadStore] = []

    def start(**limits: int) -> UploadStore:
        opened.append(UploadStore(tmp_path / "files", FileSettings(**limits), now=clock))
        return opened[-1]

    yield start
    for store in opened:
        store.close()


def add(
    store: UploadStore, data: bytes = b"data", *, name: str = "a.txt", purpose: str = "user_data",
    expires_after: int | None = None,
) -> UploadedFile:  # fmt: skip
    draft = store.begin()
    try:
        draft.write(data)
        return store.keep(draft, filename=name, purpose=purpose, expires_after=expires_after)
    finally:
        store.discard(draft)


def ids(found: tuple[list[UploadedFile], bool]) -> tuple[list[str], bool]:
    return [file.id for file in found[0]], found[1]


def on_disk(tmp_path: Path) -> list[str]:
    names = (path.name for path in (tmp_path / "files").iterdir())
    return sorted(name for name in names if not name.startswith("index.db"))


def test_a_file_comes_back_as_it_went_in(open_store: Open) -> None:
    store = open_store()
    draft = store.begin()
    draft.write(b"one ")
    draft.write(b"two")
    file = store.keep(draft, filename="a.txt", purpose="vision", expires_after=7200)

    assert file == UploadedFile(
        id=file.id, filename="a.txt", purpose="vision", bytes=7,
        created_at=1_000_000, expires_at=1_007_200,
    )  # fmt: skip
    assert file.id.startswith("file-")
    assert store.get(file.id) == file
    assert store.read(file) == store.path(file).read_bytes() == b"one two"


@settings(max_examples=20, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.text(min_size=1), st.binary(max_size=100))
def test_a_name_is_data_and_never_a_path(
    open_store: Open, tmp_path: Path, name: str, data: bytes
) -> None:
    for awkward in (name, f"../../{name}", f"/etc/{name}", "index.db"):
        store = open_store()
        file = add(store, data, name=awkward)

        assert (store.get(file.id), store.read(file)) == (file, data)
        assert file.filename == awkward
        assert store.path(file).parent == tmp_path / "files"


def test_files_survive_a_restart(open_store: Open) -> None:
    first = open_store()
    file = add(first)
    first.close()
    second = open_store(max_total_bytes=6)

    assert second.get(file.id) == file
    with pytest.raises(BodyTooLarge):
        add(second, b"123")


def test_only_the_owner_can_read_them(open_store: Open, tmp_path: Path) -> None:
    before = os.umask(0)
    try:
        file = add(open_store())
    finally:
        os.umask(before)
    folder = tmp_path / "files"

    assert folder.stat().st_mode & 0o777 == 0o700
    assert (folder / file.id).stat().st_mode & 0o777 == 0o600
    assert (folder / "index.db").stat().st_mode & 0o777 == 0o600


def test_a_file_over_the_limit_leaves_nothing_behind(open_store: Open, tmp_path: Path) -> None:
    store = open_store(max_bytes=5)
    draft = store.begin()
    draft.write(b"12345")
    with pytest.raises(BodyTooLarge) as caught:
        draft.write(b"6")
    store.discard(draft)

    assert caught.value.code == "file_too_large"
    assert on_disk(tmp_path) == []


def test_all_files_together_stay_under_their_limit(open_store: Open) -> None:
    store = open_store(max_total_bytes=10)
    kept = add(store, b"123456")
    arriving = store.begin()
    arriving.write(b"123")
    other = store.begin()
    with pytest.raises(BodyTooLarge) as caught:
        other.write(b"12")
    store.discard(other)
    assert caught.value.code == "files_full"

    store.discard(arriving)
    add(store, b"1234")
    assert store.delete(kept.id)
    add(store, b"123456")
    with pytest.raises(BodyTooLarge):
        add(store, b"1")


def test_what_has_expired_makes_room(open_store: Open, clock: Clock, tmp_path: Path) -> None:
    store = open_store(max_total_bytes=10)
    old = add(store, b"1234567890", expires_after=3600)
    clock.time += 3600
    new = add(store, b"0987654321")

    assert store.get(old.id) is None
    assert on_disk(tmp_path) == [new.id]


def test_an_expired_file_is_gone_before_anybody_swept(open_store: Open, clock: Clock) -> None:
    store = open_store(expire_days=1)
    file = add(store)
    clock.time += DAY - 1
    assert store.get(file.id) == file
    clock.time += 1

    assert store.get(file.id) is None
    assert store.page(FilePage(limit=10)) == ([], False)
    assert not store.delete(file.id)


def test_expired_files_go_when_the_store_is_opened(
    open_store: Open, clock: Clock, tmp_path: Path
) -> None:
    add(open_store())
    stays = add(open_store(expire_days=0))
    clock.time += 30 * DAY
    open_store()

    assert stays.expires_at is None
    assert on_disk(tmp_path) == [stays.id]


def test_what_a_dead_process_left_behind_goes_when_it_is_old(
    open_store: Open, clock: Clock, tmp_path: Path
) -> None:
    kept = add(open_store(expire_days=0))
    folder = tmp_path / "files"
    for name in ("upload-1.draft", "file-unknown", "upload-2.draft", "notes.txt"):
        (folder / name).write_bytes(b"x")
        os.utime(folder / name, (clock.time, clock.time))
    clock.time += 3601
    os.utime(folder / "upload-2.draft", (clock.time, clock.time))
    open_store()

    assert on_disk(tmp_path) == sorted([kept.id, "notes.txt", "upload-2.draft"])


def test_pages_follow_the_order_of_arrival(open_store: Open) -> None:
    store = open_store()
    a, b, c, d = (add(store, purpose=purpose).id for purpose in ("vision", "batch") * 2)

    assert ids(store.page(FilePage(limit=10))) == ([d, c, b, a], False)
    assert ids(store.page(FilePage(limit=2))) == ([d, c], True)
    assert ids(store.page(FilePage(limit=2, after=c))) == ([b, a], False)
    assert ids(store.page(FilePage(limit=1, after=a, is_ascending=True))) == ([b], True)
    assert ids(store.page(FilePage(limit=9, purpose="vision", is_ascending=True))) == (
        [a, c],
        False,
    )
    assert ids(store.page(FilePage(limit=9, after=a))) == ([], False)


def test_a_deleted_file_is_gone_with_its_bytes(open_store: Open, tmp_path: Path) -> None:
    store = open_store()
    file = add(store)

    assert store.delete(file.id)
    assert not store.delete(file.id)
    assert store.get(file.id) is None
    assert store.read(file) is None
    assert on_disk(tmp_path) == []


def test_a_file_whose_bytes_are_gone_counts_as_gone(open_store: Open) -> None:
    store = open_store()
    file = add(store)
    store.path(file).unlink()

    assert store.get(file.id) is None


def test_discarding_what_was_kept_changes_nothing(open_store: Open) -> None:
    store = open_store()
    draft = store.begin()
    draft.write(b"data")
    file = store.keep(draft, filename="a", purpose="batch", expires_after=None)
    store.discard(draft)
    draft.write(b"late")

    assert store.read(file) == b"data"


def test_a_folder_that_cannot_be_used_says_so(tmp_path: Path) -> None:
    (tmp_path / "files").write_text("in the way")

    with pytest.raises(StoreUnusable, match="files"):
        UploadStore(tmp_path / "files", FileSettings())
