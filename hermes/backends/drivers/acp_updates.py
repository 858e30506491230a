"""What an ACP agent tells while it works on a prompt, as events. Pure."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from hermes.backends.drivers.acp_usage import usage_of_call
from hermes.backends.drivers.foreign_json import Json, items, text
from hermes.backends.saying import (
    Event,
    MessageEnded,
    PermissionAsked,
    Said,
    Thought,
    Told,
    ToolAnswered,
    ToolCalled,
)
from hermes.core.usage import NO_USAGE

_PROGRESS = frozenset(
    {
        "available_commands_update",
        "config_option_update",
        "current_mode_update",
        "plan",
        "session_info_update",
        "usage_update",
        "user_message_chunk",
    }
)
"""Kinds of updates that are not for the reader."""

_REASONS = {
    "execute": "wants to run a command",
    "edit": "wants to change files",
    "delete": "wants to delete files",
    "move": "wants to move files",
    "read": "wants to read files",
    "search": "wants to search through files",
    "fetch": "wants to fetch something from the web",
}

_LEFT = "The agent did not say what came of it."


class Updates:
    """Hears the updates of one prompt and puts messages and tool calls together."""

    def __init__(self) -> None:
        self.answer = ""
        """The last message of the agent."""
        self.used_tools = False
        self.usage = NO_USAGE
        """What the calls of the model used, as far as the agent tells that while it works."""
        self._pieces: list[str] = []
        self._message_id = ""
        self._calls: dict[str, dict[str, Any]] = {}
        self._open: dict[str, str] = {}
        """The names of the calls that the reader waits for."""
        self._told: set[str] = set()
        """The calls that the reader knows of."""

    def hear(self, update: Json) -> Sequence[Event]:
        used = usage_of_call(update)
        if used is not None:
            self.usage += used
        match text(update, "sessionUpdate"):
            case "agent_message_chunk":
                return [*self._turn_to(text(update, "messageId")), *self._say(update)]
            case "agent_thought_chunk":
                thought = text(update, "content", "text")
                return [Thought(thought)] if thought else []
            case "tool_call" | "tool_call_update":
                return [*self.end_message(), *self._on_call(update)]
            case known if known in _PROGRESS:
                return []
            case unknown:
                return [Told("unknown_line", f"session/update {unknown}")]

    def end_message(self) -> Sequence[Event]:
        """The agent does something else, or is done: what it has said so far is a message."""
        if not self._pieces:
            return []
        self.answer = "".join(self._pieces)
        self._pieces = []
        return [MessageEnded(self.answer)]

    def end(self) -> Sequence[Event]:
        """The turn is over. Of a call that was denied agents say nothing more."""
        left = [ToolAnswered(call_id, name, _LEFT, True) for call_id, name in self._open.items()]
        self._open.clear()
        return [*self.end_message(), *left]

    def ask(self, question_id: str, call: Json) -> tuple[PermissionAsked, Sequence[Event]]:
        """What a person is to decide about `call`, and what has to be told before."""
        before = [*self.end_message(), *self._on_call(call, is_sure=True)]
        known = self._calls[text(call, "toolCallId")]
        question = PermissionAsked(
            id=question_id,
            call_id=text(call, "toolCallId"),
            tool=_name(known),
            arguments=_arguments(known),
            shown=_shown(known),
            reason=_REASONS.get(text(known, "kind"), "wants to use a tool"),
        )
        return question, before

    def _turn_to(self, message_id: str) -> Sequence[Event]:
        """Some agents give their messages ids; another id is another message."""
        is_other = bool(message_id and self._message_id and message_id != self._message_id)
        self._message_id = message_id or self._message_id
        return self.end_message() if is_other else []

    def _say(self, update: Json) -> Sequence[Event]:
        piece = text(update, "content", "text")
        if not piece:
            return []
        self._pieces.append(piece)
        return [Said(piece)]

    def _on_call(self, update: Json, *, is_sure: bool = False) -> Iterator[Event]:
        """A call is told once its arguments are known: when it runs, or is asked about."""
        call_id, status = text(update, "toolCallId"), text(update, "status")
        call = self._calls.setdefault(call_id, {})
        call |= {name: value for name, value in update.items() if value not in (None, "", [], {})}
        self.used_tools = True
        if call_id not in self._told and (is_sure or status != "pending"):
            self._told.add(call_id)
            self._open[call_id] = _name(call)
            yield ToolCalled(call_id, self._open[call_id], _arguments(call))
        if status in ("completed", "failed") and call_id in self._open:
            name = self._open.pop(call_id)
            yield ToolAnswered(call_id, name, _output(call), status == "failed")


def _name(call: Json) -> str:
    """ACP has titles for people and kinds, and no names; few agents tell theirs all the same."""
    kind = text(call, "kind")
    return text(call, "_meta", "toolName") or (kind if kind != "other" else "") or "tool"


def _arguments(call: Json) -> Mapping[str, Any]:
    given = call.get("rawInput")
    return given if isinstance(given, Mapping) else {"title": text(call, "title")}


def _shown(call: Json) -> str:
    command = text(call, "rawInput", "command")
    if command:
        return command
    diffs = (_shown_diff(part) for part in items(call, "content") if text(part, "type") == "diff")
    given = call.get("rawInput")
    details = [json.dumps(given, ensure_ascii=False)] if given else []
    return "\n".join([text(call, "title"), *details, *diffs])


def _shown_diff(part: Json) -> str:
    return f"{text(part, 'path')}\n{text(part, 'newText')}"


def _output(call: Json) -> str:
    said = [text(part, "content", "text") for part in items(call, "content")]
    changed = [text(part, "path") for part in items(call, "content") if "newText" in part]
    found = "\n".join(part for part in (*said, *changed) if part)
    return found or text(call, "rawOutput", "output") or text(call, "rawOutput")
