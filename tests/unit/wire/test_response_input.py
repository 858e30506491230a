"""What each kind of input item stands for, and what it is kept as."""

from __future__ import annotations

from typing import Any

import pytest
from openai.types.responses import ResponseItem
from pydantic import TypeAdapter

from hermes.core.errors import ApiError
from hermes.core.messages import Message, user
from hermes.wire.compaction import seal, unseal
from hermes.wire.kept_items import kept_items
from hermes.wire.own_renderings import render
from hermes.wire.response_input import Outside, messages_of, read_items, referenced_ids
from hermes.wire.response_items import mcp_error

ITEM: TypeAdapter[Any] = TypeAdapter(ResponseItem)
KEY = b"k" * 32
FINISHED_CALL = {
    "type": "mcp_call",
    "id": "mcp_1",
    "server_label": "hermes",
    "name": "terminal",
    "arguments": '{"command": "ls"}',
    "output": "notes.txt",
    "error": None,
}


def messages(*items: Any, outside: Outside | None = None) -> list[Message]:
    outside = outside or Outside()
    return messages_of(read_items(list(items), outside), outside)


def refused(*items: Any, outside: Outside | None = None) -> ApiError:
    with pytest.raises(ApiError) as caught:
        messages(*items, outside=outside)
    return caught.value


def test_a_call_the_server_ran_is_a_call_with_its_result():
    assert messages(FINISHED_CALL) == [
        {
            "role": "assistant",
            "content": None,
            "tool_calls": [
                {
                    "id": "mcp_1",
                    "type": "function",
                    "function": {"name": "terminal", "arguments": '{"command": "ls"}'},
                }
            ],
        },
        {"role": "tool", "tool_call_id": "mcp_1", "content": "notes.txt"},
    ]


@pytest.mark.parametrize(
    "error",
    ["No such file", {"type": "x", "message": "No such file"}, mcp_error("No such file")],
)
def test_a_call_that_failed_keeps_its_reason(error: Any):
    failed = {**FINISHED_CALL, "output": None, "error": error}
    assert messages(failed)[1]["content"] == "No such file"


def test_a_reference_stands_for_the_item_it_names():
    stored = {"id": "msg_1", "type": "message", "role": "assistant", "content": "Yes."}
    items = [{"type": "item_reference", "id": "msg_1"}, {"id": "msg_1"}, user("Sure?")]

    assert referenced_ids(items) == ["msg_1", "msg_1"]
    assert [
        message["content"] for message in messages(*items, outside=Outside(items={"msg_1": stored}))
    ] == ["Yes.", "Yes.", "Sure?"]


def test_a_reference_to_nothing_is_refused_by_its_place():
    error = refused(user("Hi"), {"type": "item_reference", "id": "msg_9"})
    assert (error.status, error.code, error.param) == (404, "item_not_found", "input[1].id")


def test_a_compaction_stands_for_the_messages_it_was_made_of():
    before = [user("I am Zoë"), {"role": "assistant", "content": "Hi 👋"}]
    item = {"type": "compaction", "id": "cmp_1", "encrypted_content": seal(before, KEY)}
    outside = Outside(open_compaction=lambda sealed, param: unseal(sealed, KEY, param))

    assert messages(item, user("Who am I?"), outside=outside) == [*before, user("Who am I?")]


@pytest.mark.parametrize(
    "content", ["gAAAAAB", "hc1.", "hc1.!!!", "hc1.ä", seal([user("Hi")], b"other")]
)
def test_a_foreign_compaction_is_refused(content: str):
    outside = Outside(open_compaction=lambda sealed, param: unseal(sealed, KEY, param))
    error = refused({"type": "compaction", "encrypted_content": content}, outside=outside)
    assert (error.code, error.param) == ("invalid_compaction", "input[0].encrypted_content")


def test_no_letter_of_a_compaction_can_be_changed():
    sealed = seal([user("Pay Ann 10")], KEY)
    for at in range(4, len(sealed) - 2):
        altered = sealed[:at] + ("A" if sealed[at] != "A" else "B") + sealed[at + 1 :]
        with pytest.raises(ApiError):
            unseal(altered, KEY, "input[0]")


@pytest.mark.parametrize("kind", ["web_search_call", "computer_call", "custom_tool_call", "x"])
def test_an_item_nobody_could_carry_on_is_refused(kind: str):
    error = refused({"type": kind, "id": "x_1"}, user("Hi"))
    assert (error.code, error.param) == ("unsupported_item_type", "input[0].type")


def test_our_own_lines_are_taken_out_of_what_the_assistant_said():
    item = {"role": "assistant", "content": [{"type": "output_text", "text": render("ls") + "Hi"}]}
    assert messages(item, user("And?"))[0] == {"role": "assistant", "content": "Hi"}


def test_an_odd_phase_is_refused():
    item = {"type": "message", "role": "assistant", "content": "x", "phase": "third"}
    assert refused(item, user("Hi")).param == "input[0].phase"


@pytest.mark.parametrize(
    "item",
    [
        {"role": "user", "content": "Hi"},
        {"role": "user", "content": [{"type": "text", "text": "Hi"}]},
        {"role": "user", "content": [{"type": "input_image", "image_url": "https://a.b/c.png"}]},
        {
            "role": "user",
            "content": [{"type": "image_url", "image_url": {"url": "https://a.b/c.png"}}],
        },
        {"role": "system", "content": "Be kind."},
        {"role": "developer", "content": "Be kind.", "type": "message"},
        {"role": "assistant", "content": "Hi", "phase": "final_answer"},
        {"role": "assistant", "content": [{"type": "refusal", "refusal": "No."}], "phase": None},
        {"type": "function_call", "call_id": "c", "name": "f", "arguments": "{}"},
        {"type": "function_call_output", "call_id": "c", "output": "x", "id": None},
        {
            "type": "function_call_output",
            "call_id": "c",
            "output": [{"type": "input_text", "text": "x"}],
        },
        FINISHED_CALL,
        {"type": "reasoning"},
        {"type": "compaction", "encrypted_content": "hc1.x"},
    ],
)
def test_an_item_is_kept_as_strict_readers_want_it(item: dict[str, Any]):
    [kept] = kept_items([item])
    shown = ITEM.validate_python(kept, strict=True)

    assert shown.id == kept["id"]
    assert kept.get("phase") == item.get("phase")


def test_an_item_keeps_the_id_it_has():
    assert kept_items([{"role": "user", "content": "Hi", "id": "msg_7"}])[0]["id"] == "msg_7"
