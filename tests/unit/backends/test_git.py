"""One call of git: what its answers mean."""

from __future__ import annotations

from pathlib import Path

import pytest

from hermes.backends.git import GitFailed, GitTimes, Trouble, open_repository, trouble_of
from tests.unit.backends.repositories import ENVIRON, run_git


@pytest.mark.parametrize(
    ("message", "trouble"),
    [
        ("fatal: Unable to create '/x/.git/index.lock': File exists.", Trouble.LOCKED),
        ("error: cannot lock ref 'refs/heads/agent/x'", Trouble.LOCKED),
        ("!\tHEAD:refs/heads/x\t[rejected] (fetch first)", Trouble.REJECTED),
        ("! [remote rejected] x -> x (pre-receive hook declined)", Trouble.REJECTED),
        ("fatal: could not read Username for 'https://host'", Trouble.UNAUTHORIZED),
        ("fatal: Authentication failed for 'https://host/'", Trouble.UNAUTHORIZED),
        ("The requested URL returned error: 403", Trouble.UNAUTHORIZED),
        ("fatal: unable to access 'https://host/': Could not resolve host", Trouble.UNREACHABLE),
        ("fatal: transport 'ext' not allowed", Trouble.UNREACHABLE),
        ("fatal: something new", Trouble.FAILED),
    ],
)
def test_messages_of_git_have_a_name(message: str, trouble: Trouble) -> None:
    assert trouble_of(message) is trouble


async def test_a_call_that_fails_is_told_in_gits_words(tmp_path: Path) -> None:
    run_git(tmp_path, "init", "-q")
    repository = await open_repository(tmp_path, ENVIRON)
    assert await repository.ask("rev-parse", "--verify", "--quiet", "nowhere") is None
    with pytest.raises(GitFailed, match="Needed a single revision") as failed:
        await repository.do("rev-parse", "--verify", "nowhere")
    assert failed.value.trouble is Trouble.FAILED


async def test_a_call_that_hangs_is_ended_and_named(tmp_path: Path) -> None:
    run_git(tmp_path, "init", "-q")
    run_git(tmp_path, "config", "alias.hang", "!sleep 600")
    repository = await open_repository(tmp_path, ENVIRON, GitTimes(local=20))
    with pytest.raises(GitFailed, match="hang: git did not finish") as failed:
        await repository.call("hang", seconds=0.2)
    assert failed.value.trouble is Trouble.TIMED_OUT


async def test_a_file_name_of_any_bytes_can_be_told(tmp_path: Path) -> None:
    run_git(tmp_path, "init", "-q")
    repository = await open_repository(tmp_path, ENVIRON)
    with pytest.raises(GitFailed) as failed:
        await repository.do("cat-file", "-e", "HEAD:\udce9")
    failed.value.detail.encode()


async def test_the_only_remote_is_the_main_one_and_origin_before_all(tmp_path: Path) -> None:
    run_git(tmp_path, "init", "-q")
    repository = await open_repository(tmp_path, ENVIRON)
    found = [await repository.main_remote()]
    for name in ("mine", "yours", "origin"):
        run_git(tmp_path, "remote", "add", name, "nowhere")
        found.append(await repository.main_remote())
    assert found == [None, "mine", None, "origin"]


async def test_without_git_the_message_says_so(tmp_path: Path) -> None:
    with pytest.raises(GitFailed, match="not installed") as failed:
        await open_repository(tmp_path, {"PATH": str(tmp_path)})
    assert failed.value.trouble is Trouble.MISSING
