"""An agent at work on files: where it may look, what it may change, and where its work goes."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

import openai
import pytest

from hermes.testing.replies import Text, ToolUse
from tests.cli.leftovers import nothing_is_left
from tests.cli.stage import Playing, Stage, claude, codex, staged, unique

both = pytest.mark.parametrize("model", ["claude/haiku", "codex/scripted"])


def _git(folder: Path, *words: str) -> str:
    identity = ("-c", "user.name=Somebody", "-c", "user.email=somebody@example.org")
    run = subprocess.run(
        ["git", "-C", str(folder), *identity, *words], check=True, capture_output=True, text=True
    )
    return run.stdout


def _repository(folder: Path) -> Path:
    folder.mkdir()
    (folder / "note.txt").write_text("as it was\n")
    _git(folder, "init", "-q")
    _git(folder, "add", "-A")
    _git(folder, "commit", "-q", "-m", "The beginning")
    return folder


def _writing(model: str, name: str, text: str) -> ToolUse:
    """The model has its CLI write a file into the workspace."""
    if model.endswith("/haiku"):
        return ToolUse("Write", {"file_path": name, "content": text})
    return ToolUse("exec_command", {"cmd": f"printf %s '{text}' > {name}"})


def _reading(model: str, path: Path) -> ToolUse:
    if model.endswith("/haiku"):
        return ToolUse("Read", {"file_path": str(path)})
    return ToolUse("exec_command", {"cmd": f"cat {path}"})


@both
@pytest.mark.parametrize("mode", ["clone", "worktree"])
async def test_what_an_agent_changes_is_on_a_branch_of_its_own(
    playing: Playing, tmp_path: Path, mode: str, model: str
) -> None:
    repository = _repository(tmp_path / "repository")
    place = {"workspace": mode, "repository": str(repository), "profile": "edit"}
    word = unique("change")
    playing.scenes.on(word, _writing(model, "new.txt", "new"), Text("There is a new file."))

    agents = {"claude": claude(**place), "codex": codex(**place)}
    async with staged(tmp_path / "home", playing, agents) as stage:
        assert (await stage.say(model, word)).endswith("There is a new file.")
        await nothing_is_left(stage.home)

    assert sorted(path.name for path in repository.iterdir()) == [".git", "note.txt"]
    [branch] = _git(repository, "branch", "--list", "agent/*", "--format=%(refname:short)").split()
    assert _git(repository, "show", f"{branch}:new.txt") == "new"
    message = _git(repository, "log", "-1", "--format=%B", branch)
    assert f"Hermes-Model: {model}" in message
    assert "Hermes-Tokens:" in message


@pytest.mark.parametrize("model", ["reader/haiku", "codex/scripted"])
async def test_an_agent_that_may_read_reads_its_workspace_only_and_writes_nothing(
    stage: Stage, tmp_path: Path, model: str
) -> None:
    secret = unique("top-secret-")
    (tmp_path / "secret.txt").write_text(secret)
    word = unique("outside")
    calls = [_reading(model, tmp_path / "secret.txt"), _writing(model, str(tmp_path / "new"), "x")]
    scene = stage.on(word, *calls, Text("I could not."))

    assert (await stage.say(model, word)).endswith("I could not.")

    assert len(scene.requests) == 3
    assert secret not in json.dumps(dict(scene.requests[-1].body))
    assert not (tmp_path / "new").exists()


async def test_a_request_may_lower_the_profile_and_never_raise_it(stage: Stage) -> None:
    word = unique("lower")
    scene = stage.on(word, Text("Only words."))

    assert await stage.say("editor/haiku@chat", word) == "Only words."
    assert scene.requests[0].tool_names == []
    with pytest.raises(openai.PermissionDeniedError):
        await stage.say("claude/haiku@edit", word)
