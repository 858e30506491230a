"""What came of a run. Values only."""

from __future__ import annotations

from dataclasses import dataclass

from hermes.backends.bridge.claude import Errand
from hermes.backends.saying import Ending, EndKind, Exit
from hermes.backends.workspaces.reports import SyncReport


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """What the CLI said in the end, how its process ended, and how old the files were."""

    errand: Errand
    ending: Ending
    exit: Exit
    sync: SyncReport | None
    """None: an embedder's own sync has its own way to report."""

    @property
    def is_answered(self) -> bool:
        """A beginning of an answer is none."""
        return self.ending.kind is EndKind.ANSWERED

    @property
    def has_timed_out(self) -> bool:
        return self.ending.code == "cli_timeout"

    def problem(self, *, time_variable: str) -> str | None:
        """Why there is no answer, in words for the caller; the CLI's own where it gave some."""
        if self.is_answered:
            return None
        if self.has_timed_out:
            seconds = f"{self.errand.timeout_seconds:g}"
            advice = f"it was stopped; ask for less or raise {time_variable}"
            return f"the CLI did not finish within {seconds} s: {advice}"
        return self.ending.error or "the CLI ended without an answer; try again"
