"""Code that obviously destroys something, or runs what does, is asked about; the rest is not."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hermes.settings.model import ApprovalRule, ApprovalSettings
from hermes.tools.approval_policy import Action, judge
from hermes.tools.python_dangers import CODE_LATER, DELETES, ENDS, LATER, danger_of_code
from hermes.tools.shell_calls import OUTSIDE
from hermes.tools.workspace import Workspace


def danger(code: str, root: Path = Path("/w")) -> str | None:
    return danger_of_code(code, root, root)


@pytest.mark.parametrize(
    ("code", "reason"),
    [
        ("import shutil\nshutil.rmtree('build')", DELETES),
        ("import os as o\no.remove('a')", DELETES),
        ("from shutil import rmtree as away\naway('x')", DELETES),
        ("from os import *\nunlink('x')", DELETES),
        ("from pathlib import Path\nfor p in Path('.').glob('*'): p.unlink()", DELETES),
        ("import os\nlist(map(os.remove, files))", DELETES),
        ("import os\ngetattr(os, 'remove')('a')", DELETES),
        ("import os\ngetattr(os, 'rem' + 'ove')('a')", CODE_LATER),
        ("__import__('os').remove('a')", DELETES),
        ("import importlib\nimportlib.import_module('shutil').rmtree('a')", DELETES),
        ("exec(\"import os; os.remove('a')\")", DELETES),
        ("exec(open('a.py').read())", CODE_LATER),
        ("import os, signal\nos.kill(1, signal.SIGTERM)", ENDS),
        ("import os\nos.system('rm -rf build')", "deletes files recursively"),
        ("import subprocess\nsubprocess.run(['rm', '-rf', 'x'])", "deletes files recursively"),
        ("import subprocess\nsubprocess.run(command)", LATER),
        ("import subprocess\nrun = subprocess.run\nrun('ls')", LATER),
        ("import os\nos.execvp('ls', ['ls'])", LATER),
        ("open('/etc/hosts', 'w')", OUTSIDE),
        ("open('/etc/hosts', mode='a')", OUTSIDE),
        ("from pathlib import Path\nPath('/etc/x').write_text('')", OUTSIDE),
        ("from pathlib import Path\nPath('../x').write_bytes(b'')", OUTSIDE),
    ],
)
def test_what_destroys_is_seen(code: str, reason: str) -> None:
    assert danger(code) == reason


@pytest.mark.parametrize(
    "code",
    [
        "print(sum(range(10)))",
        "import os\nprint(os.listdir('.'), os.path.exists('a'))",
        "open('a.txt', 'w').write('x')",
        "open('/etc/hosts').read()",
        "from pathlib import Path\nPath('a.txt').write_text('x')",
        "import subprocess\nsubprocess.run(['git', 'status'], check=True)",
        "import subprocess\nsubprocess.check_output('ls -l', shell=True)",
        "items = [1]\nitems.remove(1)",
        "import json\nprint(json.dumps({'os.remove': 1}))",
        "def broken(:",
        "",
    ],
)
def test_what_only_looks_or_works_in_the_workspace_is_not(code: str) -> None:
    assert danger(code) is None


@given(code=st.text(max_size=60))
def test_no_text_breaks_the_look(code: str) -> None:
    danger(code)


@pytest.mark.parametrize("code", ["(" * 5000, "+".join("1" * 50_000), "x" * 200_000, "-" * 9000])
def test_what_nests_too_deeply_is_survived(code: str) -> None:
    danger(code)


def test_a_person_is_asked_and_shown_the_code(tmp_path: Path) -> None:
    code = "import os\nos.remove('a')"
    verdict = judge(
        ApprovalSettings(), "python", {"code": code}, Workspace(tmp_path), key="default"
    )
    assert (verdict.action, verdict.shown, verdict.reason) == (Action.ASK, code, DELETES)


def test_rules_are_compared_with_the_code(tmp_path: Path) -> None:
    rule = ApprovalRule(tool="python", pattern="*socket*", action="deny")
    rules = ApprovalSettings(rules=(rule,))
    workspace = Workspace(tmp_path)
    asked = {"code": "import socket"}
    assert judge(rules, "python", asked, workspace, key="k").action is Action.DENY
    assert judge(rules, "python", {"code": "1"}, workspace, key="k").action is Action.ALLOW


def test_a_command_in_the_background_is_judged_like_any_other(tmp_path: Path) -> None:
    arguments = {"command": "rm -rf build", "background": True}
    verdict = judge(ApprovalSettings(), "terminal", arguments, Workspace(tmp_path), key="k")
    assert (verdict.action, verdict.shown) == (Action.ASK, "rm -rf build")
