"""What we render into a model's thinking is found again and taken out; all else stays."""

from __future__ import annotations

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hermes.wire.own_renderings import MARK, render, strip, strip_content

# With the characters of the mark among them, because those are where it could go wrong.
texts = st.text(
    st.sampled_from("ab\n <>\u2063\u2064é🙂") | st.characters(exclude_categories=["Cs"])
)
foreign = texts.filter(lambda text: MARK not in text)


@given(foreign, st.lists(st.tuples(texts, foreign)))
def test_stripping_gives_back_the_text_around_every_rendering(
    first: str, rest: list[tuple[str, str]]
):
    mixed = first + "".join(render(line) + text for line, text in rest)
    assert strip(mixed) == first + "".join(text for _, text in rest)


@given(foreign)
def test_text_that_is_not_ours_is_the_very_same_object(text: str):
    assert strip(text) is text


def test_a_rendering_is_a_visible_line_of_its_own():
    shown = render("terminal:  ls\n-la")
    assert "\n- terminal: ls -la\n" in shown


@pytest.mark.parametrize(
    "block",
    [
        '<details type="reasoning" done="true">\n<summary>Thought</summary>\n{}</details>\n',
        '<details type="tool_calls" name="terminal">\n<summary>Ran</summary>{}</details>\n',
        "<think>{}</think>\n",
    ],
)
def test_a_block_around_our_rendering_goes_with_it_and_others_stay(block: str):
    ours = block.format("> " + render("terminal: ls").replace("\n", "\n> "))
    theirs = block.format("> I wonder.")
    assert strip(f"Before.{theirs}{ours}After.") == f"Before.{theirs}After."


def test_a_block_that_is_never_closed_stays():
    text = '<details type="reasoning"> open ' + render("x") + "answer"
    assert strip(text) == '<details type="reasoning"> open answer'


def test_parts_are_stripped_one_by_one_and_images_stay():
    image = {"type": "image_url", "image_url": {"url": "https://example.com/a.png"}}
    content = [{"type": "text", "text": "a" + render("x")}, image]
    assert strip_content(content) == [{"type": "text", "text": "a"}, image]
    assert strip_content("a" + render("x")) == "a"


@pytest.mark.parametrize("piece", ['<details type="reasoning">', "<think>", MARK, MARK[:2]])
def test_a_hostile_text_costs_one_pass(piece: str):
    hostile = MARK + piece * (400_000 // len(piece))
    began = time.process_time()
    strip(hostile)
    assert time.process_time() - began < 5
