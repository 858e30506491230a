"""What a child process may know of our environment, and what no message of ours may show."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from pathlib import Path

from hermes.settings.redaction import mask, names_a_secret

PLAIN = re.compile(
    "PATH|HOME|USER|LOGNAME|SHELL|TERM|LANG|LANGUAGE|LC_[A-Z]+|TZ|TMPDIR"
    "|XDG_(CONFIG|DATA|CACHE|STATE)_HOME|XDG_RUNTIME_DIR"
    "|(HTTP|HTTPS|ALL|NO)_PROXY|(http|https|all|no)_proxy"
    "|SSL_CERT_FILE|SSL_CERT_DIR|NODE_EXTRA_CA_CERTS"
)
"""Where things are, how to speak, how to reach the network: no secrets among them."""

CLAUDE_PREFIXES = ("ANTHROPIC_", "CLAUDE_")
"""The CLI's own settings, its login included."""

CLAUDE_DEFAULTS = {
    # The CLI retries a refused key for more than a minute by default; a caller is waiting.
    "CLAUDE_CODE_MAX_RETRIES": "2",
    # A run must not replace the program it is running.
    "DISABLE_AUTOUPDATER": "1",
}

GIT_SETTINGS = {
    # Nobody is there to answer a question: fail instead of asking.
    "GIT_TERMINAL_PROMPT": "0",
    "GIT_ASKPASS": "/bin/false",
    "SSH_ASKPASS": "/bin/false",
    "GIT_SSH_COMMAND": "ssh -oBatchMode=yes",
    # Messages are read by `git.py` and shown to callers: one language.
    "LC_ALL": "C.UTF-8",
}


_PLACES = re.compile("HOME|TMPDIR|XDG_[A-Z]+_HOME|XDG_RUNTIME_DIR")
"""Those of the user, which a job has no business in."""

_PROXY = re.compile("(HTTP|HTTPS|ALL)_PROXY", re.IGNORECASE)
_LOOPBACK = ("localhost", "127.0.0.1", "::1")


def for_job(environ: Mapping[str, str], also: Iterable[str] = ()) -> dict[str, str]:
    """What every job of a CLI agent may know: the plain variables, without the user's places.

    `also` names further ones: the login of the CLI, and what the operator allows.
    """
    plain = {name: value for name, value in _plain(environ).items() if not _PLACES.fullmatch(name)}
    return plain | _around_the_proxy(plain) | _only(environ, set(also))


def _around_the_proxy(plain: Mapping[str, str]) -> dict[str, str]:
    """A job may have to reach the gateway itself, and no proxy leads there."""
    if not any(_PROXY.fullmatch(name) for name in plain):
        return {}
    known = plain.get("no_proxy") or plain.get("NO_PROXY") or ""
    hosts = [host.strip() for host in known.split(",") if host.strip()]
    value = ",".join([*hosts, *(host for host in _LOOPBACK if host not in hosts)])
    return {"no_proxy": value, "NO_PROXY": value}


def for_claude(environ: Mapping[str, str]) -> dict[str, str]:
    """The CLI's environment: the plain variables and its own, not the bridge's token."""
    own = {name: value for name, value in environ.items() if name.startswith(CLAUDE_PREFIXES)}
    sandbox = _only(environ, {"IS_SANDBOX"})
    return CLAUDE_DEFAULTS | _plain(environ) | sandbox | own


def for_git(environ: Mapping[str, str], workspace: Path) -> dict[str, str]:
    """Git's environment; it looks for a repository in `workspace` and never above it."""
    ceiling = {"GIT_CEILING_DIRECTORIES": str(workspace.resolve().parent)}
    return _plain(environ) | _only(environ, {"SSH_AUTH_SOCK"}) | GIT_SETTINGS | ceiling


def redact(text: str, environ: Mapping[str, str]) -> str:
    """`text` without the value of any variable whose name says it is a secret."""
    return mask(text, [value for name, value in environ.items() if names_a_secret(name)])


def _plain(environ: Mapping[str, str]) -> dict[str, str]:
    return {name: value for name, value in environ.items() if PLAIN.fullmatch(name)}


def _only(environ: Mapping[str, str], names: set[str]) -> dict[str, str]:
    return {name: environ[name] for name in names if name in environ}
