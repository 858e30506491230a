"""Tool calls in a Responses stream: the server's own in each of their forms, and the client's."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, assert_never

from hermes.core.events import ToolFinished, ToolStarted
from hermes.core.messages import UNKNOWN_OUTCOME
from hermes.wire.own_renderings import render
from hermes.wire.response_items import (
    arguments_text,
    call_item,
    call_output_item,
    client_call_item,
    input_parts,
    line_about,
    mcp_error,
    mcp_item,
)
from hermes.wire.response_output import ResponseOutput, Thought
from hermes.wire.tool_forms import Preview, ResponsesForm


class ServerCalls:
    """Tools that the server runs. This one shows nothing; each other form is a class below."""

    def __init__(self, output: ResponseOutput) -> None:
        self._output = output
        self._open: dict[str, int] = {}

    def __contains__(self, call_id: object) -> bool:
        """Whether this call has started and not finished."""
        return call_id in self._open

    def started(self, event: ToolStarted) -> bytes:
        self._open[event.call_id] = len(self._output.items)
        return self._begin(event)

    def finished(self, event: ToolFinished) -> bytes:
        return self._end(event, self._open.pop(event.call_id))

    def close(self) -> bytes:
        """For the end of the turn: calls that never reported back."""
        left, self._open = self._open, {}
        return b"".join(self._give_up(index) for index in left.values())

    def _begin(self, event: ToolStarted) -> bytes:
        return b""

    def _end(self, event: ToolFinished, index: int) -> bytes:
        return b""

    def _give_up(self, index: int) -> bytes:
        return b""


class FunctionCalls(ServerCalls):
    """A `function_call` and its `function_call_output`."""

    def _begin(self, event: ToolStarted) -> bytes:
        item = call_item(self._output.new_id("fc_"), event.call_id, event.name, "", "in_progress")
        return _add_call(self._output, item, arguments_text(event.arguments))

    def _end(self, event: ToolFinished, index: int) -> bytes:
        done = self._output.done(index, {**self._output.items[index], "status": "completed"})
        output = call_output_item(
            self._output.new_id("fco_"), event.call_id, input_parts(event.output)
        )
        added = self._output.add({**output, "status": "in_progress"})
        return done + added + self._output.done(len(self._output.items) - 1, output)

    def _give_up(self, index: int) -> bytes:
        return self._output.done(index, {**self._output.items[index], "status": "incomplete"})


class McpCalls(ServerCalls):
    """One `mcp_call` that ends with its output."""

    def _begin(self, event: ToolStarted) -> bytes:
        output = self._output
        item = mcp_item(output.new_id("mcp_"), event.name, "", "in_progress")
        arguments = arguments_text(event.arguments)
        place = {"item_id": item["id"], "output_index": len(output.items)}
        added = output.add(item)
        output.items[-1] = {**item, "arguments": arguments}
        return (
            added
            + output.event("response.mcp_call.in_progress", **place)
            + output.event("response.mcp_call_arguments.delta", **place, delta=arguments)
            + output.event("response.mcp_call_arguments.done", **place, arguments=arguments)
        )

    def _end(self, event: ToolFinished, index: int) -> bytes:
        return self._close(index, status="completed", output=event.output)

    def _give_up(self, index: int) -> bytes:
        return self._close(index, status="failed", error=mcp_error(UNKNOWN_OUTCOME))

    def _close(self, index: int, **ending: Any) -> bytes:
        item = {**self._output.items[index], **ending}
        kind = f"response.mcp_call.{item['status']}"
        ended = self._output.event(kind, item_id=item["id"], output_index=index)
        return ended + self._output.done(index, item)


class CallsAsThoughts(ServerCalls):
    """A reasoning item with a line about the call, open while it runs."""

    def __init__(self, output: ResponseOutput, preview: Preview) -> None:
        super().__init__(output)
        self._preview = preview
        self._thoughts: dict[int, Thought] = {}

    def _begin(self, event: ToolStarted) -> bytes:
        thought = Thought(self._output)
        self._thoughts[len(self._output.items)] = thought
        line = line_about(event.name, event.arguments, self._preview)
        opened = thought.open() + thought.delta(render(line))
        thought.settle()
        return opened

    def _end(self, event: ToolFinished, index: int) -> bytes:
        return self._thoughts.pop(index).close()

    def _give_up(self, index: int) -> bytes:
        return self._thoughts.pop(index).close()


def server_calls(form: ResponsesForm, output: ResponseOutput, preview: Preview) -> ServerCalls:
    match form:
        case ResponsesForm.FUNCTION_CALL | ResponsesForm.OPEN_WEBUI:
            return FunctionCalls(output)
        case ResponsesForm.MCP_CALL:
            return McpCalls(output)
        case ResponsesForm.REASONING:
            return CallsAsThoughts(output, preview)
        case ResponsesForm.HIDDEN:
            return ServerCalls(output)
        case _:
            assert_never(form)


def client_calls(output: ResponseOutput, pending: Iterable[Mapping[str, Any]]) -> bytes:
    """Calls that the client is to run, in whatever form the server's own are shown."""
    return b"".join(
        _client_call(output, client_call_item(output.new_id("fc_"), call)) for call in pending
    )


def _client_call(output: ResponseOutput, item: dict[str, Any]) -> bytes:
    index = len(output.items)
    opened = {**item, "arguments": "", "status": "in_progress"}
    return _add_call(output, opened, item["arguments"]) + output.done(index, item)


def _add_call(output: ResponseOutput, item: dict[str, Any], arguments: str) -> bytes:
    """A call that begins: the item without its arguments, then those."""
    place = {"item_id": item["id"], "output_index": len(output.items)}
    added = output.add(item)
    output.items[-1] = {**item, "arguments": arguments}
    kind = "response.function_call_arguments"
    return (
        added
        + output.event(f"{kind}.delta", **place, delta=arguments)
        + output.event(f"{kind}.done", **place, name=item["name"], arguments=arguments)
    )
