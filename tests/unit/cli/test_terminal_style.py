"""Colours only where they are wanted, and no words that command the terminal."""

from __future__ import annotations

import io
import unicodedata

from hypothesis import given
from hypothesis import strategies as st

from hermes_cli.terminal_style import Style, accept_any_text, readable, style_for


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def test_a_terminal_gets_colours() -> None:
    assert style_for({}, Terminal(), Terminal()).dim("x") == "\x1b[2mx\x1b[0m"


def test_a_pipe_gets_none() -> None:
    assert style_for({}, Terminal(), io.StringIO()) == Style(is_coloured=False)


def test_no_color_wins_over_a_terminal() -> None:
    assert style_for({"NO_COLOR": "1"}, Terminal()).red("x") == "x"


@given(st.text(st.characters()))
def test_readable_text_is_the_text_without_control_characters(text: str) -> None:
    kept = [char for char in text if char in "\n\t" or unicodedata.category(char) != "Cc"]

    assert readable(text) == "".join(kept)


def test_a_character_the_encoding_lacks_becomes_a_question_mark() -> None:
    raw = io.BytesIO()
    stream = io.TextIOWrapper(raw, encoding="ascii")
    accept_any_text(stream)

    stream.write("⚙ ok")
    stream.flush()

    assert raw.getvalue() == b"? ok"
