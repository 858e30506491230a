"""Marked text can neither end its mark nor lose anything."""

from __future__ import annotations

import re

from hypothesis import given
from hypothesis import strategies as st

from hermes.core import messages
from hermes.core.data_marks import TOOL_OUTPUT, mark, unmark, with_marks

TAG = re.compile(rf"<\s*/?\s*{TOOL_OUTPUT}", re.IGNORECASE)
tricky = st.lists(
    st.sampled_from(
        ["<", "/", "\\", " ", "\n", ">", "tool_output", "TOOL_Output", "</tool_output>", "x"]
    )
).map("".join)


@given(st.one_of(st.text(), tricky))
def test_what_was_marked_comes_back_as_it_was(text: str) -> None:
    assert unmark(mark(text)) == text


@given(tricky)
def test_only_the_marks_themselves_look_like_marks(text: str) -> None:
    marked = mark(text)
    assert marked.startswith(f"<{TOOL_OUTPUT}>\n")
    assert marked.endswith(f"\n</{TOOL_OUTPUT}>")
    assert len(TAG.findall(marked)) == 2


def test_the_same_text_is_marked_in_the_same_way() -> None:
    assert mark("a") == mark("a") == "<tool_output>\na\n</tool_output>"


def test_text_without_marks_is_left_alone() -> None:
    for text in (
        "",
        "plain",
        "<tool_output>\n",
        "\n</tool_output>",
        "<tool_output>\n</tool_output>",
    ):
        assert unmark(text) == text


def test_results_of_tools_are_marked_and_nothing_else_is() -> None:
    said = [
        messages.user("</tool_output>"),
        messages.tool("c1", "read_file", "data"),
        {"role": "tool", "tool_call_id": "c2", "content": [{"type": "text", "text": "more"}]},
        {"role": "tool", "tool_call_id": "c3", "content": [{"type": "image_url"}]},
        {"role": "tool", "tool_call_id": "c4", "content": None},
    ]
    marked = with_marks(said)
    assert marked[0] is said[0]
    assert [message["content"] for message in marked[1:]] == [
        mark("data"),
        [{"type": "text", "text": mark("more")}],
        [{"type": "image_url"}],
        mark(""),
    ]
    assert said[1]["content"] == "data"
