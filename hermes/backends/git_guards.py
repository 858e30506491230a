"""Settings that keep git from running what a repository wants it to run. Pure.

The configuration of a repository may have been written by whoever worked in it last: an agent, for
instance. Configuration of the machine and of the user is trusted; that of the repository may say
how things are, but not which programs to start.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

ALWAYS = (
    ("core.hooksPath", "/dev/null"),
    ("core.fsmonitor", "false"),
    ("protocol.ext.allow", "never"),
    ("push.gpgSign", "false"),
    # Submodules lie wherever the checkout says.
    ("submodule.recurse", "false"),
    ("fetch.recurseSubmodules", "false"),
    ("push.recurseSubmodules", "no"),
    # Housekeeping would go on in the background after we are done.
    ("gc.auto", "0"),
    ("maintenance.auto", "false"),
)

VARIABLES = {
    # Each of them wins over the setting of the same purpose.
    "GIT_PROXY_COMMAND": "",
    "GIT_EDITOR": "false",
    "GIT_PAGER": "cat",
}

_HARMLESS = (
    (re.compile(r"filter\..*\.(clean|smudge|process)", re.DOTALL), ""),
    (re.compile(r"filter\..*\.required", re.DOTALL), "false"),
    # A command that lists nothing.
    (re.compile(r"core\.alternaterefscommand"), "true"),
)
"""Settings that name programs, and what they are set to if only a repository has them."""

_CREDENTIAL_HELPER = re.compile(r"credential\.(.*\.)?helper", re.DOTALL)
_UNTRUSTED_SCOPES = frozenset({"local", "worktree"})

Pair = tuple[str, str]


@dataclass(frozen=True, slots=True)
class Entry:
    """One line of configuration, and how far it reaches."""

    scope: str
    name: str
    value: str

    @property
    def is_trusted(self) -> bool:
        return self.scope not in _UNTRUSTED_SCOPES


def read_entries(listing: bytes) -> list[Entry]:
    """What `git config --list --show-scope -z` prints."""
    words = listing.decode(errors="surrogateescape").split("\0")
    pairs = zip(words[::2], words[1::2], strict=False)
    return [Entry(scope, *_name_and_value(line)) for scope, line in pairs]


def _name_and_value(line: str) -> Pair:
    # A name alone, without a value, says "true".
    name, has_value, value = line.partition("\n")
    return name, value if has_value else "true"


def guards(entries: Sequence[Entry]) -> list[Pair]:
    """What to say on top of these entries, so that the repository starts no program."""
    return [*ALWAYS, *_disarmed(entries), *_trusted_helpers(entries)]


def _disarmed(entries: Sequence[Entry]) -> list[Pair]:
    trusted = {entry.name: entry.value for entry in entries if entry.is_trusted}
    return [
        (entry.name, trusted.get(entry.name, harmless))
        for entry in entries
        if not entry.is_trusted
        for pattern, harmless in _HARMLESS
        if pattern.fullmatch(entry.name)
    ]


def _trusted_helpers(entries: Sequence[Entry]) -> list[Pair]:
    """Credential helpers add up; an empty one drops all before it."""
    helpers = [entry for entry in entries if _CREDENTIAL_HELPER.fullmatch(entry.name)]
    if all(helper.is_trusted for helper in helpers):
        return []
    kept = [(helper.name, helper.value) for helper in helpers if helper.is_trusted]
    return [("credential.helper", ""), *kept]


def as_variables(pairs: Sequence[Pair]) -> dict[str, str]:
    """The environment that says so; unlike arguments, it takes any name."""
    variables = {"GIT_CONFIG_COUNT": str(len(pairs))}
    for at, (name, value) in enumerate(pairs):
        variables |= {f"GIT_CONFIG_KEY_{at}": name, f"GIT_CONFIG_VALUE_{at}": value}
    return variables
