"""A model's reply, and the one accumulator that every dialect fills while it arrives.

It knows nothing of wires: dialects translate, this file only gathers.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

from hermes.core.ids import new_id
from hermes.core.turn import Usage
from hermes.providers.think_tags import ThinkTags

REASONING_CONTENT = "reasoning_content"
"""The kind of kept item that is a plain thought."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolCall:
    """A tool the model wants to have run."""

    id: str
    name: str
    arguments: str
    """JSON text as the model wrote it; a broken-off reply may leave it invalid."""
    extra_content: Any = None
    """What a provider attached to the call and wants to see again (thought signatures)."""

    def as_message_part(self) -> dict[str, Any]:
        part: dict[str, Any] = {
            "id": self.id,
            "type": "function",
            "function": {"name": self.name, "arguments": self.arguments},
        }
        if self.extra_content is not None:
            part["extra_content"] = self.extra_content
        return part


@dataclass(frozen=True, slots=True, kw_only=True)
class Reply:
    """What one model call produced."""

    text: str | None
    reasoning: str | None
    tool_calls: tuple[ToolCall, ...]
    finish_reason: str | None
    """stop, length, tool_calls or content_filter; None when the reply never came to its end."""
    usage: Usage | None
    raw_usage: Any
    """The provider's own usage value, untouched."""
    model: str | None
    error: str | None = None
    """Why the reply is not whole, in words for the caller."""
    replay: Any = None
    """`{"api_mode", "items"}` to put under `replay` of the assistant message, or None."""


@dataclass(slots=True)
class _OpenCall:
    """A tool call while its fragments arrive."""

    id: str = ""
    name: str = ""
    arguments: list[str] = field(default_factory=list)
    extra_content: Any = None


class ReplyBuilder:
    """Gathers one reply. Used by one thread at a time: the loop while driven, else the caller."""

    def __init__(
        self,
        *,
        on_text: Callable[[str], None],
        on_reasoning: Callable[[str], None],
        has_think_tags: bool = False,
    ) -> None:
        """`has_think_tags`: thoughts may stand in the text, before the answer begins."""
        self._on_text = on_text
        self._on_reasoning = on_reasoning
        self._text: list[str] = []
        self._reasoning: list[str] = []
        self._calls: list[_OpenCall] = []
        self._call_at: dict[int, _OpenCall] = {}
        self._kept = _Kept()
        self._finish_reason: str | None = None
        self._usage: Usage | None = None
        self._raw_usage: Any = None
        self._model: str | None = None
        self._error: str | None = None
        self._tags = ThinkTags() if has_think_tags else None
        self._thoughts: list[str] = []
        self._thoughts_mode = ""

    @property
    def has_text(self) -> bool:
        """Whether text was passed on: from then on the call must not be repeated unseen."""
        return bool(self._text)

    @property
    def has_reasoning(self) -> bool:
        return bool(self._reasoning)

    @property
    def is_finished(self) -> bool:
        """Whether the provider said why it stopped; if not, the reply broke off."""
        return self._finish_reason is not None

    @property
    def text(self) -> str:
        return "".join(self._text)

    @property
    def tool_names(self) -> list[str]:
        """The tools named so far, also those whose arguments are still arriving."""
        return [call.name for call in self._calls if call.name]

    @property
    def raw_usage(self) -> Any:
        return self._raw_usage

    def add_text(self, piece: str) -> None:
        if self._tags is not None:
            piece = self._without_thoughts(self._tags, piece)
        if piece:
            self._text.append(piece)
            self._on_text(piece)

    def _without_thoughts(self, tags: ThinkTags, piece: str) -> str:
        thought, text = tags.split(piece)
        self.add_reasoning(thought)
        if tags.is_done:
            self._tags = None
        return text

    def end_text(self) -> None:
        """No more text will come: what was held back, because it might be a tag, is passed on."""
        tags, self._tags = self._tags, None
        if tags is not None:
            self.add_text(tags.rest())

    def add_reasoning(self, piece: str) -> None:
        if piece:
            self._reasoning.append(piece)
            self._on_reasoning(piece)

    def add_tool_call(
        self,
        index: int | None,
        *,
        id: str | None = None,
        name: str | None = None,
        arguments: str | None = None,
        extra_content: Any = None,
    ) -> None:
        """Add a fragment to the call at `index`; without an index, to the one with this id."""
        call = self._call_for(index, id or "", name or "")
        call.id = call.id or id or ""
        call.name = name or call.name
        if arguments:
            call.arguments.append(arguments)
        if extra_content is not None:
            call.extra_content = extra_content

    def replace_tool_calls(self, calls: Sequence[ToolCall]) -> None:
        """Take the provider's own final list; fragments seen so far are forgotten."""
        self._call_at.clear()
        self._calls = [_OpenCall(c.id, c.name, [c.arguments], c.extra_content) for c in calls]

    def keep_thought(self, api_mode: str, piece: str) -> None:
        """Keep a thought to be sent back with the calls it led to, if it leads to any."""
        self._thoughts_mode = api_mode
        self._thoughts.append(piece)

    def keep(self, api_mode: str, key: int, item: dict[str, Any]) -> None:
        """Keep a provider's item to be sent back verbatim; `key` gives its place."""
        self._kept.put(api_mode, key, item)

    def keep_more(self, key: int, name: str, piece: str) -> None:
        """Append `piece` to a text field of the kept item; without such an item, to nothing."""
        self._kept.append(key, name, piece)

    def is_kept(self, key: int) -> bool:
        return key in self._kept.items

    def finish(self, reason: str | None) -> None:
        if reason is not None:
            self.end_text()
            self._finish_reason = reason

    def count(self, usage: Usage, raw: Any) -> None:
        """The usage of this call so far; a later count replaces it."""
        self._usage = usage
        self._raw_usage = raw

    def name_model(self, model: str) -> None:
        self._model = model or self._model

    def fail(self, error: str) -> None:
        """Say why the reply is not whole."""
        self._error = error

    def build(self) -> Reply:
        """The reply as far as it has arrived; may be called again later."""
        self.end_text()
        calls = tuple(_closed(call) for call in self._calls if call.name)
        asks_for_tools = bool(calls) and self._finish_reason == "stop"
        return Reply(
            text="".join(self._text) or None,
            reasoning="".join(self._reasoning) or None,
            tool_calls=calls,
            finish_reason="tool_calls" if asks_for_tools else self._finish_reason,
            usage=self._usage,
            raw_usage=self._raw_usage,
            model=self._model,
            error=self._error,
            replay=self._kept.as_replay() or (self._thoughts_replay() if calls else None),
        )

    def _thoughts_replay(self) -> dict[str, Any] | None:
        if not self._thoughts:
            return None
        item = {"type": REASONING_CONTENT, "text": "".join(self._thoughts)}
        return {"api_mode": self._thoughts_mode, "items": [item]}

    def _call_for(self, index: int | None, id: str, name: str) -> _OpenCall:
        if index is None:
            index = self._index_without_one(id)
        call = self._call_at.get(index)
        # Some servers number every parallel call 0 and only the id tells them apart.
        if call is None or (id and name and call.id and call.id != id):
            call = self._call_at[index] = _OpenCall()
            self._calls.append(call)
        return call

    def _index_without_one(self, id: str) -> int:
        for index, call in self._call_at.items():
            if id and call.id == id:
                return index
        return len(self._call_at) if id else max(len(self._call_at) - 1, 0)


class _Kept:
    """Provider items to replay, in order of their keys, text fields gathered piece by piece."""

    def __init__(self) -> None:
        self.items: dict[int, dict[str, Any]] = {}
        self._api_mode = ""
        self._pieces: dict[tuple[int, str], list[str]] = {}

    def put(self, api_mode: str, key: int, item: dict[str, Any]) -> None:
        self._api_mode = api_mode
        self.items[key] = item
        self._pieces = {at: pieces for at, pieces in self._pieces.items() if at[0] != key}

    def append(self, key: int, name: str, piece: str) -> None:
        if key in self.items:
            self._pieces.setdefault((key, name), []).append(piece)

    def as_replay(self) -> dict[str, Any] | None:
        if not self.items:
            return None
        items = {key: dict(item) for key, item in sorted(self.items.items())}
        for (key, name), pieces in self._pieces.items():
            items[key][name] = str(items[key].get(name) or "") + "".join(pieces)
        return {"api_mode": self._api_mode, "items": list(items.values())}


def _closed(call: _OpenCall) -> ToolCall:
    # The id is remembered, so that building twice gives the same reply.
    call.id = call.id or new_id("call_")
    return ToolCall(
        id=call.id,
        name=call.name,
        arguments="".join(call.arguments) or "{}",
        extra_content=call.extra_content,
    )
