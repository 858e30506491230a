"""What the demo model can do next: say something, or ask for one tool."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, slots=True)
class Say:
    """The model answers; the turn is over."""

    text: str
    is_cut: bool = False
    """Whether there would have been more to say than the caller allows."""


@dataclass(frozen=True, slots=True)
class Use:
    """The model asks for one tool and waits for its result."""

    tool: str
    arguments: Mapping[str, Any]


Move = Say | Use
