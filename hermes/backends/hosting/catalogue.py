"""What is known of the configured CLIs: whether each can be used, and the driver that does.

May block: it looks for programs and asks them for their version. What was found out is remembered
until the program changes.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import tempfile
import threading
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

from hermes.backends.drivers.base import Driver, Installed, Kind
from hermes.backends.drivers.known import driver_for, kind_of
from hermes.backends.drivers.versions import is_tested, version_in, written
from hermes.backends.hosting.credentials import credentials_of, plain_environment
from hermes.core.cli_agents import Examined, Readiness
from hermes.settings.cli_settings import CliAgentSettings

ASK_SECONDS = 20.0
"""A CLI made with Node takes seconds to say its version on a busy machine."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Found:
    """A CLI that was looked for."""

    examined: Examined
    installed: Installed | None

    @property
    def is_usable(self) -> bool:
        return self.installed is not None


Ask = Callable[[tuple[str, ...], Mapping[str, str]], "Spoken"]


@dataclass(frozen=True, slots=True)
class Spoken:
    """What a program printed."""

    is_ok: bool
    output: str
    error: str


class Catalogue:
    """Safe to use from any thread."""

    def __init__(self, environ: Mapping[str, str], ask: Ask | None = None) -> None:
        self._environ = environ
        self._ask = ask or ask_program
        self._lock = threading.Lock()
        self._programs: dict[tuple[str, int, tuple[str, ...]], Installed | str] = {}

    def driver(self, agent: CliAgentSettings) -> Driver | Examined:
        """How to talk to it; or, where it cannot be used, why."""
        found = self.find(agent)
        if found.installed is None:
            return found.examined
        return driver_for(agent, found.installed)

    def find(self, agent: CliAgentSettings) -> Found:
        kind = kind_of(agent)
        program = shutil.which(agent.command[0], path=self._environ.get("PATH"))
        if program is None:
            return Found(examined=_not_found(agent, kind), installed=None)
        installed = self._installed(agent, str(Path(program).absolute()))
        if isinstance(installed, str):
            return Found(examined=_broken(agent, installed), installed=None)
        return Found(examined=self._judged(agent, kind, installed), installed=installed)

    def _installed(self, agent: CliAgentSettings, program: str) -> Installed | str:
        words = agent.command[1:]
        key = (program, os.stat(program).st_mtime_ns, words)  # noqa: PTH116  follows links
        with self._lock:
            known = self._programs.get(key)
            if known is None:
                known = self._look(agent, (program, *words))
                self._programs[key] = known
        return known

    def _look(self, agent: CliAgentSettings, command: tuple[str, ...]) -> Installed | str:
        with tempfile.TemporaryDirectory(prefix="hermes-cli-") as home:
            environment = plain_environment(agent, self._environ) | {"HOME": home, "TMPDIR": home}
            spoken = self._ask((command[0], "--version"), environment)
            if agent.driver == "command":
                # Nobody says that it has to know the option; that it starts is all there is.
                return Installed(command=command, version=version_in(spoken.output))
            if not spoken.is_ok:
                return spoken.error or spoken.output or "it does not start"
            helped = self._ask((command[0], "--help"), environment)
        return Installed(command=command, version=version_in(spoken.output), help=helped.output)

    def _judged(self, agent: CliAgentSettings, kind: Kind, installed: Installed) -> Examined:
        version = written(installed.version) or None
        if not self._has_login(agent, kind):
            return Examined(
                readiness=Readiness.LOGIN_UNKNOWN,
                version=version,
                detail="nothing says how it is paid for; perhaps it knows itself",
                fix=kind.login_help,
            )
        return Examined(
            readiness=Readiness.READY, version=version, detail=_tested(kind, installed.version)
        )

    def _has_login(self, agent: CliAgentSettings, kind: Kind) -> bool:
        if agent.driver == "command":
            return True
        paid = credentials_of(agent, kind, self._environ, can_relay=True)
        if paid.upstream is not None or paid.variables:
            return True
        home = Path(self._environ.get("HOME", "/nonexistent"))
        return agent.login and any((home / name).is_file() for name in kind.login_files)


def ask_program(argv: tuple[str, ...], environment: Mapping[str, str]) -> Spoken:
    try:
        done = subprocess.run(  # noqa: S603  the operator named this program
            argv,
            env=dict(environment),
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=ASK_SECONDS,
            check=False,
            text=True,
            errors="replace",
        )
    except subprocess.TimeoutExpired:
        return Spoken(False, "", f"it did not say its version within {ASK_SECONDS:g} s")
    except OSError as error:
        return Spoken(False, "", f"it does not start: {error.strerror}")
    return Spoken(done.returncode == 0, done.stdout, done.stderr.strip())


def _not_found(agent: CliAgentSettings, kind: Kind) -> Examined:
    program = agent.command[0]
    return Examined(
        readiness=Readiness.NOT_FOUND,
        detail=f"there is no program {program}",
        fix=f"{kind.install}, or name it in cli.agents.{agent.name}.command"
        if kind.install
        else f"name the program in cli.agents.{agent.name}.command",
    )


def _broken(agent: CliAgentSettings, problem: str) -> Examined:
    last = problem.strip().splitlines()[-1][:300]
    return Examined(
        readiness=Readiness.MISSING_DEPENDENCY,
        detail=f"{agent.command[0]} does not start: {last}",
        fix=f"run `{agent.command[0]} --version` and mend what it complains about; CLIs from npm "
        "need Node.js on the PATH",
    )


def _tested(kind: Kind, version: tuple[int, ...]) -> str:
    if kind.tested is None or not version or is_tested(version, kind.tested):
        return ""
    first, last = map(written, kind.tested)
    return f"tried with {first} to {last} only"
