"""What a killed gateway has left is tidied up by the next one, and work is not thrown away."""

from __future__ import annotations

from functools import partial
from pathlib import Path

import pytest

from hermes.backends.hosting.catalogue import Catalogue
from hermes.backends.hosting.host import Host
from hermes.backends.hosting.job_tokens import JobTokens
from hermes.backends.hosting.stage import Backstage
from hermes.backends.running.folders import JobFolders
from hermes.backends.running.journal import JobJournal
from hermes.backends.running.threads import in_thread
from hermes.backends.workspaces.workspaces import Workspaces
from hermes.settings.cli_settings import CliSettings


@pytest.fixture
def folders(tmp_path: Path) -> JobFolders:
    return JobFolders(lambda: tmp_path / "cli")


@pytest.fixture
def host(folders: JobFolders) -> Host:
    backstage = Backstage(
        folders=folders,
        journal=JobJournal(folders),
        environ={},
        off_loop=partial(in_thread, name="test"),
        tokens=JobTokens(),
        relay=lambda: None,
    )
    workspaces = Workspaces({}, kept=folders.root / "kept")
    return Host(CliSettings, Catalogue({}), backstage, workspaces)


def test_the_copy_of_a_repository_is_kept(host: Host, folders: JobFolders) -> None:
    copy = folders.make("job_1").workspace / "workspace"
    (copy / ".git").mkdir(parents=True)
    (copy / "half-done.txt").write_text("work")

    host.recover(kept=())

    assert folders.job_ids() == []
    assert (folders.root / "kept/job_1/half-done.txt").read_text() == "work"


def test_what_is_no_repository_goes(host: Host, folders: JobFolders, tmp_path: Path) -> None:
    (folders.make("job_1").workspace / "workspace").mkdir()
    outside = tmp_path / "outside"
    (outside / ".git").mkdir(parents=True)
    (folders.make("job_2").workspace / "workspace").symlink_to(outside)

    host.recover(kept=())

    assert folders.job_ids() == []
    assert not (folders.root / "kept").exists()
    assert (outside / ".git").exists()


def test_conversations_that_nobody_needs_go(host: Host, folders: JobFolders) -> None:
    folders.session_home("claude", "needed")
    folders.session_home("claude", "forgotten")

    host.recover(kept={("claude", "needed")})

    assert folders.sessions() == [("claude", "needed")]
