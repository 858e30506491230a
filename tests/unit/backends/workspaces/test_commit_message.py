"""What is written beside the work of a job."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hermes.backends.workspaces.commit_message import SUBJECT_LIMIT, commit_message
from hermes.backends.workspaces.workspace import WorkDone
from hermes.core.usage import Usage


def done(summary: str, **changes: object) -> WorkDone:
    fields: dict[str, object] = {"job_id": "job_1", "model": "claude/haiku", "summary": summary}
    return WorkDone(**(fields | changes))  # type: ignore[arg-type]


def test_the_answer_is_the_subject_and_its_cost_is_noted() -> None:
    usage = Usage(total_tokens=1200, cost_usd=0.0021)
    work = done("Mended the parser.", run_id="run_7", usage=usage)
    assert commit_message(work) == (
        "Mended the parser.\n"
        "\n"
        "Hermes-Run: run_7\n"
        "Hermes-Job: job_1\n"
        "Hermes-Model: claude/haiku\n"
        "Hermes-Tokens: 1200\n"
        "Hermes-Cost-USD: 0.002100\n"
    )


def test_what_nobody_knows_is_left_out() -> None:
    message = commit_message(done("Done."))
    assert "Hermes-Cost-USD" not in message
    assert "Hermes-Run" not in message


@pytest.mark.parametrize("summary", ["", " \n\t ", "\x00\x1b"])
def test_without_words_the_model_is_the_subject(summary: str) -> None:
    assert commit_message(done(summary)).splitlines()[0] == "Work of claude/haiku"


def test_a_long_answer_is_cut_between_words() -> None:
    subject = commit_message(done("word " * 40)).splitlines()[0]
    assert subject.endswith("word…")
    assert len(subject) <= SUBJECT_LIMIT


@given(st.text(), st.text())
def test_no_answer_and_no_name_can_forge_a_trailer(summary: str, run_id: str) -> None:
    subject, empty, *trailers = commit_message(done(summary, run_id=run_id)).splitlines()
    names = [trailer.partition(": ")[0] for trailer in trailers]
    assert empty == ""
    assert [name for name in names if name != "Hermes-Run"] == [
        "Hermes-Job",
        "Hermes-Model",
        "Hermes-Tokens",
    ]
    assert 0 < len(subject) <= SUBJECT_LIMIT
