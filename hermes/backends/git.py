"""Runs git in somebody's repository: no questions, no programs of the repository, bounded time.

One call at a time; what calls are made in which order is decided in `workspaces`.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from enum import Enum
from pathlib import Path

from hermes.backends import environment
from hermes.backends.errors import CommandFailed, CommandMissing, TimedOut
from hermes.backends.git_guards import VARIABLES, Pair, as_variables, guards, read_entries
from hermes.backends.process import Command, Completed, run
from hermes.core.errors import HermesError

DETAIL_LIMIT = 1000


class Trouble(Enum):
    """Why git could not do something."""

    MISSING = "missing"
    """There is no git, or no such folder."""
    UNAUTHORIZED = "unauthorized"
    UNREACHABLE = "unreachable"
    REJECTED = "rejected"
    """The other side has something else under that name, or does not want it."""
    LOCKED = "locked"
    """Another git is at work, or left its lock behind."""
    TIMED_OUT = "timed_out"
    FAILED = "failed"


class GitFailed(HermesError):
    """Git could not do what was asked; `detail` is its own message, for people."""

    def __init__(self, trouble: Trouble, detail: str) -> None:
        super().__init__(f"{trouble.value}: {detail}")
        self.trouble = trouble
        self.detail = detail


@dataclass(frozen=True, slots=True, kw_only=True)
class GitTimes:
    """How long a step may take, in seconds."""

    local: float = 30.0
    fetch: float = 60.0
    copy: float = 300.0
    """To make a copy, or to look through one."""
    push: float = 120.0


_SIGNS = (
    (Trouble.LOCKED, r"\.lock': File exists|cannot lock ref|Unable to create .*\.lock"),
    (Trouble.REJECTED, r"\[rejected\]|\[remote rejected\]|non-fast-forward"),
    (
        Trouble.UNAUTHORIZED,
        r"could not read (Username|Password)|Authentication failed|Permission denied"
        r"|Host key verification failed|returned error: 40[13]",
    ),
    (
        Trouble.UNREACHABLE,
        r"Could not read from remote|does not appear to be a git repository|unable to access"
        r"|Could not resolve|unable to look up|Connection (refused|timed out|reset)"
        r"|transport '.*' not allowed",
    ),
)


def trouble_of(message: str) -> Trouble:
    """What git's English message means."""
    return next((trouble for trouble, sign in _SIGNS if re.search(sign, message)), Trouble.FAILED)


@dataclass(frozen=True, slots=True, kw_only=True)
class Repository:
    """A folder to call git in. Made by `open_repository`."""

    folder: Path
    environment: Mapping[str, str] = field(repr=False)
    times: GitTimes

    def looking_at(self, **variables: Path) -> Repository:
        """The same with other folders or files of git's, given as `GIT_…` variables."""
        extra = {name: str(path) for name, path in variables.items()}
        return replace(self, environment={**self.environment, **extra})

    async def call(
        self, *arguments: str, seconds: float | None = None, stdin: bytes | None = None
    ) -> Completed:
        """Whatever git answers, also if it fails. Raises `GitFailed` if it does not answer."""
        command = Command(
            argv=("git", *arguments),
            cwd=self.folder,
            environment=self.environment,
            timeout_seconds=self.times.local if seconds is None else seconds,
            stdin=stdin,
        )
        try:
            return await run(command)
        except CommandMissing as error:
            detail = f"git is not installed, or there is no folder {self.folder}"
            raise GitFailed(Trouble.MISSING, detail) from error
        except TimedOut as error:
            raise GitFailed(Trouble.TIMED_OUT, f"{arguments[0]}: {error}") from error
        except CommandFailed as error:
            raise GitFailed(Trouble.FAILED, str(error)) from error

    async def do(
        self, *arguments: str, seconds: float | None = None, stdin: bytes | None = None
    ) -> str:
        """What git prints. Raises `GitFailed` unless it did as it was told."""
        done = await self.call(*arguments, seconds=seconds, stdin=stdin)
        if done.returncode != 0:
            raise failure_of(done)
        return text_of(done)

    async def ask(self, *arguments: str) -> str | None:
        """What git prints; None if it says no. Raises `GitFailed` if it does not answer."""
        done = await self.call(*arguments)
        return text_of(done) if done.returncode == 0 else None

    async def commit_at(self, name: str) -> str | None:
        """The id of the commit of that name, if there is one."""
        return await self.ask("rev-parse", "--verify", "--quiet", f"{name}^{{commit}}")

    async def main_remote(self) -> str | None:
        """`origin`, or the only one there is."""
        remotes = (await self.do("remote")).splitlines()
        if "origin" in remotes:
            return "origin"
        return remotes[0] if len(remotes) == 1 else None


async def open_repository(
    folder: Path,
    environ: Mapping[str, str],
    times: GitTimes | None = None,
    *,
    settings: Sequence[Pair] = (),
) -> Repository:
    """Its configuration is looked through, and disarmed, now. Raises `GitFailed`.

    `settings` are said on top of it.
    """
    variables = {**environment.for_git(environ, folder), **VARIABLES}
    bare = Repository(folder=folder, environment=variables, times=times or GitTimes())
    listed = await bare.call("config", "--list", "--show-scope", "-z")
    if listed.returncode != 0:
        raise failure_of(listed)
    said = as_variables([*guards(read_entries(listed.stdout)), *settings])
    return replace(bare, environment={**variables, **said})


def failure_of(done: Completed) -> GitFailed:
    """What a call that did not go well amounts to."""
    # Porcelain commands tell on stdout which reference was refused.
    words = "\n".join(part for part in (done.stderr.strip(), text_of(done)) if part)
    # A name of a file may be any bytes; a report is read by people and sent as JSON.
    shown = words[-DETAIL_LIMIT:].encode(errors="replace").decode()
    return GitFailed(trouble_of(words), shown or f"exit code {done.returncode}")


def text_of(done: Completed) -> str:
    return done.stdout.decode(errors="surrogateescape").strip()
