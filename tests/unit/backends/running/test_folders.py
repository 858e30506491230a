"""Jobs have folders of their own, and nothing outside them is ever touched."""

from __future__ import annotations

import stat
from pathlib import Path

import pytest

from hermes.backends.jobs import Places
from hermes.backends.running.folders import JobFolders


@pytest.fixture
def folders(tmp_path: Path) -> JobFolders:
    return JobFolders(lambda: tmp_path / "root")


def mode(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


def test_a_job_has_three_folders_that_only_the_owner_enters(
    folders: JobFolders, tmp_path: Path
) -> None:
    places = folders.make("job_1")
    own = tmp_path / "root" / "jobs" / "job_1"
    assert places == Places(home=own / "home", workspace=own / "workspace", scratch=own / "scratch")
    everything = (tmp_path / "root", own, places.home, places.workspace, places.scratch)
    assert [mode(path) for path in everything] == [0o700] * 5
    assert folders.job_ids() == ["job_1"]


def test_a_given_home_and_workspace_are_used_and_outlive_the_job(
    folders: JobFolders, tmp_path: Path
) -> None:
    home = folders.session_home("claude", "session")
    shared = tmp_path / "shared"
    shared.mkdir(mode=0o755)
    places = folders.make("job_1", home=home, workspace=shared)
    assert (places.home, places.workspace) == (home, shared)
    folders.remove("job_1")
    assert home.is_dir() and mode(shared) == 0o755
    assert folders.job_ids() == []


def test_what_a_job_made_unreadable_is_removed_too(folders: JobFolders) -> None:
    places = folders.make("job_1")
    locked = places.workspace / "a" / "b"
    locked.mkdir(parents=True)
    (locked / "file").write_text("x")
    (locked / "file").chmod(0)
    locked.chmod(0)
    locked.parent.chmod(0o500)
    folders.remove("job_1")
    assert folders.job_ids() == []


def test_links_are_removed_and_not_followed(folders: JobFolders, tmp_path: Path) -> None:
    outside = tmp_path / "outside"
    outside.mkdir(mode=0o500)
    (tmp_path / "precious").write_text("x")
    places = folders.make("job_1")
    (places.workspace / "folder").symlink_to(outside)
    (places.workspace / "file").symlink_to(tmp_path / "precious")
    folders.remove("job_1")
    assert folders.job_ids() == []
    assert mode(outside) == 0o500 and (tmp_path / "precious").exists()


def test_a_job_that_is_a_link_itself_is_only_unlinked(folders: JobFolders, tmp_path: Path) -> None:
    outside = tmp_path / "outside"
    outside.mkdir()
    folders.make("job_1")
    (tmp_path / "root" / "jobs" / "job_2").symlink_to(outside)
    folders.remove("job_2")
    assert outside.is_dir() and folders.job_ids() == ["job_1"]


def test_removing_what_is_not_there_is_fine(folders: JobFolders) -> None:
    folders.remove("job_1")
    folders.remove_session("claude", "never")


@pytest.mark.parametrize("name", ["..", ".", "", "a/b", "../../up", "x" * 300, "ü", "\udcff", "-a"])
def test_whatever_a_client_calls_its_session_it_is_one_folder(
    folders: JobFolders, tmp_path: Path, name: str
) -> None:
    home = folders.session_home("claude", name)
    assert home.is_dir()
    assert home.resolve().parent == (tmp_path / "root" / "sessions" / "claude").resolve()
    assert home == folders.session_home("claude", name)
    assert home != folders.session_home("claude", name + "x")
    folders.remove_session("claude", name)
    assert not home.exists()


def test_sessions_of_two_agents_are_two(folders: JobFolders) -> None:
    assert folders.session_home("a", "s") != folders.session_home("b", "s")
