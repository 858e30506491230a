"""Messages become one prompt."""

from __future__ import annotations

import os
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hermes.backends.bridge.prompt import LABELS, build_prompt
from hermes.core.errors import InvalidRequest


def test_a_lone_user_message_stands_as_it_is() -> None:
    assert build_prompt([{"role": "user", "content": "hi"}]) == "hi"


def test_a_lone_system_message_keeps_its_label() -> None:
    assert build_prompt([{"role": "system", "content": "Be brief."}]) == "System:\nBe brief."


def test_a_conversation_is_told_in_order_with_its_roles() -> None:
    messages = [
        {"role": "developer", "content": "Be brief."},
        {"role": "user", "content": "Weather?"},
        {
            "role": "assistant",
            "content": None,
            "tool_calls": [{"id": "c1", "function": {"name": "look", "arguments": '{"at":1}'}}],
        },
        {"role": "tool", "tool_call_id": "c1", "content": "rain"},
        {"role": "assistant", "content": "Rain."},
        {"role": "user", "content": [{"type": "text", "text": "And"}, "now?"]},
    ]
    assert build_prompt(messages) == (
        "System:\nBe brief.\n\n"
        "User:\nWeather?\n\n"
        'Assistant:\n[called look({"at":1})]\n\n'
        "Tool result:\nrain\n\n"
        "Assistant:\nRain.\n\n"
        "User:\nAnd\nnow?"
    )


@pytest.mark.parametrize(
    ("part", "says"),
    [
        ({"type": "image_url", "image_url": {"url": "data:image/png;base64,AA=="}}, "images"),
        ({"type": "input_image", "image_url": "https://example.com/a.png"}, "images"),
        ({"type": "input_audio", "input_audio": {}}, "only text parts"),
        ({"type": "text", "text": 7}, "only text parts"),
        ({"type": ["text"]}, "only text parts"),
        (None, "only text parts"),
    ],
)
def test_a_part_that_is_no_text_is_refused(part: Any, says: str) -> None:
    with pytest.raises(InvalidRequest) as refused:
        build_prompt([{"role": "user", "content": [part]}])
    assert refused.value.param == "messages[0].content"
    assert says in refused.value.extra["detail"]


@pytest.mark.parametrize(
    "message",
    ["hi", None, {}, {"role": "wizard", "content": "hi"}, {"role": ["user"], "content": "hi"}],
)
def test_a_message_without_a_known_role_is_refused(message: Any) -> None:
    with pytest.raises(InvalidRequest) as refused:
        build_prompt([{"role": "user", "content": "hi"}, message])
    assert refused.value.param == "messages[1].role"


@pytest.mark.parametrize("content", [None, "", " \n", []])
def test_messages_without_any_text_are_refused(content: Any) -> None:
    with pytest.raises(InvalidRequest, match="invalid request"):
        build_prompt([{"role": "user", "content": content}])


@pytest.mark.parametrize("content", [7, {"text": "hi"}])
def test_content_of_another_kind_is_refused(content: Any) -> None:
    with pytest.raises(InvalidRequest) as refused:
        build_prompt([{"role": "user", "content": content}])
    assert refused.value.param == "messages[0].content"


anything = st.text(
    alphabet=st.one_of(st.characters(), st.sampled_from("\x00\ud800\udc80")), min_size=1
)


@given(st.lists(st.tuples(st.sampled_from(list(LABELS)), anything), min_size=1))
def test_every_prompt_can_be_an_argument(said: list[tuple[str, str]]) -> None:
    messages = [{"role": role, "content": text} for role, text in said]
    messages.append({"role": "user", "content": "end"})
    argument = os.fsencode(build_prompt(messages))
    assert b"\0" not in argument
    assert argument.endswith(b"end")


plain = st.text(alphabet="abc \n", min_size=1).filter(str.strip)


@given(st.lists(plain, min_size=2))
def test_no_text_is_lost_or_reordered(texts: list[str]) -> None:
    prompt = build_prompt([{"role": "user", "content": text} for text in texts])
    assert prompt == "\n\n".join(f"User:\n{text}" for text in texts)
