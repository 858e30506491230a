"""One setting as the user sees it: its names on each way in, and what is allowed there.

`name` is what overrides use, `config` the key in config.yaml, `env` the variable. `default` is the
default in words, for the documentation; the value itself stands in `hermes.settings.model`.
"""

from __future__ import annotations

from dataclasses import dataclass

from hermes.settings import kinds


@dataclass(frozen=True, slots=True, kw_only=True)
class Option:
    name: str
    kind: kinds.Kind
    sentence: str
    default: str = "none"
    config: str = ""
    env: str = ""

    @property
    def flag(self) -> str:
        """How the command line spells it."""
        return "--" + self.name.rpartition(".")[2].replace("_", "-")
