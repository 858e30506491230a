"""No path a model can think of leads out of a confined workspace."""

from __future__ import annotations

import os
import stat
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from hermes.core.errors import SettingsError
from hermes.tools.problem import ToolProblem
from hermes.tools.workspace import Workspace


def test_the_root_and_its_missing_parents_are_private(tmp_path: Path) -> None:
    Workspace(tmp_path / "home" / "workspace")
    for folder in (tmp_path / "home", tmp_path / "home" / "workspace"):
        assert stat.S_IMODE(folder.stat().st_mode) == 0o700


def test_an_existing_root_keeps_its_mode(tmp_path: Path) -> None:
    tmp_path.chmod(0o755)
    Workspace(tmp_path)
    assert stat.S_IMODE(tmp_path.stat().st_mode) == 0o755


def test_a_file_as_root_is_a_settings_error(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(SettingsError, match="workspace"):
        Workspace(tmp_path / "file")


def test_paths_inside_resolve_whether_they_exist_or_not(workspace: Workspace) -> None:
    root = workspace.root
    assert workspace.resolve("a/b.txt") == root / "a/b.txt"
    assert workspace.resolve("a/../b") == root / "b"
    assert workspace.resolve(".") == root
    assert workspace.resolve(str(root / "c")) == root / "c"


@pytest.mark.parametrize(
    "path",
    ["..", "../x", "a/../../x", "/", "/etc/passwd", "~", "~/x", "~root/x", "a\0b", "\ud800", "out",
     "out/new.txt", "out/../x", "loop/x"],
)  # fmt: skip
def test_escapes_are_refused_with_advice(workspace: Workspace, tmp_path: Path, path: str) -> None:
    (workspace.root / "out").symlink_to(tmp_path)
    (workspace.root / "loop").symlink_to("loop")
    with pytest.raises(ToolProblem, match="Use a path inside the workspace"):
        workspace.resolve(path)


def test_the_refusal_names_the_setting(workspace: Workspace) -> None:
    with pytest.raises(ToolProblem, match=r"tools\.confine: false"):
        workspace.resolve("/etc/passwd")


def test_a_folder_whose_name_begins_like_the_root_is_outside(workspace: Workspace) -> None:
    with pytest.raises(ToolProblem):
        workspace.resolve("../workspace-2/x")


FRAGMENTS = st.sampled_from(
    [
        "",
        ".",
        "..",
        "a",
        "b",
        "out",
        "inside",
        "dangling",
        "~",
        "~root",
        "/",
        "/etc",
        "\0",
        " ",
        "...",
    ]
)


@given(st.lists(FRAGMENTS, max_size=8))
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_no_path_leads_out(workspace: Workspace, fragments: list[str]) -> None:
    root = workspace.root
    (root / "a").mkdir(exist_ok=True)
    for name, target in (("out", "../.."), ("inside", "a"), ("dangling", "../../nowhere/at/all")):
        if not (root / name).is_symlink():
            (root / name).symlink_to(target)
    try:
        resolved = workspace.resolve("/".join(fragments))
    except ToolProblem:
        return
    assert Path(os.path.realpath(resolved)).is_relative_to(root)


def test_unconfined_everything_resolves(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    workspace = Workspace(tmp_path / "w", confined=False)
    assert workspace.resolve("/etc/hosts") == Path("/etc/hosts").resolve()
    assert workspace.resolve("~/x") == tmp_path.resolve() / "x"
    assert workspace.resolve("x") == workspace.root / "x"


def test_paths_are_shown_as_the_user_knows_them(workspace: Workspace) -> None:
    assert workspace.show(workspace.root / "a" / "b") == "a/b"
    assert workspace.show(workspace.root) == "."
    assert workspace.show(Path("/elsewhere")) == "/elsewhere"
