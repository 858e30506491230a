"""A login is lent for a job: renewed ones come back, nothing else does, and no copy stays."""

from __future__ import annotations

import json
import os
import stat
from pathlib import Path

import pytest

from hermes.backends.running.login import Loan, lend, take_back

NAME = ".cli/login.json"
OLD = json.dumps({"token": "old", "expires": 1}).encode()
NEW = json.dumps({"token": "new", "expires": 2, "scope": "all"}).encode()


class Homes:
    def __init__(self, folder: Path) -> None:
        self.user = folder / "user"
        self.job = folder / "job"
        self.original = self.user / NAME
        self.copy = self.job / NAME
        self.original.parent.mkdir(parents=True)
        self.job.mkdir()
        self.original.write_bytes(OLD)
        self.original.chmod(0o600)

    def lend(self) -> tuple[Loan, ...]:
        return lend([NAME, ".cli/absent.json"], users_home=self.user, job_home=self.job)


@pytest.fixture
def homes(tmp_path: Path) -> Homes:
    return Homes(tmp_path)


def test_what_is_there_is_copied_for_the_owner_only(homes: Homes) -> None:
    [loan] = homes.lend()
    assert homes.copy.read_bytes() == OLD
    assert stat.S_IMODE(homes.copy.stat().st_mode) == 0o600
    assert stat.S_IMODE(homes.copy.parent.stat().st_mode) == 0o700
    assert "old" not in repr(loan)


def test_a_renewed_login_comes_back_and_no_copy_stays(homes: Homes) -> None:
    loans = homes.lend()
    homes.copy.write_bytes(NEW)
    take_back(loans)
    assert homes.original.read_bytes() == NEW
    assert stat.S_IMODE(homes.original.stat().st_mode) == 0o600
    assert not homes.copy.exists()


def test_a_login_behind_a_link_is_renewed_where_it_is(homes: Homes, tmp_path: Path) -> None:
    kept = tmp_path / "dotfiles.json"
    homes.original.rename(kept)
    homes.original.symlink_to(kept)
    loans = homes.lend()
    homes.copy.write_bytes(NEW)
    take_back(loans)
    assert homes.original.is_symlink() and kept.read_bytes() == NEW


def test_one_that_somebody_else_renewed_meanwhile_stays(homes: Homes) -> None:
    loans = homes.lend()
    homes.copy.write_bytes(NEW)
    homes.original.write_bytes(b'{"token": "theirs", "expires": 3}')
    take_back(loans)
    assert homes.original.read_bytes() == b'{"token": "theirs", "expires": 3}'


@pytest.mark.parametrize(
    "left",
    [b"", b"{", b"[]", b'{"token": "x"}', b"[" * 100_000, b"\xff", b'{"a": "' + b"x" * 2**20],
)
def test_what_is_no_login_is_not_kept(homes: Homes, left: bytes) -> None:
    loans = homes.lend()
    homes.copy.write_bytes(left)
    take_back(loans)
    assert homes.original.read_bytes() == OLD
    assert not homes.copy.exists()


def test_one_that_the_job_removed_changes_nothing(homes: Homes) -> None:
    loans = homes.lend()
    homes.copy.unlink()
    take_back(loans)
    assert homes.original.read_bytes() == OLD


def test_a_link_or_a_pipe_in_its_place_is_not_read(homes: Homes, tmp_path: Path) -> None:
    (tmp_path / "other").write_bytes(NEW)
    loans = homes.lend()
    homes.copy.unlink()
    homes.copy.symlink_to(tmp_path / "other")
    take_back(loans)
    loans = homes.lend()
    homes.copy.unlink()
    os.mkfifo(homes.copy)
    take_back(loans)
    assert homes.original.read_bytes() == OLD


def test_a_job_that_links_to_the_users_home_cannot_have_the_original_removed(homes: Homes) -> None:
    loans = homes.lend()
    homes.copy.unlink()
    homes.copy.parent.rmdir()
    homes.copy.parent.symlink_to(homes.original.parent)
    take_back(loans)
    assert homes.original.read_bytes() == OLD


def test_nothing_is_lent_through_a_link_that_leads_out(homes: Homes, tmp_path: Path) -> None:
    (tmp_path / "outside").mkdir()
    homes.copy.parent.symlink_to(tmp_path / "outside")
    assert homes.lend() == ()
    assert list((tmp_path / "outside").iterdir()) == []


def test_a_home_that_is_used_again_is_lent_to_again(homes: Homes) -> None:
    homes.lend()
    homes.original.write_bytes(NEW)
    homes.lend()
    assert homes.copy.read_bytes() == NEW
