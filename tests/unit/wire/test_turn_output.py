"""The output of a finished turn: its calls, their results, and the answer last."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest
from openai.types.responses import ResponseOutputItem
from pydantic import TypeAdapter

from hermes.core.messages import Message
from hermes.core.turn import Outcome, TurnResult
from hermes.wire.own_renderings import MARK, strip
from hermes.wire.tool_forms import ResponsesForm
from hermes.wire.turn_output import output_items

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


def label(name: str, arguments: Mapping[str, Any]) -> str:
    return str(arguments.get("e", name))


def items(
    text: str,
    *messages: Message,
    prior: int = 0,
    form: ResponsesForm = ResponsesForm.FUNCTION_CALL,
    **fields: Any,
) -> list[dict[str, Any]]:
    result = TurnResult(text=text, messages=messages, **fields)
    found = output_items(result, response_id="resp_1", prior=prior, form=form, preview=label)
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


# --- the forms of the server's tools --------------------------------------------------------------

RAN = (assistant(None, call("call_1")), tool("call_1"), assistant("It is 42."))


def test_open_webui_gets_the_output_as_a_list():
    _, output, _ = items("It is 42.", *RAN, form=ResponsesForm.OPEN_WEBUI)
    assert output["output"] == [{"type": "input_text", "text": "42"}]


def test_an_mcp_call_holds_call_and_output_in_one():
    ran, answer = items("It is 42.", *RAN, form=ResponsesForm.MCP_CALL)
    assert {**ran, "id": "x"} == {
        "id": "x",
        "type": "mcp_call",
        "status": "completed",
        "server_label": "hermes",
        "name": "calculator",
        "arguments": '{"e": "6*7"}',
        "output": "42",
        "error": None,
        "approval_request_id": None,
    }
    assert ran["id"].startswith("mcp_")
    assert answer["type"] == "message"


def test_an_mcp_call_without_a_result_has_failed_and_says_why():
    [ran] = items(
        "",
        assistant(None, call("a")),
        form=ResponsesForm.MCP_CALL,
        outcome=Outcome.INTERRUPTED,
    )
    assert (ran["status"], ran["output"]) == ("failed", None)
    assert "unknown" in ran["error"]["content"][0]["text"]


def test_calls_that_share_an_id_keep_their_own_outputs():
    found = items(
        "ok",
        assistant(None, call("call_0")),
        tool("call_0", "first"),
        assistant(None, call("call_0")),
        tool("call_0", "second"),
        form=ResponsesForm.MCP_CALL,
    )
    assert [item.get("output") for item in found[:2]] == ["first", "second"]


@pytest.mark.parametrize("arguments", ['{"e": "6*7"}', "not json", "[1]"])
def test_a_call_can_be_a_marked_line_of_reasoning(arguments: str):
    thought, answer = items(
        "ok",
        assistant(None, call("a", arguments=arguments)),
        tool("a"),
        form=ResponsesForm.REASONING,
    )
    [part] = thought["summary"]
    assert "calculator" in part["text"]
    assert MARK in part["text"]
    assert strip(part["text"]) == ""
    assert answer["type"] == "message"


def test_hidden_calls_leave_nothing():
    assert brief(items("It is 42.", *RAN, form=ResponsesForm.HIDDEN)) == [("message", "It is 42.")]


# --- the client's own tools -----------------------------------------------------------------------


@pytest.mark.parametrize("form", ResponsesForm)
def test_what_the_client_has_to_run_is_a_completed_function_call_in_every_form(
    form: ResponsesForm,
):
    theirs = call("c", "lookup")
    [item] = items(
        "", assistant(None, theirs), form=form, outcome=Outcome.WAITING, pending=[theirs]
    )
    assert (item["type"], item["status"], item["call_id"]) == ("function_call", "completed", "c")
    assert (item["name"], item["arguments"]) == ("lookup", '{"e": "6*7"}')


def test_the_clients_calls_come_after_the_servers_and_no_text_is_said_twice():
    ours, theirs = call("s"), call("c", "lookup")
    found = items(
        "One moment.",
        assistant("One moment.", theirs, ours),
        tool("s"),
        form=ResponsesForm.MCP_CALL,
        outcome=Outcome.WAITING,
        pending=[theirs],
    )
    assert [item["type"] for item in found] == ["message", "mcp_call", "function_call"]


def test_text_that_no_message_holds_comes_before_the_clients_calls():
    found = items("Wait.", outcome=Outcome.WAITING, pending=[call("c")])
    assert [item["type"] for item in found] == ["message", "function_call"]


def test_the_results_a_turn_opens_with_are_input_and_no_output():
    found = items("Sunny.", tool("c", "sun"), assistant("Sunny."))
    assert brief(found) == [("message", "Sunny.")]


def test_thinking_that_was_kept_is_an_item_before_what_it_led_to():
    said = {**assistant("Because."), "reasoning": "Why not?"}
    thought, answer = items("Because.", said)
    assert thought["summary"] == [{"type": "summary_text", "text": "Why not?"}]
    assert answer["type"] == "message"
