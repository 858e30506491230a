"""Open WebUI's side requests, and its histories compared with what is stored."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hermes.core.messages import Message, assistant, tool, user
from hermes.wire.open_webui import is_side_request, shared_length

CALL = {"id": "c1", "type": "function", "function": {"name": "f", "arguments": "{}"}}


@pytest.mark.parametrize(
    ("task", "metadata", "message", "stream", "expected"),
    [
        ("", {}, "Hello", False, False),
        ("title_generation", {}, "Hello", False, True),
        ("{{TASK}}", {}, "Hello", False, False),
        ("", {"task": "tags_generation"}, "Hello", True, True),
        ("", {"task": "evaluate"}, "Hello", False, False),
        ("", {}, "### Task:\nGenerate 1-3 broad tags categorizing", False, True),
        ("", {}, "### Task:\nGenerate 1-3 broad tags categorizing", True, False),
        ("", {}, "### Task:\nWrite a poem.", False, False),
        ("", {}, None, False, False),
    ],
)
def test_side_requests_are_told_from_chats(
    task: str, metadata: dict[str, str], message: Any, stream: bool, expected: bool
):
    assert is_side_request(task, metadata, message, stream=stream) is expected


STORED = [
    user("List it"),
    assistant("Looking.", [CALL]),
    tool("c1", "f", "a.txt"),
    assistant("There is a.txt."),
    user("And now?"),
    assistant("The same."),
]
SENT = [user("List it"), assistant("There is a.txt."), user("And now?"), assistant("The same.")]


@pytest.mark.parametrize(
    "answer",
    [
        "There is a.txt.",
        "Looking.\n\nThere is a.txt.",
        '<details type="tool_calls" done="true">f</details>\nThere is a.txt.',
        "<think>hm</think> There is a.txt.",
    ],
)
def test_an_answer_is_known_again_however_it_was_shown(answer: str):
    assert shared_length(STORED, [SENT[0], assistant(answer), *SENT[2:]]) == (6, 4)


def test_what_was_edited_is_no_longer_shared():
    edited = [*SENT[:2], user("And tomorrow?"), SENT[3]]
    assert shared_length(STORED, edited) == (4, 2)


def test_an_answer_asked_for_again_leaves_the_stored_one_behind():
    assert shared_length(STORED, SENT[:2]) == (4, 2)
    assert shared_length(STORED, []) == (0, 0)


def test_a_call_that_waits_for_its_result_is_the_same_on_both_sides():
    waiting = [user("Weather?"), assistant(None, [CALL])]
    assert shared_length(waiting, waiting) == (2, 2)


words = st.text("ab", min_size=1, max_size=2)
conversations = st.lists(st.tuples(words, words), max_size=4)


def _messages(said: list[tuple[str, str]]) -> list[Message]:
    return [message for asked, told in said for message in (user(asked), assistant(told))]


@given(conversations, conversations)
def test_what_is_shared_really_is_the_same(ours: Any, theirs: Any):
    stored, sent = _messages(ours), _messages(theirs)
    length, same_length = shared_length(stored, sent)
    assert length == same_length
    assert stored[:length] == sent[:length]
    assert shared_length(stored, stored) == (len(stored), len(stored))
