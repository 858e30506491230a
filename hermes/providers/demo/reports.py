"""How the demo model speaks about what a tool reported.

A result it does not recognise is quoted as it is, so that a failure is never told as a success.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from hermes.providers.demo.moves import Use

_ENTRY = re.compile(r".+(?:/| \(.+\)| -> .+)|\[.+\]")
_NUMBERED_LINE = re.compile(r"\s*\d+\t(?P<text>.*)")
_MATCHING_LINE = re.compile(r".+:\d+: .*|\[.+\]")
_NOTE = re.compile(r"\n?\[(?P<note>[^\n]+)\]\s*\Z")
_APPROVAL = re.compile(r"\n\[(?P<note>approved by the user[^\n\]]*)\]\s*\Z")
_REFUSED = ("Denied", "Not approved")
"""How the answer begins to a call that was not made because nobody approved it."""
_SUCCESS = "exit code 0"


def report(used: Sequence[Use], results: Sequence[str]) -> str:
    """Speaks about each tool and its result, in order."""
    pairs = zip(used, results, strict=False)
    return "\n\n".join(_report_one(use, result.strip("\n")) for use, result in pairs)


def _report_one(use: Use, result: str) -> str:
    if result.startswith(_REFUSED):
        return _left_alone(use, result)
    result, note = _without_approval(result)
    told = _told(use, result)
    return f"{told}\n\n(It was {note}.)" if note else told


def _told(use: Use, result: str) -> str:
    known = _TELL[use.tool](use, result) if knows(use.tool) else None
    return known or quote(use.tool, result)


def _left_alone(use: Use, result: str) -> str:
    wanted = use.arguments.get("command") or use.arguments.get("path") or use.tool
    return f"All right: I have left it alone, and `{wanted}` was not run.\n\n> {result}"


def _without_approval(result: str) -> tuple[str, str]:
    """The result without the last line that says who approved the call, and that line."""
    found = _APPROVAL.search(result)
    return (result[: found.start()], found["note"]) if found else (result, "")


def quote(tool: str, result: str) -> str:
    """Speaks about the result of a tool it does not know."""
    return f"I used `{tool}`. It answered: {result or 'nothing at all.'}"


def knows(tool: str) -> bool:
    """Whether this is one of the server's own tools, which have phrases of their own."""
    return tool in _TELL


def _listed(use: Use, result: str) -> str | None:
    lines = result.splitlines()
    if not _all_match(_ENTRY, lines):
        return None
    path = use.arguments["path"]
    place = "the workspace" if path == "." else f"`{path}`"
    return f"In {place} I found:\n\n" + "\n".join(f"- {line}" for line in lines)


def _read(use: Use, result: str) -> str | None:
    body, note = _without_note(result)
    lines = body.split("\n")
    if not _all_match(_NUMBERED_LINE, lines):
        return None
    text = "\n".join(line.split("\t", 1)[1] for line in lines)
    told = f"This is `{use.arguments['path']}`:\n\n{_fenced(text)}"
    return f"{told}\n\n({note})" if note else told


def _wrote(use: Use, result: str) -> str | None:
    return f"I asked for `{use.arguments['path']}` to be written. The tool answered: {result}"


def _patched(use: Use, result: str) -> str | None:
    if not result.startswith("--- "):
        return None
    return f"I changed `{use.arguments['path']}`:\n\n{_fenced(result, 'diff')}"


def _searched(use: Use, result: str) -> str | None:
    if not _all_match(_MATCHING_LINE, result.splitlines()):
        return None
    return f"These lines match `{use.arguments['pattern']}`:\n\n{_fenced(result)}"


def _ran_command(use: Use, result: str) -> str | None:
    output, note = _without_note(result)
    if not note:
        return None
    ending = "" if note == _SUCCESS else f" It did not end well: {note}."
    return f"I ran `{use.arguments['command']}`.{ending}\n\n{_fenced(output)}"


_TELL = {
    "list_files": _listed,
    "read_file": _read,
    "write_file": _wrote,
    "patch_file": _patched,
    "search_files": _searched,
    "terminal": _ran_command,
}


def _all_match(pattern: re.Pattern[str], lines: Sequence[str]) -> bool:
    return bool(lines) and all(pattern.fullmatch(line) for line in lines)


def _without_note(result: str) -> tuple[str, str]:
    """The result and the remark in brackets that tools put on their last line."""
    found = _NOTE.search(result)
    return (result[: found.start()], found["note"]) if found else (result, "")


def _fenced(text: str, language: str = "") -> str:
    """A code block whose fence is longer than any run of backticks inside."""
    longest = max((len(run) for run in re.findall(r"`+", text)), default=0)
    fence = "`" * max(3, longest + 1)
    return f"{fence}{language}\n{text}\n{fence}"
