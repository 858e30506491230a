"""Thoughts go back to the provider with the calls they led to, and no further."""

from __future__ import annotations

from typing import Any

from hermes.core.messages import Message, assistant, tool, user
from hermes.providers.base import dialect_for
from hermes.providers.prompt import Prompt
from hermes.providers.reply import Reply, ReplyBuilder

CHAT = dialect_for("chat_completions")
CALL = {"id": "c1", "type": "function", "function": {"name": "look", "arguments": "{}"}}


def read(message: dict[str, Any]) -> Reply:
    builder = ReplyBuilder(on_text=lambda _: None, on_reasoning=lambda _: None)
    CHAT.read_whole({"choices": [{"message": message, "finish_reason": "stop"}]}, builder)
    return builder.build()


def streamed(*deltas: dict[str, Any]) -> Reply:
    builder = ReplyBuilder(on_text=lambda _: None, on_reasoning=lambda _: None)
    for delta in deltas:
        CHAT.feed({"choices": [{"delta": delta}]}, builder)
    return builder.build()


def worded(*said: Message) -> list[Message]:
    prompt = Prompt(model="m", system="", messages=list(said), tools=())
    messages: list[Message] = CHAT.request(prompt)["messages"]
    return messages


def called(reply: Reply) -> Message:
    return {
        **assistant(reply.text, [call.as_message_part() for call in reply.tool_calls]),
        "replay": reply.replay,
    }


def test_thoughts_before_a_call_are_sent_back_while_the_turn_goes_on() -> None:
    reply = streamed(
        {"reasoning_content": "I should "},
        {"reasoning_content": "look."},
        {"tool_calls": [{"index": 0, **CALL}]},
    )
    asked = worded(user("Look."), called(reply), tool("c1", "look", "A tree."))
    assert asked[1]["reasoning_content"] == "I should look."
    whole = read({"content": None, "reasoning_content": "I should look.", "tool_calls": [CALL]})
    assert whole.replay == reply.replay


def test_thoughts_of_earlier_turns_are_not() -> None:
    reply = streamed({"reasoning_content": "Hm."}, {"tool_calls": [{"index": 0, **CALL}]})
    said = [user("Look."), called(reply), tool("c1", "look", "A tree."), assistant("A tree.")]
    assert all("reasoning_content" not in each for each in worded(*said, user("And now?")))


def test_thoughts_that_led_to_an_answer_are_not_kept_at_all() -> None:
    assert streamed({"reasoning_content": "Hm."}, {"content": "Yes."}).replay is None


def test_what_calls_its_thoughts_otherwise_does_not_see_them_again() -> None:
    reply = streamed({"reasoning": "Hm."}, {"tool_calls": [{"index": 0, **CALL}]})
    assert (reply.reasoning, reply.replay) == ("Hm.", None)


def test_details_are_sent_back_instead_where_there_are_any() -> None:
    detail = {"type": "reasoning.text", "text": "Hm.", "signature": "s", "index": 0}
    reply = streamed(
        {"reasoning_content": "Hm.", "reasoning_details": [detail]},
        {"tool_calls": [{"index": 0, **CALL}]},
    )
    [_, message, _] = worded(user("Look."), called(reply), tool("c1", "look", "A tree."))
    assert message["reasoning_details"] == [detail]
    assert "reasoning_content" not in message
