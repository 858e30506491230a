"""A reply wears the shape of a chat completion, and is found again in any completion."""

from __future__ import annotations

from dataclasses import replace
from types import SimpleNamespace
from unittest.mock import MagicMock

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hermes.contract.chat_shape import completion_from, reply_from
from hermes.core.errors import ProviderError
from hermes.core.turn import Usage
from hermes.providers.reply import Reply, ToolCall

names = st.text(min_size=1, max_size=5)
calls = st.builds(
    ToolCall, id=names, name=names, arguments=names, extra_content=st.none() | st.just({"s": "x"})
)
replies = st.builds(
    Reply,
    text=st.none() | names,
    reasoning=st.none() | names,
    tool_calls=st.lists(calls, max_size=3, unique_by=lambda call: call.id).map(tuple),
    finish_reason=st.sampled_from(["stop", "length", "tool_calls", "content_filter"]),
    usage=st.just(Usage(input_tokens=2, output_tokens=3, total_tokens=5)),
    raw_usage=st.just(SimpleNamespace(prompt_tokens=2, completion_tokens=3, total_tokens=5)),
    model=st.none() | names,
    error=st.none() | names,
    replay=st.none() | st.just({"api_mode": "codex_responses", "items": []}),
)


@given(replies)
def test_a_reply_of_ours_comes_back_as_it_was(reply: Reply) -> None:
    assert reply_from(completion_from(reply)) is reply


@given(replies)
def test_read_by_its_fields_alone_a_completion_says_the_same(reply: Reply) -> None:
    """As after an embedder's copy: what the chat wire has no place for is gone, the rest equal.

    Thoughts that led to calls are to be told again, as this wire wants them.
    """
    completion = completion_from(reply)
    del completion.hermes_reply
    asks_for_tools = bool(reply.tool_calls) and reply.finish_reason == "stop"
    finish_reason = "tool_calls" if asks_for_tools else reply.finish_reason
    thoughts = [{"type": "reasoning_content", "text": reply.reasoning}]
    has_led_to_calls = bool(reply.reasoning and reply.tool_calls)
    replay = {"api_mode": "chat_completions", "items": thoughts} if has_led_to_calls else None
    expected = replace(reply, error=None, replay=replay, finish_reason=finish_reason)
    assert reply_from(completion) == expected


def test_without_tool_calls_the_message_says_none() -> None:
    reply = Reply(
        text="hi",
        reasoning=None,
        tool_calls=(),
        finish_reason="stop",
        usage=None,
        raw_usage=None,
        model=None,
    )
    message = completion_from(reply).choices[0].message
    assert (message.role, message.content, message.tool_calls) == ("assistant", "hi", None)


@pytest.mark.parametrize("completion", [MagicMock(), SimpleNamespace(choices=[]), {}, None])
def test_what_is_no_completion_is_a_garbled_answer(completion: object) -> None:
    with pytest.raises(ProviderError, match="without any choice") as refused:
        reply_from(completion)
    assert refused.value.code == "garbled"
