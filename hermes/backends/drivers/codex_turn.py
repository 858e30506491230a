"""What `codex app-server` tells about one turn of one thread, as events. Pure."""

from __future__ import annotations

from collections.abc import Sequence

from hermes.backends.drivers import codex_failures, codex_items
from hermes.backends.drivers.codex_messages import Messages
from hermes.backends.drivers.codex_usage import ThreadUsage, of_server
from hermes.backends.drivers.foreign_json import Json, at, inner, text
from hermes.backends.saying import (
    Concluded,
    Ending,
    Event,
    MessageEnded,
    Said,
    Thought,
    Told,
    ToolCalled,
)
from hermes.core.usage import Usage

_PROGRESS = (
    "account/",
    "app/",
    "command/",
    "configWarning",
    "deprecationNotice",
    "fs/",
    "hook/",
    "item/",
    "mcpServer/",
    "model/",
    "modelProvider/",
    "process/",
    "remoteControl/",
    "serverRequest/",
    "skills/",
    "thread/",
    "turn/",
)
"""How the names of all else begin that Codex tells, and that is not for the reader."""


class Turn:
    """Hears the notifications of a connection and keeps what becomes of the turn."""

    def __init__(self, used_before: Usage, workspace: str) -> None:
        self.thread_id: str | None = None
        self.id: str | None = None
        self.answer = ""
        """The last message of the model."""
        self.outcome: str | None = None
        """`completed`, `interrupted` or `failed`, once it is over."""
        self.failure: Ending | None = None
        self.calls: dict[str, Json] = {}
        """The tool calls under way, by id."""
        self.usage = ThreadUsage(used_before)
        self._workspace = workspace
        self._messages = Messages()

    def hear(self, method: str, params: Json) -> Sequence[Event]:
        if method in ("warning", "guardianWarning"):
            return [Told("cli_warning", text(params, "message"))]
        if not method.startswith(_PROGRESS) and method != "error":
            return [Told("unknown_line", method)]
        return self._hear_of_thread(method, params) if self._is_ours(params) else []

    def _is_ours(self, params: Json) -> bool:
        """Whether it is about our thread, and not that of an agent which Codex has started."""
        thread_id = text(params, "threadId")
        return not thread_id or thread_id == self.thread_id

    def _hear_of_thread(self, method: str, params: Json) -> Sequence[Event]:
        match method:
            case "item/agentMessage/delta":
                return self._say(self._messages.hear(text(params, "itemId"), text(params, "delta")))
            case "item/reasoning/summaryTextDelta" | "item/reasoning/textDelta":
                return [Thought(text(params, "delta"))]
            case "item/reasoning/summaryPartAdded":
                return [Thought("\n\n")] if at(params, "summaryIndex") else []
            case "item/started":
                return self._start_item(self._item_in(params))
            case "item/completed":
                return self._complete_item(self._item_in(params))
            case "thread/tokenUsage/updated":
                return self._count(params)
            case "turn/started":
                self.id = text(params, "turn", "id") or self.id
                return []
            case "turn/completed":
                return self._end(inner(params, "turn"))
            case "error":
                return self._stumble(params)
            case _:
                return []

    def _item_in(self, params: Json) -> Json:
        return codex_items.without_home(inner(params, "item"), self._workspace)

    def _say(self, piece: str) -> list[Event]:
        return [Said(piece)] if piece else []

    def _start_item(self, item: Json) -> Sequence[Event]:
        if not codex_items.is_tool(item):
            return []
        self.calls[text(item, "id")] = item
        return [codex_items.called(item)]

    def _complete_item(self, item: Json) -> Sequence[Event]:
        if codex_items.kind_of(item) == "agent_message":
            self.answer = text(item, "text")
            rest = self._messages.hear_whole(text(item, "id"), self.answer)
            return [*self._say(rest), MessageEnded(self.answer)]
        if not codex_items.is_tool(item):
            return []
        was_told = self.calls.pop(text(item, "id"), None) is not None
        called: list[ToolCalled] = [] if was_told else [codex_items.called(item)]
        return [*called, codex_items.answered(item)]

    def _count(self, params: Json) -> Sequence[Event]:
        total = of_server(inner(params, "tokenUsage", "total"))
        if self.id is not None and text(params, "turnId") == self.id:
            self.usage.reach(total)
            self._messages.settle()
        else:  # told again when a thread is taken up: what its earlier turns have used
            self.usage.begin_at(total)
        return []

    def _stumble(self, params: Json) -> Sequence[Event]:
        if not params.get("willRetry"):
            return []  # the end of the turn tells it again
        self._messages.begin_again()
        error = inner(params, "error")
        said = (text(error, "message"), text(error, "additionalDetails"))
        return [Told("cli_retry", ": ".join(part for part in said if part))]

    def _end(self, turn: Json) -> Sequence[Event]:
        self.id = text(turn, "id") or self.id
        self.outcome = text(turn, "status")
        if self.outcome not in ("completed", "interrupted"):
            self.failure = codex_failures.ending_of(inner(turn, "error"))
        return [Concluded()]
