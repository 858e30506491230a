"""The operator's rules come first; without one, what destroys or leaves the workspace is asked."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hermes.settings.model import ApprovalAction, ApprovalRule, ApprovalSettings
from hermes.tools.approval_policy import Action, Verdict, judge
from hermes.tools.workspace import Workspace

DANGER = {"command": "rm -r build"}


def rule(action: ApprovalAction, **fields: str) -> ApprovalSettings:
    return ApprovalSettings(rules=(ApprovalRule(action=action, **fields),))


def judged(
    approvals: ApprovalSettings,
    tool: str,
    arguments: dict[str, Any],
    root: Path,
    *,
    key: str = "default",
    confined: bool = True,
) -> Verdict:
    return judge(approvals, tool, arguments, Workspace(root, confined), key=key)


def test_by_default_destructive_commands_are_asked_about(tmp_path: Path) -> None:
    assert judged(ApprovalSettings(), "terminal", DANGER, tmp_path) == Verdict(
        action=Action.ASK, shown="rm -r build", reason="deletes files recursively"
    )


@pytest.mark.parametrize(
    ("tool", "arguments"),
    [
        ("terminal", {"command": "ls -la"}),
        ("read_file", {"path": "a.txt"}),
        ("write_file", {"path": "a.txt", "content": ""}),
        ("something_else", {"rm": "-rf"}),
    ],
)
def test_by_default_the_rest_is_allowed(
    tool: str, arguments: dict[str, Any], tmp_path: Path
) -> None:
    assert judged(ApprovalSettings(), tool, arguments, tmp_path).action is Action.ALLOW


@pytest.mark.parametrize("tool", ["write_file", "patch_file"])
def test_writing_outside_an_open_workspace_is_asked_about(tool: str, tmp_path: Path) -> None:
    verdict = judged(ApprovalSettings(), tool, {"path": "/etc/hosts"}, tmp_path, confined=False)
    assert verdict == Verdict(
        action=Action.ASK, shown="/etc/hosts", reason="writes outside the workspace"
    )


def test_reading_outside_an_open_workspace_is_allowed(tmp_path: Path) -> None:
    verdict = judged(
        ApprovalSettings(), "read_file", {"path": "/etc/hosts"}, tmp_path, confined=False
    )
    assert verdict.action is Action.ALLOW


def test_a_confined_workspace_refuses_by_itself_and_needs_no_question(tmp_path: Path) -> None:
    verdict = judged(ApprovalSettings(), "write_file", {"path": "/etc/hosts"}, tmp_path)
    assert verdict.action is Action.ALLOW
    away = {"command": "rm -r x", "workdir": "/etc"}
    assert judged(ApprovalSettings(), "terminal", away, tmp_path).action is Action.ALLOW


@pytest.mark.parametrize(
    ("mode", "action"), [("ask", Action.ASK), ("allow", Action.ALLOW), ("deny", Action.DENY)]
)
def test_the_mode_says_what_becomes_of_what_would_be_asked(
    mode: ApprovalAction, action: Action, tmp_path: Path
) -> None:
    approvals = ApprovalSettings(mode=mode)
    assert judged(approvals, "terminal", DANGER, tmp_path).action is action
    assert judged(approvals, "terminal", {"command": "ls"}, tmp_path).action is Action.ALLOW


@pytest.mark.parametrize(
    ("fields", "fits"),
    [
        ({}, True),
        ({"tool": "terminal"}, True),
        ({"tool": "term*"}, True),
        ({"tool": "write_file"}, False),
        ({"pattern": "rm -r *"}, True),
        ({"pattern": ""}, True),
        ({"pattern": "rm"}, False),
        ({"key": "default"}, True),
        ({"key": "ci-*"}, False),
        ({"tool": "terminal", "pattern": "rm *", "key": "def*"}, True),
        ({"tool": "terminal", "pattern": "rm *", "key": "other"}, False),
    ],
)
def test_a_rule_fits_when_all_of_its_patterns_do(
    fields: dict[str, str], fits: bool, tmp_path: Path
) -> None:
    verdict = judged(rule("allow", **fields), "terminal", DANGER, tmp_path)
    assert (verdict.action is Action.ALLOW) is fits


def test_the_first_rule_that_fits_decides(tmp_path: Path) -> None:
    approvals = ApprovalSettings(
        mode="allow",
        rules=(
            ApprovalRule(tool="terminal", pattern="git push*", action="deny"),
            ApprovalRule(tool="terminal", pattern="git *", action="allow"),
            ApprovalRule(tool="terminal", action="ask"),
        ),
    )

    def action(command: str) -> Action:
        return judged(approvals, "terminal", {"command": command}, tmp_path).action

    assert action("git push") is Action.DENY
    assert action("git status") is Action.ALLOW
    assert action("ls") is Action.ASK


def test_a_pattern_is_compared_with_the_path_of_a_file(tmp_path: Path) -> None:
    approvals = rule("deny", tool="*_file", pattern="*.env")
    assert judged(approvals, "read_file", {"path": "prod.env"}, tmp_path).action is Action.DENY
    assert judged(approvals, "read_file", {"path": "a.txt"}, tmp_path).action is Action.ALLOW


def test_a_tool_without_a_path_is_shown_with_its_arguments(tmp_path: Path) -> None:
    verdict = judged(rule("ask"), "lookup", {"city": "Köln"}, tmp_path)
    assert (verdict.action, verdict.shown) == (Action.ASK, '{"city": "Köln"}')


def test_a_command_in_another_folder_says_so(tmp_path: Path) -> None:
    (tmp_path / "my sub").mkdir()
    arguments = {"command": "rm -r build", "workdir": "my sub"}
    shown = judged(ApprovalSettings(), "terminal", arguments, tmp_path).shown
    assert shown == "cd 'my sub' && rm -r build"


@pytest.mark.parametrize(
    ("command", "shown"),
    [
        ("rm -r a\r\x1b[2Kls", "rm -r a\\r\\x1b[2Kls"),
        ("rm -r \u202etxt.a", "rm -r \\u202etxt.a"),
        ("ls\n\trm -r a", "ls\n\trm -r a"),
    ],
)
def test_nothing_in_a_command_can_hide_a_part_of_it(
    command: str, shown: str, tmp_path: Path
) -> None:
    assert judged(ApprovalSettings(), "terminal", {"command": command}, tmp_path).shown == shown


@given(st.text(max_size=40))
def test_what_is_shown_has_nothing_invisible_but_line_breaks_and_tabs(command: str) -> None:
    shown = judge(
        ApprovalSettings(mode="allow"), "terminal", {"command": command}, OPEN, key="k"
    ).shown
    assert all(each.isprintable() or each in "\n\t" for each in shown)


OPEN = Workspace(Path("/"), confined=False)


@pytest.mark.parametrize(
    ("url", "action"),
    [
        ("https://evil.example/a?b=c", Action.DENY),
        ("HTTPS://Evil.Example/a", Action.DENY),
        (" https://evil.example/a", Action.DENY),
        ("https://good.example/?see=https://evil.example/a", Action.ALLOW),
        ("http://[bad", Action.ALLOW),
    ],
)
def test_rules_judge_pages_by_their_url(url: str, action: Action, tmp_path: Path) -> None:
    rules = rule("deny", tool="web_fetch", pattern="https://evil.example/*")
    verdict = judged(rules, "web_fetch", {"url": url, "offset": 0}, tmp_path)
    assert verdict.action is action


def test_a_question_about_a_page_or_a_search_shows_what_is_asked_for(tmp_path: Path) -> None:
    asked = rule("ask", tool="web_*")
    page = judged(asked, "web_fetch", {"url": "https://Pages.example/A"}, tmp_path)
    assert (page.action, page.shown) == (Action.ASK, "https://pages.example/A")
    search = judged(asked, "web_search", {"query": "some words"}, tmp_path)
    assert (search.action, search.shown) == (Action.ASK, "some words")
