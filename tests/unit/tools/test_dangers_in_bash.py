"""What bash really runs is not overlooked: commands found harmless are given to bash itself.

The only programs it finds are `bash` and an `rm` that notes how it was called.
"""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st

from hermes.tools.dangers import danger_of

BASH = shutil.which("bash")
DELETE = "rm -rf build"
PARTS = (
    DELETE, "X='rm -rf build'", "$X", '"$X"', "eval", "bash", "bash -c", "X=", "a", "-", "=",
    ";", "&&", "||", "|", "&", "\n", "!", "#", "\\", "'", '"', "`", "$(", ")", "(", "((", "))",
    "$((", "${x:-", "}", "{", "$'", "<(", "<<<", "<<A", "\nA\n", "> out", "2>&1", "[[", "]]",
    "if true", "then", "fi", "case x in", "x)", ";;", "esac", "for i in 1; do", "done", "f()",
    "function g", "time",
)  # fmt: skip

lines = st.lists(
    st.tuples(st.sampled_from(PARTS), st.sampled_from(("", " "))), min_size=1, max_size=8
).map(lambda parts: "".join(part + blank for part, blank in parts))


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("bash")
    (folder / "workspace").mkdir()
    (folder / "bin").mkdir()
    fake = folder / "bin" / "rm"
    fake.write_text(f'#!{BASH}\necho "$*" >> {folder}/ran\n')
    fake.chmod(0o700)
    (folder / "bin" / "bash").symlink_to(str(BASH))
    return folder


@pytest.mark.skipif(BASH is None, reason="there is no bash on this machine")
@given(before=lines, after=lines)
@settings(max_examples=100, deadline=None, suppress_health_check=[HealthCheck.filter_too_much])
def test_a_command_that_is_found_harmless_deletes_nothing(
    folder: Path, before: str, after: str
) -> None:
    command = before + DELETE + after
    root = (folder / "workspace").resolve()
    assume(danger_of(command, root, root) is None)
    ran = folder / "ran"
    ran.unlink(missing_ok=True)
    subprocess.run(
        [str(BASH), "-c", command],
        cwd=root,
        env={"PATH": str(folder / "bin")},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        timeout=20,
    )
    assert "-rf" not in (ran.read_text() if ran.exists() else "")
