"""Which shell commands the demo model dares to ask for.

It cannot judge a command as a real model might, so it keeps to a short list of harmless ones, and
to one that people are asked about before it runs.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Mapping

_LOCAL_PATH = r"(?![-/])(?!.*\.\.).+"
"""A path that stays in the workspace: relative, and never upwards."""

HARMLESS: Mapping[str, str] = {
    "cat": rf"-[bns]+|{_LOCAL_PATH}",
    "date": r"-u|\+.+",
    "df": r"-[hikT]+|\.",
    "du": rf"-[ahs]+|{_LOCAL_PATH}",
    "echo": r".*",
    "free": r"-[bhkm]+",
    "head": rf"-[ncqv]?\d*|{_LOCAL_PATH}",
    "hostname": r"(?!)",
    "id": r"-[gnu]+",
    "ls": rf"-[1AFRSahlrst]+|{_LOCAL_PATH}",
    "nproc": r"(?!)",
    "pwd": r"(?!)",
    "python3": r"--version|-V",
    "sleep": r"\d{1,3}",
    "tail": rf"-[nc]?\d*|{_LOCAL_PATH}",
    "uname": r"-[a-z]+",
    "uptime": r"-p",
    "wc": rf"-[clmw]+|{_LOCAL_PATH}",
    "whoami": r"(?!)",
}
"""Each program with what every one of its further words must look like; `(?!)` allows none."""

ASKED_ABOUT: Mapping[str, str] = {"rm": rf"-[rfv]+|(?!\.)(?:{_LOCAL_PATH})"}
"""Destructive, so the gateway asks first; here only for files of the workspace."""

_NEEDS_ARGUMENT = frozenset({"python3", "sleep"})

_SPECIAL_EVERYWHERE = frozenset("$`\\")
_SPECIAL_UNQUOTED = frozenset(";&|<>*?[]{}()~#!")


def is_harmless(command: str) -> bool:
    return _is_one_of(HARMLESS, command)


def is_asked_about(command: str) -> bool:
    """With an option and a file: what is left out would not be asked about, or not work."""
    return _is_one_of(ASKED_ABOUT, command) and " -" in command and len(command.split()) > 2


def _is_one_of(programs: Mapping[str, str], command: str) -> bool:
    """True when a shell would run exactly one of these programs, with allowed words only."""
    if not _is_plain(command):
        return False
    try:
        program, *words = shlex.split(command)
    except ValueError:  # nothing there, or a quote that is never closed
        return False
    if program not in programs or (program in _NEEDS_ARGUMENT and not words):
        return False
    return all(re.fullmatch(programs[program], word) for word in words)


def _is_plain(command: str) -> bool:
    """True when no character of `command` means more to a shell than itself."""
    quote = ""
    for character in command:
        if character in _SPECIAL_EVERYWHERE or not character.isprintable():
            return False
        if quote:
            quote = "" if character == quote else quote
        elif character in "'\"":
            quote = character
        elif character in _SPECIAL_UNQUOTED:
            return False
    return True
