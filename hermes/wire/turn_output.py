"""The output items of a turn that nobody watched, from the messages it left."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, assert_never

from hermes.core.events import is_internal
from hermes.core.messages import UNKNOWN_OUTCOME, Message, text_of, tool_calls_of
from hermes.core.turn import Outcome, TurnResult
from hermes.wire.approval_text import question_after
from hermes.wire.own_renderings import render
from hermes.wire.response_items import (
    Item,
    ItemIds,
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
    response_id: str,
    prior: int,
    form: ResponsesForm = ResponsesForm.FUNCTION_CALL,
    preview: Preview,
) -> list[Item]:
    """The output of a turn whose messages follow the first `prior` ones; the answer comes last.

    What the client has to run or to decide comes after everything, as it does in a stream.
    """
    ids, turn = ItemIds(response_id), result.messages[prior:]
    items = list(_Turn(turn, form, preview, ids, hidden=_not_run(turn, result)).items())
    waiting = [client_call_item(ids.new("fc_"), call) for call in result.pending]
    return [*_asked(_answered(items, result, ids), result, ids), *waiting]


def _not_run(turn: Sequence[Message], result: TurnResult) -> set[str]:
    """Calls that are no part of the output: the client's own, and those that must be approved.

    No call of a reply is made before the last of them is decided.
    """
    pending = {call_id_of(call) for call in result.pending}
    if result.outcome is not Outcome.ASKING:
        return pending
    called = {call_id_of(call) for message in turn for call in tool_calls_of(message)}
    return pending | called - {str(message.get("tool_call_id")) for message in turn}


def _answered(items: list[Item], result: TurnResult, ids: ItemIds) -> list[Item]:
    """The items with the turn's answer among them, where there is one."""
    status = "completed" if result.is_complete else "incomplete"
    if result.outcome in (Outcome.WAITING, Outcome.ASKING):
        is_said = any(_is_answer(item, result.text) for item in items)
        is_missing = bool(result.text) and not is_said
    elif items and _is_answer(items[-1], result.text):
        items[-1]["status"] = status
        return items
    else:
        is_missing = bool(result.text) or result.is_complete
    return [*items, message_item(ids.new("msg_"), result.text, status)] if is_missing else items


def _asked(items: list[Item], result: TurnResult, ids: ItemIds) -> list[Item]:
    """The items with the question that the turn ends with, where it does."""
    has_text = any(item["type"] == "message" for item in items)
    question = question_after(result, has_text=has_text)
    return [*items, message_item(ids.new("msg_"), question, "completed")] if question else items


def _is_answer(item: Item, text: str) -> bool:
    return bool(item["type"] == "message" and item["content"][0]["text"] == text)


class _Turn:
    """One turn's messages, read once from the first to the last."""

    def __init__(
        self,
        turn: Sequence[Message],
        form: ResponsesForm,
        preview: Preview,
        ids: ItemIds,
        *,
        hidden: set[str],
    ) -> None:
        self._turn = turn
        self._form = form
        self._preview = preview
        self._new_id = ids.new
        self._hidden = hidden
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
            yield reasoning_item(self._new_id("rs_"), str(message["reasoning"]))
        text = text_of(message.get("content"))
        if text:
            yield message_item(self._new_id("msg_"), text, "completed")
        for call in tool_calls_of(message):
            is_hidden = call_id_of(call) in self._hidden
            if not is_hidden and not is_internal(called_function(call)["name"]):
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
                yield call_item(self._new_id("fc_"), call_id_of(call), name, arguments, status)
            case ResponsesForm.MCP_CALL:
                yield _mcp_call(self._new_id("mcp_"), name, arguments, result)
            case ResponsesForm.REASONING:
                line = line_about(name, _as_mapping(arguments), self._preview)
                yield reasoning_item(self._new_id("rs_"), render(line))
            case ResponsesForm.HIDDEN:
                pass
            case _:
                assert_never(self._form)

    def _output(self, message: Message) -> Iterator[Item]:
        call_id = str(message.get("tool_call_id"))
        if call_id in self._shown:
            text = text_of(message.get("content"))
            is_list = self._form is ResponsesForm.OPEN_WEBUI
            yield call_output_item(
                self._new_id("fco_"), call_id, input_parts(text) if is_list else text
            )


def _mcp_call(item_id: str, name: str, arguments: str, result: str | None) -> Item:
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
