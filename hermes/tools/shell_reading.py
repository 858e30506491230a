"""A command line taken apart the way bash does it. Nothing is expanded and nothing is run.

One pass over the text, no regular expressions. What a shell would refuse, or what nests deeper
than anybody writes it, is `Unreadable`.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import Enum
from itertools import groupby

from hermes.core.errors import HermesError

_DEEPEST = 20
_BLANK = " \t\r"
_ENDS_WORD = frozenset(" \t\r\n;&|()<>")
_EXPANDED = frozenset("\\`$")
_SPECIAL = _ENDS_WORD | _EXPANDED | {"'", '"'}
_REDIRECTIONS = ("<<<", "<<-", "&>>", "<<", "<>", "<&", "&>", ">>", ">|", ">&", "<", ">")
_WRITING = frozenset({"<>", "&>>", "&>", ">>", ">|", ">&", ">"})


class Unreadable(HermesError):
    """No shell would understand this, or only a shell does."""


class Kind(Enum):
    """What a piece of a word is."""

    PLAIN = "plain"
    """Unquoted: patterns in it are patterns."""
    QUOTED = "quoted"
    VARIABLE = "variable"
    """The text is its name."""
    QUOTED_VARIABLE = "quoted variable"
    COMMAND = "command"
    """The output of a command, or anything else that only the shell knows."""
    PROCESS = "process"
    """A file that a command writes or reads: `<( … )`."""


@dataclass(frozen=True, slots=True)
class Piece:
    kind: Kind
    text: str = ""


Word = tuple[Piece, ...]


@dataclass(slots=True)
class Simple:
    """One program with its words, as far as the line itself tells them."""

    words: list[Word] = field(default_factory=list)
    writes: list[Word] = field(default_factory=list)
    """Files that redirections write."""
    inner: list[Script] = field(default_factory=list)
    """Commands whose output is a part of the words."""
    given: list[Word] = field(default_factory=list)
    """The texts of here-documents and here-strings."""
    is_fed: bool = False
    """Whether it reads what another command says."""

    @property
    def is_empty(self) -> bool:
        return not (self.words or self.writes or self.inner or self.given)


@dataclass(frozen=True, slots=True)
class Subshell:
    """Commands in parentheses: what they change about the shell ends with them."""

    script: Script


Script = list[Simple | Subshell]


def read_script(text: str) -> Script:
    """The commands of a line or script, in order."""
    return _Reader(text, depth=0).script("")


@dataclass(slots=True)
class _Heredoc:
    command: Simple
    delimiter: str
    is_quoted: bool
    drops_tabs: bool


class _Reader:
    """Walks over one text."""

    def __init__(self, text: str, depth: int) -> None:
        if depth > _DEEPEST:
            raise Unreadable("nested too deeply")
        self._text = text
        self._at = 0
        self._depth = depth
        self._heredocs: list[_Heredoc] = []

    # --- commands -----------------------------------------------------------------------------

    def script(self, end: str) -> Script:
        """Commands up to `end`, which is consumed; the empty string is the end of the text."""
        self._deeper()
        steps: Script = []
        command = Simple()
        while (char := self._peek()) != end:
            if not char:
                raise Unreadable("a parenthesis is never closed")
            if char == ")":
                # The pattern of a `case`: what stands before it is no command.
                command.words.clear()
            if char in ";|&)\n" and not self._starts("&>"):
                is_pipe = self._separator()
                _finish(steps, command)
                command = Simple(is_fed=is_pipe)
            elif char == "(":
                command = self._parenthesis(steps, command)
            else:
                self._part(command)
        if end and _text_of_first(command) == "case":
            raise Unreadable("a `case` in a substitution ends where only a shell knows")
        self._at += len(end)
        _finish(steps, command)
        self._depth -= 1
        return steps

    def _part(self, command: Simple) -> None:
        """A blank, a comment, a redirection or a word."""
        char = self._peek()
        if char in _BLANK:
            self._at += 1
        elif self._starts("\\\n"):
            self._at += 2
        elif char == "#":
            self._skip_line()
        elif self._starts("<(") or self._starts(">("):
            command.words.append(self._word(command))
        elif char in "<>" or self._starts("&>"):
            self._redirection(command)
        else:
            word = self._word(command)
            if not (self._peek() in "<>" and self._peek() and _is_descriptor(word)):
                command.words.append(word)

    def _separator(self) -> bool:
        """Step over what ends a command; whether the next one reads what this one says."""
        if self._peek() == "\n":
            self._at += 1
            self._read_heredocs()
            return False
        is_pipe = self._peek() == "|" and not self._starts("||")
        double = self._starts("||") or self._starts("&&") or self._starts(";;") or is_pipe
        self._at += 2 if double and self._text[self._at + 1 : self._at + 2] in "|&;" else 1
        return is_pipe

    def _parenthesis(self, steps: Script, command: Simple) -> Simple:
        if command.words and self._closes_at_once():
            # A function: its body follows, and is looked at as if it were called.
            self._at = self._text.index(")", self._at) + 1
            return Simple()
        if self._is_arithmetic(self._at):
            self._arithmetic(command)
            return command
        _finish(steps, command)
        self._at += 1
        steps.append(Subshell(self.script(")")))
        return Simple()

    def _closes_at_once(self) -> bool:
        rest = self._text[self._at + 1 : self._at + 20].lstrip(_BLANK)
        return rest.startswith(")")

    def _redirection(self, command: Simple) -> None:
        operator = next(each for each in _REDIRECTIONS if self._starts(each))
        self._at += len(operator)
        self._skip_blanks()
        word = self._word(command)
        if not word:
            raise Unreadable("a redirection leads nowhere")
        if operator in ("<<", "<<-"):
            self._heredocs.append(_heredoc(command, word, drops_tabs=operator == "<<-"))
        elif operator == "<<<":
            command.given.append(word)
        elif operator in _WRITING and not (operator == ">&" and _is_descriptor(word)):
            command.writes.append(word)

    def _read_heredocs(self) -> None:
        for heredoc in self._heredocs:
            body = self._body(heredoc)
            if heredoc.is_quoted:
                heredoc.command.given.append((Piece(Kind.QUOTED, body),))
            else:
                reader = _Reader(body, self._depth + 1)
                heredoc.command.given.append(tuple(reader.expanding("", heredoc.command)))
        self._heredocs = []

    def _body(self, heredoc: _Heredoc) -> str:
        lines: list[str] = []
        while self._at < len(self._text):
            end = self._text.find("\n", self._at)
            end = len(self._text) if end < 0 else end
            line = self._text[self._at : end]
            self._at = min(end + 1, len(self._text))
            line = line.lstrip("\t") if heredoc.drops_tabs else line
            if line == heredoc.delimiter:
                break
            lines.append(line)
        return "\n".join(lines)

    # --- words --------------------------------------------------------------------------------

    def _word(self, command: Simple) -> Word:
        pieces: list[Piece] = []
        if self._starts("<(") or self._starts(">("):
            self._at += 2
            command.inner.append(self.script(")"))
            pieces.append(Piece(Kind.PROCESS))
        while (char := self._peek()) and char not in _ENDS_WORD:
            self._at += 1
            if char == "\\":
                pieces += self._escaped()
            elif char == "'":
                pieces.append(Piece(Kind.QUOTED, self._until("'")))
            elif char == '"':
                pieces.append(Piece(Kind.QUOTED))
                pieces += self.expanding('"', command)
            elif char in "`$":
                pieces.append(self._expansion(char, command, is_quoted=False))
            else:
                pieces.append(Piece(Kind.PLAIN, char + self._run(_SPECIAL)))
        return _joined(pieces)

    def expanding(self, end: str, command: Simple) -> list[Piece]:
        """The inside of double quotes, and of a here-document."""
        self._deeper()
        pieces: list[Piece] = []
        while (char := self._peek()) != end:
            if not char:
                raise Unreadable("a quote is never closed")
            self._at += 1
            if char == "\\" and self._peek() in ("$", "`", '"', "\\", "\n"):
                pieces.append(Piece(Kind.QUOTED, self._peek().replace("\n", "")))
                self._at += 1
            elif char in "`$":
                pieces.append(self._expansion(char, command, is_quoted=True))
            else:
                pieces.append(Piece(Kind.QUOTED, char + self._run(_EXPANDED | {end})))
        self._at += len(end)
        self._depth -= 1
        return pieces

    def _escaped(self) -> list[Piece]:
        char = self._peek()
        self._at += 1
        return [] if char == "\n" else [Piece(Kind.QUOTED, char or "\\")]

    def _expansion(self, sign: str, command: Simple, *, is_quoted: bool) -> Piece:
        """What follows a backtick or a dollar, which have been read."""
        if sign == "`":
            command.inner.append(_Reader(self._backticked(), self._depth + 1).script(""))
            return Piece(Kind.COMMAND)
        if self._peek() == "(":
            if self._is_arithmetic(self._at):
                self._arithmetic(command)
            else:
                self._at += 1
                command.inner.append(self.script(")"))
            return Piece(Kind.COMMAND)
        if self._peek() == "{":
            self._at += 1
            return self._braced(command, is_quoted=is_quoted)
        if self._peek() == "'" and not is_quoted:
            self._at += 1
            return self._ansi_quoted()
        name = self._name()
        if name:
            return Piece(Kind.QUOTED_VARIABLE if is_quoted else Kind.VARIABLE, name)
        if self._peek() and self._peek() in "?!$#@*-0123456789":
            self._at += 1
            return Piece(Kind.COMMAND)
        return Piece(Kind.PLAIN, "" if self._peek() == '"' and not is_quoted else "$")

    def _braced(self, command: Simple, *, is_quoted: bool) -> Piece:
        name = self._name()
        rest = self.expanding("}", command)
        operation = "".join(piece.text for piece in rest)[:1]
        # `${f%.txt}` is nearly `$f`; `${f:-rm}` may be anything.
        if name and operation in ("", "%", "#"):
            return Piece(Kind.QUOTED_VARIABLE if is_quoted else Kind.VARIABLE, name)
        return Piece(Kind.COMMAND)

    def _name(self) -> str:
        start = self._at
        while (char := self._peek()) and (char == "_" or (char.isascii() and char.isalnum())):
            if self._at == start and char.isdigit():
                break
            self._at += 1
        return self._text[start : self._at]

    def _backticked(self) -> str:
        found: list[str] = []
        while (char := self._peek()) != "`":
            if not char:
                raise Unreadable("a backtick is never closed")
            self._at += 1
            if char == "\\" and self._peek() in ("`", "\\", "$"):
                char = self._peek()
                self._at += 1
            found.append(char)
        self._at += 1
        return "".join(found)

    def _ansi_quoted(self) -> Piece:
        start = self._at
        while self._peek() != "'":
            if not self._peek():
                raise Unreadable("a quote is never closed")
            self._at += 2 if self._peek() == "\\" else 1
        text = self._text[start : self._at]
        self._at += 1
        return Piece(Kind.COMMAND) if "\\" in text else Piece(Kind.QUOTED, text)

    # --- arithmetic ---------------------------------------------------------------------------

    def _is_arithmetic(self, at: int) -> bool:
        """Whether `((` begins a calculation: its inner parenthesis closes just before the outer."""
        if not self._text.startswith("((", at):
            return False
        depth = 0
        for place in range(at + 1, len(self._text)):
            depth += {"(": 1, ")": -1}.get(self._text[place], 0)
            if depth == 0:
                return self._text.startswith(")", place + 1)
        return False

    def _arithmetic(self, command: Simple) -> None:
        """Step over a calculation; commands inside it are commands all the same."""
        self._deeper()
        depth = 0
        while True:
            char = self._peek()
            if not char:
                raise Unreadable("a calculation is never closed")
            self._at += 1
            if char in "`$":
                self._expansion(char, command, is_quoted=True)
            depth += {"(": 1, ")": -1}.get(char, 0)
            if depth == 0:
                self._depth -= 1
                return

    # --- characters ---------------------------------------------------------------------------

    def _peek(self) -> str:
        return self._text[self._at : self._at + 1]

    def _starts(self, text: str) -> bool:
        return self._text.startswith(text, self._at)

    def _run(self, ends: frozenset[str]) -> str:
        """Characters up to one of `ends`."""
        start = self._at
        while self._at < len(self._text) and self._text[self._at] not in ends:
            self._at += 1
        return self._text[start : self._at]

    def _until(self, end: str) -> str:
        place = self._text.find(end, self._at)
        if place < 0:
            raise Unreadable("a quote is never closed")
        found = self._text[self._at : place]
        self._at = place + 1
        return found

    def _skip_blanks(self) -> None:
        while self._peek() and self._peek() in _BLANK:
            self._at += 1

    def _skip_line(self) -> None:
        end = self._text.find("\n", self._at)
        self._at = len(self._text) if end < 0 else end

    def _deeper(self) -> None:
        self._depth += 1
        if self._depth > _DEEPEST:
            raise Unreadable("nested too deeply")


def _finish(steps: Script, command: Simple) -> None:
    if not command.is_empty:
        steps.append(command)


def _text_of_first(command: Simple) -> str:
    return "".join(piece.text for piece in command.words[0]) if command.words else ""


def _heredoc(command: Simple, word: Word, *, drops_tabs: bool) -> _Heredoc:
    return _Heredoc(
        command,
        "".join(piece.text for piece in word),
        is_quoted=any(piece.kind is not Kind.PLAIN for piece in word),
        drops_tabs=drops_tabs,
    )


def _is_descriptor(word: Word) -> bool:
    """`2` of `2>` and `1` of `>&1`, or the `-` that closes one."""
    text = "".join(piece.text for piece in word if piece.kind is Kind.PLAIN)
    named = text.startswith("{") and text.endswith("}")
    return len(word) == 1 and (text.isdigit() or text == "-" or named)


def _joined(pieces: list[Piece]) -> Word:
    """Neighbours of the same kind as one; an empty quote stays, because it makes a word."""
    joined: list[Piece] = []
    for kind, same in groupby(pieces, key=lambda piece: piece.kind):
        if kind in (Kind.PLAIN, Kind.QUOTED):
            joined.append(Piece(kind, "".join(piece.text for piece in same)))
        else:
            joined += same
    return tuple(joined)
