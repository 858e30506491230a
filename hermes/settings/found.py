"""A setting that was found somewhere, and where: what the layers and choices are made of."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, slots=True)
class Found:
    value: Any
    source: str
    """As the user wrote it: `--port`, `API_SERVER_PORT` or `config.yaml: server.port`."""

    def __repr__(self) -> str:
        # Without the value, which may be a key.
        return f"Found({self.source!r})"


Layer = dict[str, Found]
