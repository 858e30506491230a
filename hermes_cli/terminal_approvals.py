"""Asking the person at the terminal whether a tool may do what it wants to do."""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping, Sequence
from types import MappingProxyType

from hermes.core.approvals import ApprovalRequest, Decision
from hermes_cli.terminal_prompt import answered_line
from hermes_cli.terminal_screen import Screen
from hermes_cli.terminal_style import Style, readable

_QUESTION = "Run it? [y]es / [n]o / [a]lways in this conversation: "
_ANSWERS: Mapping[str, Decision] = MappingProxyType(
    {
        **dict.fromkeys(("y", "yes", "once"), Decision.ONCE),
        **dict.fromkeys(("n", "no", "deny"), Decision.DENY),
        **dict.fromkeys(("a", "always", "session"), Decision.SESSION),
    }
)


class TerminalApprovals:
    """Decides by asking, where somebody is there to be asked. Used from the main thread."""

    def __init__(
        self,
        screen: Screen,
        style: Style,
        *,
        is_attended: Callable[[], bool] = lambda: sys.stdin.isatty() and sys.stderr.isatty(),
        read: Callable[[str], str | None] = answered_line,
    ) -> None:
        self._screen = screen
        self._style = style
        self._is_attended = is_attended
        self._read = read

    def decide(self, requests: Sequence[ApprovalRequest]) -> dict[str, tuple[Decision, str]]:
        """For every call that waits, by its id: what is decided, and by whom."""
        by = "client" if self._is_attended() else "nobody"
        return {request.call_id: (self._decide_one(request), by) for request in requests}

    def _decide_one(self, request: ApprovalRequest) -> Decision:
        self._show(request)
        if not self._is_attended():
            self._screen.line(self._style.yellow("! Not run: there is nobody here to be asked."))
            return Decision.DENY
        while True:
            answer = self._read(_QUESTION)
            if answer is None:  # Ctrl-C or Ctrl-D
                return Decision.DENY
            decision = _ANSWERS.get(answer.strip().lower())
            if decision is not None:
                return decision

    def _show(self, request: ApprovalRequest) -> None:
        tool, reason = readable(request.tool), readable(request.reason)
        self._screen.line(self._style.yellow(f"? {tool} needs your approval, because it {reason}:"))
        for line in readable(request.shown).splitlines():
            self._screen.line(self._style.bold(f"    {line}"))
