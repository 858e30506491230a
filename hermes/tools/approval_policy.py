"""Whether a tool call may run, must be asked about, or is denied.

The operator's rules come first. Where none fits, calls that destroy something or write outside the
workspace are asked about and everything else is allowed. A belt for mistakes, not a sandbox.
"""

from __future__ import annotations

import json
import shlex
from collections.abc import Mapping
from dataclasses import dataclass
from enum import Enum
from fnmatch import fnmatchcase
from typing import Any
from urllib.parse import urlsplit

from hermes.settings.model import ApprovalRule, ApprovalSettings
from hermes.tools.dangers import danger_of
from hermes.tools.problem import ToolProblem
from hermes.tools.python_dangers import danger_of_code
from hermes.tools.workspace import Workspace

_BY_RULE = "needs approval, as a rule of the operator says"
_RULED_OUT = "is forbidden by a rule of the operator"
_WRITING = frozenset({"write_file", "patch_file"})
_OUTSIDE = "writes outside the workspace"


class Action(Enum):
    """What is done about a call."""

    ALLOW = "allow"
    ASK = "ask"
    DENY = "deny"


@dataclass(frozen=True, slots=True, kw_only=True)
class Verdict:
    """What the policy says about one call."""

    action: Action
    shown: str
    """Exactly what the call would do, for a person to read."""
    reason: str = ""
    """Why it is not simply allowed, in words that follow "it"."""


def judge(
    approvals: ApprovalSettings,
    tool: str,
    arguments: Mapping[str, Any],
    workspace: Workspace,
    *,
    key: str,
    asks: str = "",
) -> Verdict:
    """What is to be done about a call with these arguments, which are as the tool gets them.

    `asks` is what the tool itself says against its calls. May block: where a path leads is looked
    up.
    """
    shown = _shown(tool, arguments)
    for rule in approvals.rules:
        if _fits(rule, tool, _subject(tool, arguments), key):
            return Verdict(action=Action(rule.action), shown=shown, reason=_REASONS[rule.action])
    if approvals.mode == "allow":
        return Verdict(action=Action.ALLOW, shown=shown)
    danger = asks or _danger(tool, arguments, workspace)
    if danger is None:
        return Verdict(action=Action.ALLOW, shown=shown)
    return Verdict(action=Action(approvals.mode), shown=shown, reason=danger)


def judge_asked(
    approvals: ApprovalSettings, tool: str, shown: str, *, key: str, reason: str
) -> Verdict:
    """The same for a tool that is not ours, whose owner asks before it runs it.

    Rules are compared with what it shows; where none fits, the mode decides.
    """
    visible = _visible(shown)
    for rule in approvals.rules:
        if _fits(rule, tool, shown, key):
            said = _REASONS[rule.action]
            return Verdict(action=Action(rule.action), shown=visible, reason=said)
    return Verdict(action=Action(approvals.mode), shown=visible, reason=reason)


_REASONS = {"allow": "", "ask": _BY_RULE, "deny": _RULED_OUT}


def _fits(rule: ApprovalRule, tool: str, subject: str, key: str) -> bool:
    return (
        fnmatchcase(tool, rule.tool)
        and fnmatchcase(subject, rule.pattern or "*")
        and fnmatchcase(key, rule.key)
    )


def _danger(tool: str, arguments: Mapping[str, Any], workspace: Workspace) -> str | None:
    if tool == "terminal":
        return _danger_of_command(arguments, workspace)
    if tool == "python":
        return danger_of_code(str(arguments.get("code", "")), workspace.root, workspace.root)
    if tool in _WRITING and _is_outside(str(arguments.get("path", "")), workspace):
        return _OUTSIDE
    return None


def _danger_of_command(arguments: Mapping[str, Any], workspace: Workspace) -> str | None:
    try:
        folder = workspace.resolve(str(arguments.get("workdir", ".")))
    except ToolProblem:
        return None  # the tool refuses it, and says why
    return danger_of(str(arguments.get("command", "")), folder, workspace.root)


def _is_outside(path: str, workspace: Workspace) -> bool:
    try:
        return not workspace.resolve(path).is_relative_to(workspace.root)
    except ToolProblem:
        return False  # the tool refuses it, and says why


def _subject(tool: str, arguments: Mapping[str, Any]) -> str:
    """What the pattern of a rule is compared with."""
    if tool == "terminal":
        return str(arguments.get("command", ""))
    if tool == "web_fetch":
        return _plain_url(str(arguments.get("url", "")))
    if tool == "web_search":
        return str(arguments.get("query", ""))
    if tool == "python":
        return str(arguments.get("code", ""))
    if "path" in arguments:
        return str(arguments["path"])
    return json.dumps(dict(arguments), ensure_ascii=False, default=str)


def _plain_url(url: str) -> str:
    """With scheme and host in lower case, so that a rule cannot be evaded by spelling them."""
    try:
        parts = urlsplit(url.strip())
    except ValueError:
        return url  # the tool refuses it, and says why
    return parts._replace(netloc=parts.netloc.lower()).geturl()


def _shown(tool: str, arguments: Mapping[str, Any]) -> str:
    subject = _subject(tool, arguments)
    workdir = str(arguments.get("workdir", ".")) if tool == "terminal" else "."
    if workdir not in (".", ""):
        # Said as a command, so that it means the same thing to whoever reads it.
        subject = f"cd {shlex.quote(workdir)} && {subject}"
    return _visible(subject)


def _visible(text: str) -> str:
    """With everything that could hide a part of it spelled out."""
    if text.isprintable():
        return text
    return "".join(
        each if each.isprintable() or each in "\n\t" else each.encode("unicode_escape").decode()
        for each in text
    )
