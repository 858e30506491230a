"""The output items of a turn that nobody watched, from the messages it left."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, assert_never

from hermes.core.events import is_internal
from hermes.core.ids import new_id
from hermes.core.messages import UNKNOWN_OUTCOME, Message, text_of, tool_calls_of
from hermes.core.turn import Outcome, TurnResult
from hermes.wire.own_renderings import render
from hermes.wire.response_items import (
    Item,
    call_id_of,
    call_item,
    call_output_item,
    called_function,
    client_call_item,
    input_parts,
    line_about,
    mcp_error,
    mcp_item,
    message_item,
    reasoning_item,
)
from hermes.wire.tool_forms import Preview, ResponsesForm


def output_items(
    result: TurnResult,
    *,
    prior: int,
    form: ResponsesForm = ResponsesForm.FUNCTION_CALL,
    preview: Preview,
) -> list[Item]:
    """The output of a turn whose messages follow the first `prior` ones; the answer comes last.

    What the client has to run comes after everything, as it does in a stream.
    """
    turn = result.messages[prior:]
    pending = {call_id_of(call) for call in result.pending}
    items = list(_Turn(turn, form, preview, pending).items())
    waiting = [client_call_item(call) for call in result.pending]
    return [*_answered(items, result), *waiting]


def _answered(items: list[Item], result: TurnResult) -> list[Item]:
    """The items with the turn's answer among them, where there is one."""
    if result.outcome is Outcome.WAITING:
        is_said = any(_is_answer(item, result.text) for item in items)
        missing = bool(result.text) and not is_said
        return [*items, _answer(result)] if missing else items
    if items and _is_answer(items[-1], result.text):
        items[-1]["status"] = _answer(result)["status"]
        return items
    return [*items, _answer(result)] if result.text or result.is_complete else items


def _answer(result: TurnResult) -> Item:
    status = "completed" if result.is_complete else "incomplete"
    return message_item(new_id("msg_"), result.text, status)


def _is_answer(item: Item, text: str) -> bool:
    return bool(item["type"] == "message" and item["content"][0]["text"] == text)


class _Turn:
    """One turn's messages, read once from the first to the last."""

    def __init__(
        self, turn: Sequence[Message], form: ResponsesForm, preview: Preview, pending: set[str]
    ) -> None:
        self._turn = turn
        self._form = form
        self._preview = preview
        self._pending = pending
        self._shown: set[str] = set()
        """Calls of this turn whose output is an item too; the turn may open with other results."""

    def items(self) -> Iterator[Item]:
        for at, message in enumerate(self._turn):
            if message.get("role") == "assistant":
                yield from self._said(at, message)
            elif message.get("role") == "tool":
                yield from self._output(message)

    def _said(self, at: int, message: Message) -> Iterator[Item]:
        if message.get("reasoning"):
            yield reasoning_item(new_id("rs_"), str(message["reasoning"]))
        text = text_of(message.get("content"))
        if text:
            yield message_item(new_id("msg_"), text, "completed")
        for call in tool_calls_of(message):
            is_ours = call_id_of(call) not in self._pending
            if is_ours and not is_internal(called_function(call)["name"]):
                yield from self._call(call, self._result(at, call_id_of(call)))

    def _result(self, at: int, call_id: str) -> str | None:
        """The first answer to this call after the message that made it."""
        for message in self._turn[at + 1 :]:
            if message.get("tool_call_id") == call_id:
                return text_of(message.get("content"))
        return None

    def _call(self, call: Mapping[str, Any], result: str | None) -> Iterator[Item]:
        function = called_function(call)
        name, arguments = function["name"], function["arguments"]
        match self._form:
            case ResponsesForm.FUNCTION_CALL | ResponsesForm.OPEN_WEBUI:
                self._shown.add(call_id_of(call))
                status = "incomplete" if result is None else "completed"
                yield call_item(new_id("fc_"), call_id_of(call), name, arguments, status)
            case ResponsesForm.MCP_CALL:
                yield _mcp_call(name, arguments, result)
            case ResponsesForm.REASONING:
                line = line_about(name, _as_mapping(arguments), self._preview)
                yield reasoning_item(new_id("rs_"), render(line))
            case ResponsesForm.HIDDEN:
                pass
            case _:
                assert_never(self._form)

    def _output(self, message: Message) -> Iterator[Item]:
        call_id = str(message.get("tool_call_id"))
        if call_id in self._shown:
            text = text_of(message.get("content"))
            is_list = self._form is ResponsesForm.OPEN_WEBUI
            yield call_output_item(new_id("fco_"), call_id, input_parts(text) if is_list else text)


def _mcp_call(name: str, arguments: str, result: str | None) -> Item:
    item_id = new_id("mcp_")
    if result is None:
        return mcp_item(item_id, name, arguments, "failed", error=mcp_error(UNKNOWN_OUTCOME))
    return mcp_item(item_id, name, arguments, "completed", output=result)


def _as_mapping(arguments: str) -> Mapping[str, Any]:
    """Arguments for a preview; a model may have written anything."""
    try:
        found = json.loads(arguments)
    except ValueError:
        return {}
    return found if isinstance(found, dict) else {}
