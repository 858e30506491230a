"""The output of a finished turn: its calls, their results, and the answer last."""

from __future__ import annotations

from typing import Any

from openai.types.responses import ResponseOutputItem
from pydantic import TypeAdapter

from hermes.core.messages import Message
from hermes.core.turn import Outcome, TurnResult
from hermes.wire.response_items import arguments_text, output_items

strict = TypeAdapter[Any](ResponseOutputItem)


def call(call_id: str, name: str = "calculator", arguments: Any = '{"e": "6*7"}') -> dict[str, Any]:
    return {"id": call_id, "function": {"name": name, "arguments": arguments}}


def assistant(content: Any, *calls: dict[str, Any]) -> Message:
    return {
        "role": "assistant",
        "content": content,
        **({"tool_calls": list(calls)} if calls else {}),
    }


def tool(call_id: str, content: Any = "42") -> Message:
    return {"role": "tool", "tool_call_id": call_id, "content": content}


def items(text: str, *messages: Message, prior: int = 0, **fields: Any) -> list[dict[str, Any]]:
    found = output_items(TurnResult(text=text, messages=messages, **fields), prior=prior)
    for item in found:
        strict.validate_python(item, strict=True)
    assert len({item["id"] for item in found}) == len(found)
    return found


def brief(found: list[dict[str, Any]]) -> list[tuple[str, str]]:
    """Type and substance of each item."""
    return [
        (item["type"], item.get("arguments") or item.get("output") or item["content"][0]["text"])
        for item in found
    ]


def test_a_turn_without_messages_is_one_message():
    [item] = items("Hello")
    assert {**item, "id": "x"} == {
        "id": "x",
        "type": "message",
        "status": "completed",
        "role": "assistant",
        "content": [{"type": "output_text", "text": "Hello", "annotations": []}],
    }


def test_calls_and_their_results_come_before_the_answer():
    found = items(
        "It is 42.",
        {"role": "user", "content": "6*7?"},
        assistant(None, call("call_1")),
        tool("call_1"),
        assistant("It is 42."),
    )
    assert [{**item, "id": "x"} for item in found[:2]] == [
        {
            "id": "x",
            "type": "function_call",
            "status": "completed",
            "arguments": '{"e": "6*7"}',
            "call_id": "call_1",
            "name": "calculator",
        },
        {
            "id": "x",
            "type": "function_call_output",
            "status": "completed",
            "call_id": "call_1",
            "output": "42",
        },
    ]
    assert brief(found[2:]) == [("message", "It is 42.")]


def test_what_the_assistant_said_beside_its_calls_is_a_message_before_them():
    found = items("Done.", assistant("Let me see.", call("a"), call("b")), tool("a"), tool("b"))
    assert [kind for kind, _ in brief(found)] == [
        "message",
        "function_call",
        "function_call",
        "function_call_output",
        "function_call_output",
        "message",
    ]
    assert brief(found)[0][1] == "Let me see."
    assert brief(found)[-1][1] == "Done."


def test_earlier_turns_are_left_out():
    earlier = [assistant(None, call("call_old")), tool("call_old", "old")]
    found = items("new", *earlier, assistant("new"), prior=2)
    assert brief(found) == [("message", "new")]


def test_internal_tools_are_left_out():
    found = items("ok", assistant(None, call("i", "_memory")), tool("i"), assistant("ok"))
    assert brief(found) == [("message", "ok")]


def test_a_call_without_a_result_is_incomplete():
    found = items("", assistant(None, call("a")), outcome=Outcome.INTERRUPTED)
    assert [(item["type"], item["status"]) for item in found] == [("function_call", "incomplete")]


def test_an_incomplete_answer_is_marked_in_either_form():
    for messages in ([], [assistant("half")]):
        [item] = items("half", *messages, outcome=Outcome.TRUNCATED)
        assert item["status"] == "incomplete"


def test_a_failed_turn_without_text_has_no_message():
    assert items("", outcome=Outcome.FAILED) == []


def test_a_completed_turn_ends_with_a_message_even_without_text():
    found = items("", assistant(None, call("a")), tool("a"))
    assert found[-1]["type"] == "message"


def test_parts_become_text_and_mappings_become_json():
    parts = [{"type": "text", "text": "a"}, {"type": "text", "text": "b"}]
    found = items("ok", assistant(None, call("a", arguments={"x": 1})), tool("a", parts))
    assert found[0]["arguments"] == '{"x":1}'
    assert found[1]["output"] == "a\nb"


def test_arguments_are_compact_json():
    assert arguments_text({"path": "/ä", "n": [1, 2]}) == '{"path":"/ä","n":[1,2]}'
    assert arguments_text({"when": object}) == '{"when":"<class \'object\'>"}'
