"""The flags of Claude Code: what a profile may do, and what no checkout may change.

What is promised here was tried with the real CLI and a hostile repository. Two facts shape it:
a checkout's settings run commands and redirect the provider unless their sources are named away,
and `@path` in a prompt is read by the CLI itself, tools or not, unless reading is denied.
"""

from __future__ import annotations

import json

from hermes.backends.drivers.base import Installed
from hermes.backends.jobs import Setup
from hermes.core.cli_agents import Profile

_CONFINED = "--restricted"
_UNFIXED_PROMPT = "--system-prompt-snapshot"
_KNOWS_BOTH = (2, 1, 325)
"""A version that knows them, for a CLI whose help could not be read."""

_GUARDS = (
    # Hooks, key helpers, another base URL, permissions: all of them come with settings files.
    ("--setting-sources", ""),
    ("--strict-mcp-config",),
    # A prompt that begins with a slash is text.
    ("--disable-slash-commands",),
)
"""Given to every call, unless the operator's own arguments say something about them."""

_READING = ("Read", "Glob", "Grep")
_EDITING = (
    *_READING,
    *("Edit", "Write", "NotebookEdit", "TodoWrite"),
    *("Bash", "Task", "TaskOutput", "TaskStop", "WebFetch", "WebSearch"),
)
_NEEDS_A_PERSON = ("AskUserQuestion", "EnterPlanMode", "ExitPlanMode")
"""Tools that wait for somebody at a terminal."""

_EFFORTS = {"none": "low", "minimal": "low"} | {
    name: name for name in ("low", "medium", "high", "xhigh", "max")
}
"""What the gateway's clients say, as the CLI calls it."""


def can_confine(installed: Installed) -> bool:
    """Whether the CLI can confine its file tools, and `@path`, to the workspace."""
    return _knows(installed, _CONFINED)


def flags(installed: Installed, setup: Setup) -> list[str]:
    """Everything but how it is talked to, and its system prompt."""
    return [
        *_guards(installed),
        *_of_profile(setup.profile, can_be_confined=can_confine(installed)),
        *_of_session(installed, setup),
        *_of_model(setup),
    ]


def schema_flags(setup: Setup) -> list[str]:
    if setup.answer_schema is None:
        return []
    return ["--json-schema", json.dumps(setup.answer_schema)]


def _knows(installed: Installed, flag: str) -> bool:
    return flag in installed.help or installed.version >= _KNOWS_BOTH


def _guards(installed: Installed) -> list[str]:
    return [word for guard in _GUARDS if guard[0] not in installed.command for word in guard]


def _of_profile(profile: Profile, *, can_be_confined: bool) -> list[str]:
    match profile:
        case Profile.CHAT:
            # The rule keeps `@path` from reading anything, the workspace included.
            silent = ["--tools", "", "--disallowedTools", "Read(//**)"]
            return [_CONFINED, *silent] if can_be_confined else silent
        case Profile.READ_ONLY:
            # A CLI that cannot be confined refuses to start.
            return [_CONFINED, "--tools", ",".join(_READING)]
        case Profile.EDIT:
            mode = ["--permission-mode", "acceptEdits"]
            return [_CONFINED, *mode, "--tools", ",".join(_EDITING)]
        case Profile.FULL:
            mode = ["--permission-mode", "bypassPermissions"]
            return [*mode, "--disallowedTools", ",".join(_NEEDS_A_PERSON)]


def _of_session(installed: Installed, setup: Setup) -> list[str]:
    session = setup.session
    if session is None:
        return ["--no-session-persistence"]
    # Otherwise a session keeps the system prompt of its first turn, whatever later ones say.
    fresh = [_UNFIXED_PROMPT, "off"] if _knows(installed, _UNFIXED_PROMPT) else []
    if session.id is None:
        return fresh
    return [*fresh, "--resume" if session.is_resumed else "--session-id", session.id]


def _of_model(setup: Setup) -> list[str]:
    words = ["--model", setup.model] if setup.model else []
    if setup.reasoning_effort in _EFFORTS:
        words += ["--effort", _EFFORTS[setup.reasoning_effort]]
    if setup.max_cost_usd is not None:
        words += ["--max-budget-usd", f"{setup.max_cost_usd:.6f}"]
    return words
