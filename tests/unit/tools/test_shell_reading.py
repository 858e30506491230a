"""A command line is taken apart as bash takes it apart."""

from __future__ import annotations

import shlex

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hermes.tools.shell_reading import Kind, Script, Simple, Subshell, Unreadable, read_script

words = st.lists(st.text(st.characters(codec="utf-8", exclude_characters="\0"), max_size=12))


def said(script: Script) -> list[list[str]]:
    """The words of every command, with those in parentheses in their place."""
    found: list[list[str]] = []
    for step in script:
        if isinstance(step, Subshell):
            found += said(step.script)
        else:
            found.append(["".join(piece.text for piece in word) for word in step.words])
    return found


def only(line: str) -> Simple:
    [step] = read_script(line)
    assert isinstance(step, Simple)
    return step


@given(words.filter(bool))
def test_what_was_quoted_for_a_shell_comes_back_as_it_was(given_words: list[str]) -> None:
    assert said(read_script(shlex.join(given_words))) == [given_words]


@given(st.text(alphabet="ab $(){}`'\"\\;&|<>\n#=*-", max_size=80))
def test_any_text_is_read_or_refused(text: str) -> None:
    try:
        read_script(text)
    except Unreadable as refused:
        assert str(refused)


@pytest.mark.parametrize(
    ("line", "commands"),
    [
        ("a; b", [["a"], ["b"]]),
        ("a && b || c", [["a"], ["b"], ["c"]]),
        ("a | b |& c", [["a"], ["b"], ["c"]]),
        ("a & b &", [["a"], ["b"]]),
        ("a\nb", [["a"], ["b"]]),
        ("(a; b) c", [["a"], ["b"], ["c"]]),
        ("a # b; c", [["a"]]),
        ("a#b", [["a#b"]]),
        ("a \\\n b", [["a", "b"]]),
        ("a 'b c' \"d e\" f\\ g", [["a", "b c", "d e", "f g"]]),
        ("a ''", [["a", ""]]),
        ("a 2>&1 >b", [["a"]]),
        ("a 2 >b", [["a", "2"]]),
        ("a $'b'", [["a", "b"]]),
        ("", []),
        (" ;; ", []),
    ],
)
def test_lines_fall_into_their_commands(line: str, commands: list[list[str]]) -> None:
    assert said(read_script(line)) == commands


@pytest.mark.parametrize(
    ("line", "files"),
    [
        ("a > b", ["b"]),
        ("a >b >>c 2>d", ["b", "c", "d"]),
        ("a &>b", ["b"]),
        ("a >|b", ["b"]),
        ("a <>b", ["b"]),
        ("a < b", []),
        ("a >&2 2>&-", []),
        ("> b", ["b"]),
    ],
)
def test_redirections_say_what_is_written(line: str, files: list[str]) -> None:
    found = ["".join(piece.text for piece in word) for word in only(line).writes]
    assert found == files


@pytest.mark.parametrize("line", ["a $(b c)", 'a "$(b c)"', "a `b c`", "a <(b c)", "a > >(b c)"])
def test_commands_inside_words_are_found(line: str) -> None:
    assert [said(script) for script in only(line).inner] == [[["b", "c"]]]


def test_a_here_document_is_text_and_not_a_command() -> None:
    script = read_script("a <<'END'\nrm $x\nEND\nb")
    assert said(script) == [["a"], ["b"]]
    first = script[0]
    assert isinstance(first, Simple)
    assert [piece.text for piece in first.given[0]] == ["rm $x"]


def test_variables_are_known_by_their_names() -> None:
    word = only('a "$b"')
    assert [piece.text for piece in word.words[1] if piece.kind is Kind.QUOTED_VARIABLE] == ["b"]


@pytest.mark.parametrize("line", ["a 'b", 'a "b', "a `b", "a $(b", "(a", "a >", "a ${b"])
def test_what_is_never_closed_is_refused(line: str) -> None:
    with pytest.raises(Unreadable):
        read_script(line)
