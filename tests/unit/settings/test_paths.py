"""Where things lie."""

from __future__ import annotations

import stat
from pathlib import Path

import pytest

from hermes.core.errors import SettingsError
from hermes.settings import paths


def test_the_home_is_a_hidden_folder_of_the_user_unless_said_otherwise() -> None:
    assert paths.home({"HOME": "/home/ada"}) == Path("/home/ada/.hermes")
    assert paths.home({"HOME": "/home/ada", "HERMES_HOME": " "}) == Path("/home/ada/.hermes")


def test_a_tilde_in_the_home_means_the_users_folder() -> None:
    assert paths.home({"HOME": "/home/ada", "HERMES_HOME": "~/agent"}) == Path("/home/ada/agent")
    assert paths.home({"HOME": "/home/ada", "HERMES_HOME": "~"}) == Path("/home/ada")


def test_a_relative_home_becomes_absolute() -> None:
    assert paths.home({"HERMES_HOME": "here"}) == Path.cwd() / "here"


def test_every_file_lies_directly_in_the_home_under_a_name_of_its_own() -> None:
    home = Path("/h")
    found = [
        paths.config_file(home),
        paths.state_db(home),
        paths.response_db(home),
        paths.status_file(home),
        paths.lock_file(home),
        paths.default_workspace(home),
    ]
    assert len(set(found)) == len(found)
    assert {path.parent for path in found} == {home}


def test_a_new_folder_is_for_its_owner_only(tmp_path: Path) -> None:
    folder = paths.ensure_private_dir(tmp_path / "a" / "b")
    assert stat.S_IMODE(folder.stat().st_mode) == 0o700
    assert paths.is_private(folder)


def test_an_existing_folder_keeps_its_mode(tmp_path: Path) -> None:
    folder = tmp_path / "shared"
    folder.mkdir()
    folder.chmod(0o755)
    paths.ensure_private_dir(folder)
    assert stat.S_IMODE(folder.stat().st_mode) == 0o755
    assert not paths.is_private(folder)


def test_a_file_in_the_way_is_named(tmp_path: Path) -> None:
    in_the_way = tmp_path / "file"
    in_the_way.write_text("")
    for path in (in_the_way, in_the_way / "below"):
        with pytest.raises(SettingsError, match="found a file; allowed: a folder"):
            paths.ensure_private_dir(path)
