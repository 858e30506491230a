"""The search of `search_files` where ripgrep is missing, run as a program of its own.

While Python's `re` backtracks nothing stops it and no other thread runs; a process can be killed.
Prints `path NUL line:text` per match, as ripgrep does; exits with 2 when an expression is bad.
"""

from __future__ import annotations

import codecs
import os
import re
import stat
import sys
from collections.abc import Callable, Iterator
from itertools import islice
from pathlib import Path

SKIPPED_FOLDERS = (".git", "node_modules")
LARGEST_FILE = 10_000_000
LONGEST_LINE = 10_000

_MARKS = (
    (codecs.BOM_UTF8, "utf-8-sig"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)

Wanted = Callable[[str], bool]


def files_below(start: str) -> Iterator[str]:
    """What is at or below `start` and no folder, in ripgrep's order, without following links."""
    waiting = [start]
    while waiting:
        path = waiting.pop()
        if Path(path).is_dir() and not Path(path).is_symlink():
            names = _names_in(path).difference(SKIPPED_FOLDERS)
            waiting += [f"{path}/{name}" for name in sorted(names, reverse=True)]
        else:
            yield path


def _names_in(folder: str) -> set[str]:
    try:
        return {each.name for each in Path(folder).iterdir()}
    except OSError:
        return set()


def text_of(path: str) -> str | None:
    """The text of a file; None for what is too large, binary, unreadable or no file at all."""
    try:
        status = os.lstat(path)
        if not stat.S_ISREG(status.st_mode) or status.st_size > LARGEST_FILE:
            return None
        with Path(path).open("rb") as file:
            content = file.read(LARGEST_FILE)
    except OSError:
        return None
    codec = next((codec for mark, codec in _MARKS if content.startswith(mark)), "utf-8")
    is_binary = codec != "utf-16" and b"\0" in content
    return None if is_binary else content.decode(codec, errors="replace")


def matches(pattern: re.Pattern[str], start: str, wanted: Wanted) -> Iterator[bytes]:
    for path in files_below(start):
        name = os.path.relpath(path)
        text = text_of(path) if wanted(name) else None
        for number, line in enumerate(_lines_of(text or ""), start=1):
            # Matching a bounded piece bounds the usual patterns; the unusual ones meet the clock.
            piece = line[:LONGEST_LINE].removesuffix("\r")
            if pattern.search(piece):
                yield os.fsencode(name) + f"\0{number}:{piece}\n".encode()


def _lines_of(text: str) -> list[str]:
    """What follows the last line feed is a line only if there is something."""
    lines = text.split("\n")
    return lines if lines[-1] else lines[:-1]


def glob_filter(glob: str) -> Wanted:
    """Which relative paths a glob means to ripgrep: without `/` a name anywhere, else a path."""
    expression = re.compile(_translated(glob.removeprefix("!")))
    excludes, by_path = glob.startswith("!"), "/" in glob

    def wanted(path: str) -> bool:
        found = expression.fullmatch(path if by_path else Path(path).name)
        return bool(found) is not excludes

    return wanted


_GLOB_PARTS = re.compile(r"\\.|\*\*/|\*\*|\*|\?|\[!?[^\]]+\]|\{|\}|,|.", re.DOTALL)
_TRANSLATIONS = {"**/": "(?:.*/)?", "**": ".*", "*": "[^/]*", "?": "[^/]"}


def _translated(glob: str) -> str:
    expression, depth = "", 0
    for part in _GLOB_PARTS.findall(glob.removeprefix("/")):
        if part == "{":
            expression, depth = expression + "(?:", depth + 1
        elif part == "}" and depth:
            expression, depth = expression + ")", depth - 1
        elif part == "," and depth:
            expression += "|"
        elif part.startswith("\\") and len(part) > 1:
            expression += re.escape(part[1])
        elif part.startswith("[") and len(part) > 1:
            expression += _translated_set(part[1:-1])
        else:
            expression += _TRANSLATIONS.get(part, re.escape(part))
    return expression


def _translated_set(body: str) -> str:
    negation = "^" if body.startswith(("!", "^")) else ""
    return f"[{negation}{body[len(negation) :].replace(chr(92), chr(92) * 2)}]"


def main(pattern: str, start: str, glob: str, most: str) -> int:
    try:
        compiled = re.compile(pattern)
        wanted = glob_filter(glob) if glob else lambda _path: True
    except (re.error, OverflowError, RecursionError) as error:
        sys.stdout.write(f"{error}\n")
        return 2
    for line in islice(matches(compiled, start, wanted), int(most)):
        sys.stdout.buffer.write(line)
        sys.stdout.buffer.flush()
    return 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
