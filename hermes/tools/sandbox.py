"""What commands run in: nothing but the user's own rights, or a sandbox made by bubblewrap.

Where a sandbox is wanted and cannot be had, nothing runs.
"""

from __future__ import annotations

import shutil
import subprocess
import sys
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from pathlib import Path

from hermes.settings.tool_settings import ToolSettings
from hermes.tools.problem import ToolProblem
from hermes.tools.process_group import Command

PROGRAM = "bwrap"
_TRIAL_SECONDS = 10

SYSTEM = ("/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32", "/nix/store")
"""Programs and libraries. Other folders, `/home` and `/opt` among them, are not shown."""

SYSTEM_SETTINGS = (
    "/etc/alternatives", "/etc/ca-certificates", "/etc/crypto-policies", "/etc/group",
    "/etc/host.conf", "/etc/hosts", "/etc/ld.so.cache", "/etc/ld.so.conf", "/etc/ld.so.conf.d",
    "/etc/locale.conf", "/etc/localtime", "/etc/magic", "/etc/mime.types", "/etc/nsswitch.conf",
    "/etc/passwd", "/etc/pki", "/etc/profile", "/etc/protocols", "/etc/resolv.conf",
    "/etc/services", "/etc/ssl", "/etc/terminfo", "/etc/timezone",
)  # fmt: skip
"""What programs need of `/etc`; the rest of it may hold secrets."""


@dataclass(frozen=True, slots=True)
class Shown:
    """A place that is shown in the sandbox at its own path."""

    path: str
    source: str
    """Where it really is, behind all links."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Walls:
    """How a sandbox is built."""

    program: str
    shown: tuple[Shown, ...]
    workspace: Path
    hidden: Path | None = None
    """A folder in the workspace that is empty in there."""
    has_network: bool = False


def inside(walls: Walls, command: Command) -> Command:
    """The same command in the sandbox: it writes in the workspace and in a `/tmp` of its own."""
    read_only = [word for each in walls.shown for word in ("--ro-bind", each.source, each.path)]
    argv = [
        walls.program,
        *("--die-with-parent", "--unshare-user-try", "--unshare-pid", "--unshare-ipc"),
        *("--unshare-uts", "--unshare-cgroup-try", "--cap-drop", "ALL"),
        *(() if walls.has_network else ("--unshare-net",)),
        *("--proc", "/proc", "--dev", "/dev", "--tmpfs", "/tmp"),  # noqa: S108  (its own)
        *read_only,
        # Last, so that it is there also where it lies in one of the others.
        *("--bind", str(walls.workspace), str(walls.workspace)),
        *(("--tmpfs", str(walls.hidden)) if walls.hidden else ()),
        *("--remount-ro", "/"),
        *("--chdir", str(command.directory), "--", *command.argv),
    ]
    # Not given as arguments (`--setenv`), which everybody on the machine can read.
    return replace(command, argv=argv, environment={**command.environment, "TMPDIR": "/tmp"})  # noqa: S108


def system_places(extra: Iterable[str] = ()) -> tuple[Shown, ...]:
    """What exists here of that which the sandbox shows. May block."""
    interpreter = (sys.prefix, sys.base_prefix)
    wanted = dict.fromkeys((*SYSTEM, *SYSTEM_SETTINGS, *interpreter, *extra))
    return tuple(Shown(path, str(Path(path).resolve())) for path in wanted if Path(path).exists())


def problem_with(program: str | None) -> str | None:
    """Why bubblewrap cannot be used here; None: it can. Tries it, so it blocks."""
    if program is None:
        return "bubblewrap is not installed; install it (apt install bubblewrap)"
    trial = Command(argv=("true",), directory=Path("/"), environment={}, timeout=_TRIAL_SECONDS)
    walls = Walls(program=program, shown=system_places(), workspace=Path("/tmp"))  # noqa: S108
    try:
        tried = subprocess.run(  # noqa: S603  (bubblewrap, with our own arguments)
            inside(walls, trial).argv,
            env={"PATH": "/usr/bin:/bin"},
            capture_output=True,
            text=True,
            timeout=_TRIAL_SECONDS,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        return f"bubblewrap does not start ({type(error).__name__})"
    if tried.returncode == 0:
        return None
    reason = " ".join(tried.stderr.split())[:200] or f"exit code {tried.returncode}"
    return (
        f"bubblewrap does not work here ({reason}); allow unprivileged user namespaces, or give "
        "the container the rights to make them"
    )


def no_sandbox() -> ToolSettings:
    return ToolSettings()


class Sandbox:
    """Puts commands into what the settings of the moment say. Safe to use from any thread."""

    def __init__(
        self,
        settings: Callable[[], ToolSettings] = no_sandbox,
        hidden: Callable[[], Path | None] = lambda: None,
    ) -> None:
        self._settings = settings
        self._hidden = hidden
        self._proven: str | None = None

    def in_words(self) -> str:
        """What a model has to know of it; empty where there is none."""
        settings = self._settings()
        if settings.sandbox == "local":
            return ""
        network = "with" if settings.sandbox_network else "without"
        return f"Commands run in a sandbox {network} network, and write in the workspace only."

    def around(self, command: Command, workspace: Path) -> Command:
        """The command as it is to be started; raises `ToolProblem` where it must not be. Blocks."""
        settings = self._settings()
        match settings.sandbox:
            case "local":
                return command
            case "bubblewrap":
                if not command.directory.is_relative_to(workspace):
                    raise ToolProblem(
                        "The sandbox shows the workspace only; choose a workdir in it."
                    )
                return inside(self._walls(settings, workspace), command)

    def _walls(self, settings: ToolSettings, workspace: Path) -> Walls:
        return Walls(
            program=self._proven_program(),
            shown=system_places(settings.sandbox_paths),
            workspace=workspace,
            hidden=_within(self._hidden(), workspace),
            has_network=settings.sandbox_network,
        )

    def _proven_program(self) -> str:
        """Tried until it has worked once: what is wrong may be mended while the server runs."""
        program = shutil.which(PROGRAM)
        problem = None if program and program == self._proven else problem_with(program)
        if program is None or problem is not None:
            raise ToolProblem(
                f"Not run: the operator wants commands in a sandbox, but {problem}. Tell the "
                "user; `hermes doctor` says more."
            )
        self._proven = program
        return program


def _within(folder: Path | None, workspace: Path) -> Path | None:
    """The folder, where it is a part of the workspace. May block."""
    if folder is None or not folder.is_dir():
        return None
    resolved = folder.resolve()
    is_part = resolved != workspace and resolved.is_relative_to(workspace)
    return resolved if is_part else None
