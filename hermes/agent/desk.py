"""Where the tools of one turn run, and where they leave what the loop has to know."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import replace
from functools import cached_property

from hermes.core.metrics import UNMETERED, Meter
from hermes.core.usage import NO_USAGE, Usage
from hermes.providers.reply import ToolCall
from hermes.tools.base import ToolContext
from hermes.tools.errand import Errand
from hermes.tools.registry import Registry


class Desk:
    """Costs nothing until a tool runs. Tools may use it from several threads at once."""

    def __init__(
        self,
        registry: Registry,
        context: Callable[[], ToolContext],
        run_errand: Callable[[Errand, Callable[[Usage], None]], str] | None,
        meter: Meter = UNMETERED,
    ) -> None:
        """`context` is made once, when the first tool runs; each call gets its own copy.

        Without `run_errand` this is a sub-agent's, which can neither send others nor ask anybody.
        """
        self._registry = registry
        self._make_context = context
        self._run_errand = run_errand
        self._meter = meter
        self._questions: list[str] = []
        self._used: list[Usage] = []

    def run(self, call: ToolCall) -> str:
        context = replace(self._context, call_id=call.id)
        started = time.monotonic()
        # What the model makes up is no name to count under.
        name = call.name if self._registry.get(call.name) is not None else "unknown"

        def count(outcome: str) -> None:
            self._meter.tool_called(name, outcome, time.monotonic() - started)

        return self._registry.run(call.name, call.arguments, context, count)

    def take_question(self) -> str | None:
        """What the tools want to ask, in one text."""
        asked, self._questions = self._questions, []
        return "\n\n".join(asked) or None

    def usage_beside(self) -> Usage:
        used, self._used = self._used, []
        return sum(used, start=NO_USAGE)

    @cached_property
    def _context(self) -> ToolContext:
        run_errand, made = self._run_errand, self._make_context()
        if run_errand is None:
            return made
        return replace(
            made,
            # Looked up when it is called: what was asked is taken away between two replies.
            ask=lambda question: self._questions.append(question),
            errands=lambda errand: run_errand(errand, lambda used: self._used.append(used)),
        )
