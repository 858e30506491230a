"""What an examination finds: good, worth knowing, or in the way; always with what to do."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum


class Level(Enum):
    OK = "ok"
    WARNING = "warning"
    """It works, but perhaps not as meant."""
    PROBLEM = "problem"
    """Something will not work until it is fixed."""


@dataclass(frozen=True, slots=True)
class Finding:
    level: Level
    title: str
    """What was looked at, in a word or two."""
    detail: str
    fix: str = ""
    """What to do next; empty when there is nothing to do."""


def ok(title: str, detail: str, fix: str = "") -> Finding:
    return Finding(Level.OK, title, detail, fix)


def warning(title: str, detail: str, fix: str) -> Finding:
    return Finding(Level.WARNING, title, detail, fix)


def problem(title: str, detail: str, fix: str) -> Finding:
    return Finding(Level.PROBLEM, title, detail, fix)
