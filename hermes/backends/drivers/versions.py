"""Versions of CLIs: found in what they print, compared as tuples, written for people."""

from __future__ import annotations

import re

_VERSION = re.compile(r"(?<![\w.])v?(\d{1,9}(?:\.\d{1,9}){1,3})(?![\d])")


def version_in(text: str) -> tuple[int, ...]:
    """The first version in what `--version` printed, such as `2.1.325 (Claude Code)`.

    Empty: there is none. What follows the numbers (`-alpha.1`) does not count.
    """
    found = _VERSION.search(text)
    return tuple(int(part) for part in found[1].split(".")) if found else ()


def written(version: tuple[int, ...]) -> str:
    return ".".join(map(str, version))


def is_tested(version: tuple[int, ...], tested: tuple[tuple[int, ...], tuple[int, ...]]) -> bool:
    """Whether `version` lies between the first and the last that was tried. An unknown one does
    not."""
    first, last = tested
    return first <= version <= last
