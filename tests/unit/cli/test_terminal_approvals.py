"""The person at the terminal decides; where there is none, the answer is no."""

from __future__ import annotations

import io
from collections.abc import Iterable

import pytest

from hermes.core.approvals import ApprovalRequest, Decision
from hermes_cli.terminal_approvals import TerminalApprovals
from hermes_cli.terminal_screen import Screen
from hermes_cli.terminal_style import Style

PLAIN = Style(is_coloured=False)


def request(call_id: str = "c1", shown: str = "rm -r build") -> ApprovalRequest:
    return ApprovalRequest(
        id="a1",
        code="ABCDE",
        call_id=call_id,
        tool="terminal",
        arguments={"command": shown},
        shown=shown,
        reason="deletes files recursively",
        expires_at=0.0,
    )


def approvals(
    *answers: str | None, around: io.StringIO | None = None, is_attended: bool = True
) -> TerminalApprovals:
    given = iter(answers)
    screen = Screen(
        io.StringIO(), io.StringIO() if around is None else around, PLAIN, on_lost=lambda: None
    )
    return TerminalApprovals(
        screen, PLAIN, is_attended=lambda: is_attended, read=lambda _question: next(given)
    )


@pytest.mark.parametrize(
    ("answers", "decision"),
    [
        (["y"], Decision.ONCE),
        ([" YES "], Decision.ONCE),
        (["n"], Decision.DENY),
        (["No"], Decision.DENY),
        (["a"], Decision.SESSION),
        (["always"], Decision.SESSION),
        (["", "what?", "y"], Decision.ONCE),
        ([None], Decision.DENY),
    ],
)
def test_an_answer_decides_and_anything_else_is_asked_again(
    answers: Iterable[str | None], decision: Decision
) -> None:
    assert approvals(*answers).decide([request()]) == {"c1": (decision, "client")}


def test_every_call_is_asked_about_by_itself() -> None:
    decided = approvals("y", "n").decide([request("c1"), request("c2")])
    assert decided == {"c1": (Decision.ONCE, "client"), "c2": (Decision.DENY, "client")}


def test_where_nobody_is_the_answer_is_no_and_that_is_said() -> None:
    around = io.StringIO()
    unattended = approvals(around=around, is_attended=False)
    assert unattended.decide([request()]) == {"c1": (Decision.DENY, "nobody")}
    assert "nobody here to be asked" in around.getvalue()


def test_what_would_run_is_shown_line_by_line_and_commands_no_terminal() -> None:
    around = io.StringIO()
    approvals("n", around=around).decide([request(shown="ls\nrm -r \x1b[2Jbuild")])
    assert around.getvalue() == (
        "? terminal needs your approval, because it deletes files recursively:\n"
        "    ls\n"
        "    rm -r [2Jbuild\n"
    )
