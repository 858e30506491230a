"""Whether a shell command destroys something, or writes outside the workspace.

The command is read as bash reads it, and every program in it is looked at: behind wrappers, in
substitutions, in scripts given as text. What cannot be told before it runs counts as dangerous
where it decides: which program, which place. A script that lies in a file is not looked into.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from hermes.tools.destructive import danger_of_program
from hermes.tools.runners import LATER, danger_of_running
from hermes.tools.shell_calls import Argument, Call, Where
from hermes.tools.shell_reading import (
    Kind,
    Piece,
    Script,
    Simple,
    Subshell,
    Unreadable,
    Word,
    read_script,
)

LONGEST = 30_000
_DEEPEST = 5
UNREADABLE = "cannot be read with certainty"
_BOMB = "starts itself again and again until the machine stands still"

_LEADING = frozenset({"if", "then", "elif", "else", "while", "until", "do", "{", "!",
                      "coproc", "}"})  # fmt: skip
_DECLARING = frozenset({"export", "local", "declare", "typeset", "readonly"})
_TESTS = frozenset({"[", "[["})
_PATTERN = frozenset("*?[")


def danger_of(command: str, folder: Path, root: Path) -> str | None:
    """What is dangerous about the command, in words that follow "it"; None: nothing is known.

    `folder` is where it runs, `root` the workspace. May block: where links lead is looked up.
    """
    if len(command) > LONGEST:
        return UNREADABLE
    if _is_fork_bomb(command):
        return _BOMB
    return _Look(Where(folder, root)).at_text(command)


@dataclass(slots=True)
class _Look:
    """Walks through a script as a shell would: folders are entered, variables are set."""

    where: Where
    variables: dict[str, Argument] = field(default_factory=dict)
    depth: int = 0

    def at_text(self, text: str) -> str | None:
        if self.depth > _DEEPEST:
            return UNREADABLE
        try:
            script = read_script(text)
        except Unreadable:
            return UNREADABLE
        return self.at_script(script)

    def at_script(self, script: Script) -> str | None:
        for step in script:
            danger = self._at_step(step)
            if danger:
                return danger
        return None

    def _at_step(self, step: Simple | Subshell) -> str | None:
        match step:
            case Subshell(script):
                return self._apart().at_script(script)
            case Simple():
                return self._at_simple(step)

    def _at_simple(self, simple: Simple) -> str | None:
        for script in simple.inner:
            danger = self._apart().at_script(script)
            if danger:
                return danger
        danger = self.where.danger_of_writing([self._whole(word) for word in simple.writes])
        if danger:
            return danger
        arguments = [each for word in simple.words for each in self._expanded(word)]
        arguments = self._after_leading(arguments)
        call = self._call(arguments, simple) if arguments else None
        return self._at_call(call) if call else None

    def _at_call(self, call: Call) -> str | None:
        self._remember(call)
        return danger_of_program(call) or danger_of_running(call) or _unknown_program(call)

    def _call(self, arguments: Sequence[Argument], simple: Simple | None = None) -> Call:
        """The program at the head of these words."""
        first = arguments[0]
        given = [self._whole(word) for word in simple.given] if simple else []
        is_certain = first.is_known and (not first.is_pattern or first.text in _TESTS)
        return Call(
            program=first.text.rpartition("/")[2] if is_certain else "",
            arguments=arguments[1:],
            where=self.where,
            given=given,
            is_fed=simple is not None and simple.is_fed,
            danger_of_call=lambda words: self._apart().at_arguments(words),
            danger_of_script=lambda script: self._apart().at_argument(script),
        )

    def at_arguments(self, arguments: Sequence[Argument]) -> str | None:
        """A program that another one runs."""
        if self.depth > _DEEPEST:
            return UNREADABLE
        rest = self._after_leading(list(arguments))
        return self._at_call(self._call(rest)) if rest else None

    def at_argument(self, script: Argument) -> str | None:
        """A script in an argument."""
        return self.at_text(script.text) or (None if script.is_known else LATER)

    def _apart(self) -> _Look:
        """For a shell of its own: what it changes ends with it."""
        return replace(self, variables=dict(self.variables), depth=self.depth + 1)

    # --- what the shell itself remembers ------------------------------------------------------

    def _after_leading(self, arguments: list[Argument]) -> list[Argument]:
        """Without what only the shell reads: `then`, `do`, `NAME=value`."""
        at = 2 if arguments and arguments[0].text == "function" else 0
        while at < len(arguments) and (
            arguments[at].text in _LEADING or _assigned(arguments[at]) is not None
        ):
            at += 1
        rest = arguments[at:]
        for argument in arguments[:at]:
            assigned = _assigned(argument)
            if assigned is not None:
                self.variables[assigned[0]] = assigned[1]
        return rest

    def _remember(self, call: Call) -> None:
        if call.program in ("cd", "pushd"):
            target = call.operands()[:1] or [Argument(text=str(self.where.root))]
            is_back = target[0].text == "-"
            self.where = Where(None, self.where.root) if is_back else self.where.entered(target[0])
        elif call.program == "popd":
            self.where = Where(None, self.where.root)
        elif call.program in ("for", "select") and call.arguments:
            self._remember_loop(call)
        elif call.program == "read":
            for name in call.operands():
                self.variables.pop(name.text, None)
        elif call.program in _DECLARING:
            for argument in call.arguments:
                assigned = _assigned(argument)
                if assigned is not None:
                    self.variables[assigned[0]] = assigned[1]

    def _remember_loop(self, call: Call) -> None:
        """A loop's variable is as dangerous as the most dangerous of its values."""
        name, *values = [argument for argument in call.arguments if argument.text != "in"]
        unknown = [value for value in values if not value.is_known]
        far = [value for value in values if value.text.startswith(("/", "-", ".."))]
        patterns = [value for value in values if value.is_pattern]
        chosen = [*unknown, *far, *patterns, *values]
        if chosen:
            self.variables[name.text] = chosen[0]

    # --- words --------------------------------------------------------------------------------

    def _expanded(self, word: Word) -> list[Argument]:
        """A word as the program gets it: a lone variable may hold several."""
        if len(word) == 1 and word[0].kind is Kind.VARIABLE:
            value = self._value(word[0].text)
            return [replace(value, text=text) for text in value.text.split()] or [value]
        return [self._whole(word)]

    def _whole(self, word: Word) -> Argument:
        text, is_known, is_pattern = "", True, False
        for at, piece in enumerate(word):
            value = self._piece(piece, is_first=at == 0)
            # What comes after something unknown is of no use: paths are judged by their beginning.
            text += value.text if is_known else ""
            is_known = is_known and value.is_known
            is_pattern = is_pattern or value.is_pattern
        is_process = any(piece.kind is Kind.PROCESS for piece in word)
        return Argument(text=text, is_known=is_known, is_pattern=is_pattern, is_process=is_process)

    def _piece(self, piece: Piece, *, is_first: bool) -> Argument:
        match piece.kind:
            case Kind.PLAIN:
                text = self._at_home(piece.text) if is_first else piece.text
                return Argument(text=text, is_pattern=_is_pattern(piece.text))
            case Kind.QUOTED:
                return Argument(text=piece.text)
            case Kind.VARIABLE | Kind.QUOTED_VARIABLE:
                return self._value(piece.text)
            case Kind.COMMAND | Kind.PROCESS:
                return Argument(text="", is_known=False)

    def _at_home(self, text: str) -> str:
        """Commands have the workspace for their home; other users' homes are elsewhere."""
        if text == "~" or text.startswith("~/"):
            return str(self.where.root) + text[1:]
        return f"/{text}" if text.startswith("~") else text

    def _value(self, name: str) -> Argument:
        if name in self.variables:
            return self.variables[name]
        if name == "HOME":
            return Argument(text=str(self.where.root))
        if name == "PWD" and self.where.folder is not None:
            return Argument(text=str(self.where.folder))
        return Argument(text="", is_known=False)


def _unknown_program(call: Call) -> str | None:
    return LATER if not call.program else None


def _assigned(argument: Argument) -> tuple[str, Argument] | None:
    """`NAME=value` taken apart."""
    name, sign, value = argument.text.partition("=")
    name = name.removesuffix("+")
    if not sign or not name.isidentifier():
        return None
    return name, replace(argument, text=value)


def _is_pattern(text: str) -> bool:
    is_choice = "{" in text and ("," in text or ".." in text) and "}" in text
    return is_choice or not _PATTERN.isdisjoint(text)


def _is_fork_bomb(command: str) -> bool:
    """`f() { f | f & }`, whatever its name."""
    tight = "".join(command[:2000].split())
    name, found, body = tight.partition("(){")
    name = name.rpartition(";")[2]
    return bool(found and name) and f"{name}|{name}&" in body
