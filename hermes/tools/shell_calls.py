"""A program about to be run by a shell: its arguments as far as they are known, and where it is."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass, field
from enum import Enum
from pathlib import Path

OUTSIDE = "writes outside the workspace"
SOMEWHERE = "writes to a place that is only known when it runs"
DEVICE = "writes to a device"

_NOWHERE = frozenset(
    {"/dev/null", "/dev/stdout", "/dev/stderr", "/dev/tty", "/dev/fd/1", "/dev/fd/2"}
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Argument:
    """One word after expansion."""

    text: str
    """What is known of it, from the left."""
    is_known: bool = True
    """Whether that is all of it."""
    is_pattern: bool = False
    """Whether it stands for files that match it."""
    is_process: bool = False
    """Whether it is a file that another command writes while this one reads."""


UNKNOWN = Argument(text="", is_known=False)


class Place(Enum):
    """Where a path leads."""

    INSIDE = "inside"
    OUTSIDE = "outside"
    DEVICE = "device"
    UNKNOWN = "unknown"
    NOWHERE = "nowhere"


@dataclass(frozen=True, slots=True)
class Where:
    """The folder a program runs in, and the one that is the agent's own."""

    folder: Path | None
    """None: only known when it runs."""
    root: Path

    def place(self, argument: Argument) -> Place:
        path = argument.text
        if path in _NOWHERE:
            return Place.NOWHERE
        if not path and not argument.is_known:
            return Place.UNKNOWN
        if not path.startswith("/") and self.folder is None:
            return Place.UNKNOWN
        try:
            resolved = (self.folder or self.root).joinpath(path).resolve()
        except (OSError, ValueError, RuntimeError):
            return Place.OUTSIDE  # NUL bytes, loops of links: nothing that is surely inside
        if resolved.is_relative_to(self.root):
            return Place.INSIDE
        return Place.DEVICE if resolved.is_relative_to("/dev") else Place.OUTSIDE

    def entered(self, argument: Argument) -> Where:
        """After `cd`."""
        if not argument.is_known or (self.folder is None and not argument.text.startswith("/")):
            return Where(None, self.root)
        return Where((self.folder or self.root).joinpath(argument.text), self.root)

    def danger_of_writing(self, targets: Collection[Argument]) -> str | None:
        for target in targets:
            match self.place(target):
                case Place.INSIDE | Place.NOWHERE:
                    continue
                case Place.OUTSIDE:
                    return OUTSIDE
                case Place.DEVICE:
                    return DEVICE
                case Place.UNKNOWN:
                    return SOMEWHERE
        return None


@dataclass(frozen=True, slots=True, kw_only=True)
class Call:
    """One program with its arguments."""

    program: str
    arguments: Sequence[Argument]
    where: Where
    given: Sequence[Argument] = ()
    """Texts it reads: here-documents and here-strings."""
    is_fed: bool = False
    """Whether it reads what another command says."""
    danger_of_call: Callable[[Sequence[Argument]], str | None] = field(repr=False)
    """Looks at a program that this one runs, given with its arguments."""
    danger_of_script: Callable[[Argument], str | None] = field(repr=False)
    """Looks at text that this one has a shell run."""

    def has(self, *options: str) -> bool:
        """Whether one of these options is there: `-r` also in `-rf`, `--all` also as `--all=x`."""
        return any(_is_one_of(given, options) for given in self.options())

    def options(self) -> Iterator[str]:
        for argument in self.arguments:
            if argument.text == "--":
                return
            if argument.text.startswith("-") and argument.text != "-":
                yield argument.text

    def value_of(self, *options: str) -> Argument | None:
        """What follows one of these options, in the next word or in the same one."""
        for at, argument in enumerate(self.arguments):
            for option in options:
                if argument.text == option or _ends_cluster(argument.text, option):
                    return self.arguments[at + 1] if at + 1 < len(self.arguments) else None
                for glue in ("=",) if option.startswith("--") else ("=", ""):
                    if argument.text.startswith(option + glue):
                        text = argument.text[len(option + glue) :]
                        return Argument(text=text, is_known=argument.is_known)
        return None

    def operands(self, *with_value: str) -> list[Argument]:
        """The arguments that are no options; those `with_value` take the next word with them."""
        found: list[Argument] = []
        words = iter(self.arguments)
        for argument in words:
            if argument.text == "--":
                return [*found, *words]
            if argument.text in with_value:
                next(words, None)
            elif not argument.text.startswith("-") or argument.text == "-":
                found.append(argument)
        return found


def _is_one_of(given: str, options: Sequence[str]) -> bool:
    for option in options:
        if given == option or given.startswith(option + "="):
            return True
        is_letter = len(option) == 2 and option[1] != "-"
        if is_letter and not given.startswith("--") and option[1] in given[1:]:
            return True
    return False


def _ends_cluster(given: str, option: str) -> bool:
    """`-sSLo` for `-o`."""
    is_letter = len(option) == 2 and option[1] != "-"
    return is_letter and given[:1] == "-" and given[1:].isalpha() and given[-1] == option[1]
