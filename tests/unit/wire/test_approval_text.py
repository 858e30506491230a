"""Approvals in words: a question nobody can miss, and answers that cannot be misread."""

from __future__ import annotations

import re
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hermes.core.approvals import CODE_LENGTH, CODE_LETTERS, ApprovalRequest, Decision
from hermes.core.turn import Outcome, TurnResult
from hermes.wire.approval_text import answer_of, answer_text, code_in, decision_of, question

codes = st.text(CODE_LETTERS, min_size=CODE_LENGTH, max_size=CODE_LENGTH)
CODE = "K7Q2M"


def request(shown: str = "rm -r build", code: str = CODE, reason: str = "why") -> ApprovalRequest:
    return ApprovalRequest(
        id="appr_1",
        code=code,
        call_id="c1",
        tool="terminal",
        arguments={"command": shown},
        shown=shown,
        reason=reason,
        expires_at=1_700_000_000.0,
    )


def test_the_question_says_what_why_how_and_until_when() -> None:
    assert question([request(reason="deletes files recursively")]) == (
        "**May I run this?** (`terminal`)\n\n"
        "```\nrm -r build\n```\n\n"
        "Why I ask: deletes files recursively\n\n"
        "Reply **yes** to run it once, **session** to allow this for the rest of the session, "
        "**always** to allow it from now on, or **no**. Without an answer until "
        "2023-11-14 22:13 UTC the answer is no.\n\n"
        "Approval code: `K7Q2M`"
    )


def test_several_calls_are_asked_about_at_once() -> None:
    asked = question([request("rm -r a"), request("rm -r b")])
    assert "```\nrm -r a\n```" in asked
    assert "```\nrm -r b\n```" in asked
    assert asked.count("Approval code") == 1
    assert "run them all once" in asked


@given(codes, st.text() | st.text("`~\n Aproval code:K7Q2M"), st.text())
def test_whatever_the_command_is_the_code_is_found(code: str, shown: str, reason: str) -> None:
    assert code_in(question([request(shown, code, reason)])) == code


@given(st.text(st.sampled_from("`\nab~ "), max_size=40))
def test_no_command_leaves_its_block(shown: str) -> None:
    lines = question([request(shown)]).split("\n")
    fence = lines[2]
    assert re.fullmatch("`{3,}", fence)
    end = next(at for at in range(3, len(lines)) if lines[at].strip(" ") == fence)
    assert "\n".join(lines[3:end]) == shown
    assert lines[end + 2].startswith("Why I ask")


@pytest.mark.parametrize("hidden", ["\u202e", "\u200b", "\x1b", "\r", "\u2028", "\u00a0", "\x00"])
def test_characters_that_hide_something_are_written_out(hidden: str) -> None:
    asked = question([request(f"echo a{hidden}b", reason=f"x{hidden}y")])
    assert hidden not in asked
    assert f"a\\u{ord(hidden):04x}b" in asked


@pytest.mark.parametrize(
    "rendered",
    [
        "Sure.\n\nApproval code: `K7Q2M`",
        "Approval code: `K7Q2M`   \r\n",
        "Approval code: K7Q2M",
        "> Approval code: `K7Q2M`",
        "**Approval code: `K7Q2M`**",
        "Approval code: `AAAAA`\nlater\nApproval code: `K7Q2M`\n\n---\nmore",
    ],
)
def test_a_client_may_render_it_a_little_differently(rendered: str) -> None:
    assert code_in(rendered) == CODE


@pytest.mark.parametrize(
    "text",
    [
        "",
        "K7Q2M",
        "The Approval code: `K7Q2M`",
        "Approval code: `K7Q2`",
        "Approval code: `K7Q2MM`",
        "Approval code: `k7q2m`",
        "Approval code: `K7O2M`",
        "Approval code:\n`K7Q2M`",
    ],
)
def test_what_we_did_not_write_is_no_question(text: str) -> None:
    assert code_in(text) is None


@pytest.mark.parametrize(
    ("said", "decision"),
    [
        ("yes", Decision.ONCE),
        ("YES!", Decision.ONCE),
        (" y ", Decision.ONCE),
        ("ok.", Decision.ONCE),
        ("Okay", Decision.ONCE),
        ("**yes**", Decision.ONCE),
        ("'yes'", Decision.ONCE),
        ("“Yes, run it.”", Decision.ONCE),
        ("`approve`\n", Decision.ONCE),
        ("\uff39\uff45\uff53", Decision.ONCE),
        ("run it", Decision.ONCE),
        ("_go ahead_", Decision.ONCE),
        ("k7q2m", Decision.ONCE),
        ("`K7Q2M`", Decision.ONCE),
        ("Yes K7Q2M", Decision.ONCE),
        ("K7Q2M: no", Decision.DENY),
        ("always", Decision.ALWAYS),
        ("Yes, always.", Decision.ALWAYS),
        ("session", Decision.SESSION),
        ("yes, for this session", Decision.SESSION),
        ("No.", Decision.DENY),
        ("n", Decision.DENY),
        ("deny", Decision.DENY),
        ("STOP!!!", Decision.DENY),
        ("cancel", Decision.DENY),
        ("don\u2019t run it", Decision.DENY),
    ],
)
def test_people_answer_in_many_ways(said: str, decision: Decision) -> None:
    assert answer_of(said, CODE) is decision


@pytest.mark.parametrize(
    "said",
    [
        "",
        "   ",
        "?",
        "yes?",
        "why",
        "yes but only the first file",
        "yes no",
        "no yes",
        "y/n",
        "AAAAA",
        "yes AAAAA",
        "not yes",
        "noyes",
        "yesterday",
        "yes\n" * 100,
        "What does it delete?",
        "...",
    ],
)
def test_everything_else_decides_nothing(said: str) -> None:
    assert answer_of(said, CODE) is None


@given(st.sampled_from(Decision), codes, st.text(" \t\n.,!*_`\"'()>", max_size=10))
def test_what_surrounds_an_answer_does_not_change_it(
    decision: Decision, code: str, around: str
) -> None:
    said = f"{around}{decision.value.title()}{around}"
    assert answer_of(said, code) is decision
    assert decision_of(said) is decision
    assert answer_of(f"{around}{code.lower()}{around}", code) is Decision.ONCE


@given(st.text(), codes)
def test_any_text_can_be_read(said: str, code: str) -> None:
    assert answer_of(said, code) in (None, *Decision)
    assert code_in(said) is None or "Approval code" in said


def test_a_code_that_looks_like_a_word_does_not_turn_a_no_into_a_yes() -> None:
    assert answer_of("never", "NEVER") is Decision.DENY


def test_long_texts_are_read_at_once() -> None:
    hostile = [
        "Approval code:" + " " * 200_000,
        "> " * 100_000 + "Approval code: `K7Q2M",
        ("Approval code: " + "*" * 30 + "\n") * 10_000,
        "`" * 200_000,
        "' " * 100_000,
    ]
    began = time.process_time()
    for text in hostile:
        assert code_in(text) is None
        assert answer_of(text, CODE) is None
        question([request(text, reason=text)])
    assert time.process_time() - began < 5.0


def test_an_answer_that_asks_is_its_text_and_the_question() -> None:
    asks = TurnResult(text="One moment.", outcome=Outcome.ASKING, approvals=[request()])
    assert answer_text(asks) == f"One moment.\n\n{question([request()])}"
    silent = TurnResult(outcome=Outcome.ASKING, approvals=[request()])
    assert answer_text(silent) == question([request()])
    assert answer_text(TurnResult(text="Done.")) == "Done."
