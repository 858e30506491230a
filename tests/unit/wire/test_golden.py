"""The streams of every dialect are, byte for byte, the ones kept in tests/golden."""

from __future__ import annotations

import pytest

from tests.golden.transcripts import FOLDER, transcripts

TRANSCRIPTS = transcripts()


@pytest.mark.parametrize("name", TRANSCRIPTS)
def test_a_stream_is_the_one_that_is_kept(name: str):
    hint = "if that is meant: .venv/bin/python -m tests.golden.transcripts, and read the difference"
    assert TRANSCRIPTS[name] == (FOLDER / name).read_text(), hint


def test_no_transcript_is_kept_of_a_dialect_that_is_gone():
    assert {path.name for path in FOLDER.glob("*.sse")} == set(TRANSCRIPTS)
