"""The part of the equipment that runs commands: sandbox, background, what is kept and noted."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from hermes.settings.model import Settings
from hermes.settings.paths import commands_folder, outputs_folder
from hermes.tools.background import Processes
from hermes.tools.leftovers import Leftovers
from hermes.tools.outputs import Outputs
from hermes.tools.sandbox import Sandbox


class CommandRoom:
    """Follows the settings: what they say when a command starts is what holds for it."""

    def __init__(self, settings: Callable[[], Settings]) -> None:
        self.sandbox = Sandbox(lambda: settings().tools, lambda: settings().home)
        self.leftovers = Leftovers(lambda: commands_folder(settings().home))
        self.processes = Processes(lambda: settings().tools.max_background, self.leftovers)
        self.outputs = Outputs(lambda: outputs_folder(settings().home), lambda: settings().tools)
        self._settings = settings

    def services(self) -> dict[str, Any]:
        """The fields of `Services` that are made here."""
        return {
            "sandbox": self.sandbox,
            "leftovers": self.leftovers,
            "processes": self.processes,
            "python_memory_mb": lambda: self._settings().tools.python_memory_mb,
            "outputs": self.outputs,
        }
