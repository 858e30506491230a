"""JSON-RPC over lines, without any I/O: what `codex app-server` and ACP agents speak.

Both sides may call the other. What a line is becomes one of a few values; nothing here raises.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from hermes.backends.drivers.foreign_json import NOTHING, Json, as_line, inner, object_of, text
from hermes.backends.saying import Write

UNKNOWN_METHOD = -32601

Id = int | str


@dataclass(frozen=True, slots=True)
class Called:
    """The other side calls a method of ours and waits for `Connection.answer` or `refuse`."""

    id: Id
    method: str
    params: Json


@dataclass(frozen=True, slots=True)
class Notified:
    """The other side tells something."""

    method: str
    params: Json


@dataclass(frozen=True, slots=True)
class Answered:
    """A call of ours was answered."""

    method: str
    """Of the call."""
    result: Json
    """Empty where it is not an object."""


@dataclass(frozen=True, slots=True)
class Refused:
    """A call of ours failed."""

    method: str
    code: int | None
    message: str
    data: Any = None


@dataclass(frozen=True, slots=True)
class Unreadable:
    """A line that is none of these."""

    line: str


Incoming = Called | Notified | Answered | Refused | Unreadable


class Connection:
    """Our side of a connection: numbers our calls, and knows which answer belongs to which."""

    def __init__(self) -> None:
        self._calls: dict[Id, str] = {}
        self._last_id = 0

    def call(self, method: str, params: Mapping[str, Any]) -> Write:
        self._last_id += 1
        self._calls[self._last_id] = method
        return _line({"id": self._last_id, "method": method, "params": params})

    def notify(self, method: str, params: Mapping[str, Any] = NOTHING) -> Write:
        return _line({"method": method, "params": params})

    def answer(self, call_id: Id, result: Mapping[str, Any]) -> Write:
        return _line({"id": call_id, "result": result})

    def refuse(self, call: Called) -> Write:
        """What to say to a method that we do not have."""
        message = f"The client has no method {call.method}"
        return _line({"id": call.id, "error": {"code": UNKNOWN_METHOD, "message": message}})

    def read(self, line: bytes) -> Incoming:
        message = object_of(line)
        if message is None:
            return _unreadable(line)
        method, call_id = message.get("method"), _id(message.get("id"))
        if isinstance(method, str):
            params = inner(message, "params")
            return Notified(method, params) if call_id is None else Called(call_id, method, params)
        if call_id is None or call_id not in self._calls:
            return _unreadable(line)
        return self._reply(self._calls.pop(call_id), message)

    def _reply(self, method: str, message: Json) -> Incoming:
        error = message.get("error")
        if error is None:
            return Answered(method, inner(message, "result"))
        code = error.get("code") if isinstance(error, Mapping) else None
        reason = text(error, "message") or f"{method} failed"
        data = error.get("data") if isinstance(error, Mapping) else error
        return Refused(method, code if isinstance(code, int) else None, reason, data)


def _id(value: Any) -> Id | None:
    return value if isinstance(value, int | str) and not isinstance(value, bool) else None


def _unreadable(line: bytes) -> Unreadable:
    return Unreadable(line.decode(errors="replace"))


def _line(message: Mapping[str, Any]) -> Write:
    return Write(as_line({"jsonrpc": "2.0", **message}))
