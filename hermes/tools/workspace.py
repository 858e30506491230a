"""The folder the agent works in, and the answer to "may a tool touch this path?"."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from hermes.core.errors import SettingsError
from hermes.private_files import create_folders
from hermes.tools.problem import ToolProblem


@dataclass(frozen=True, slots=True)
class Workspace:
    """A root folder (created 0700 when missing). Confined, no path leads out of it."""

    root: Path
    confined: bool = True

    def __post_init__(self) -> None:
        try:
            create_folders(self.root)
            object.__setattr__(self, "root", self.root.resolve(strict=True))
        except OSError as error:
            allowed = f"a folder this server may use ({error.strerror})"
            raise SettingsError("workspace", str(self.root), allowed) from error

    def resolve(self, path: str) -> Path:
        """The real place of `path`, which need not exist; relative paths start at the root.

        Symlinks are followed before judging, so a name cannot pretend to be inside.
        """
        if path.startswith("~") and self.confined:
            raise self._outside(path)
        try:
            resolved = (self.root / Path(path).expanduser()).resolve()
        except (OSError, ValueError, RuntimeError) as error:
            # NUL bytes and lone surrogates, symlink loops, a `~name` nobody has.
            raise ToolProblem(f"{path!r} is not a usable path. {_GUIDANCE}") from error
        if self.confined and not resolved.is_relative_to(self.root):
            raise self._outside(path)
        return resolved

    def show(self, path: Path) -> str:
        """The path as the user knows it: relative to the root when it is inside."""
        return str(path.relative_to(self.root)) if path.is_relative_to(self.root) else str(path)

    def _outside(self, path: str) -> ToolProblem:
        return ToolProblem(
            f"{path!r} is outside the workspace. {_GUIDANCE} "
            "The operator can allow other places with the setting `tools.confine: false`."
        )


_GUIDANCE = "Use a path inside the workspace, relative to its root, such as notes/plan.txt."
