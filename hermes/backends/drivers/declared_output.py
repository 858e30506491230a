"""Reading what a declared CLI prints: text, one JSON object, or an object per line. Pure."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, Protocol

from hermes.backends.drivers.claude_lines import ClaudeLines
from hermes.backends.drivers.endings import crashed, failed, stopped
from hermes.backends.drivers.foreign_json import count, object_of
from hermes.backends.saying import (
    Ending,
    EndKind,
    Event,
    Exit,
    Said,
    Started,
    Told,
)
from hermes.core.usage import Usage
from hermes.settings.cli_settings import DeclaredCli


class Output(Protocol):
    """What one process prints. Nothing of it raises."""

    def read(self, line: bytes) -> Sequence[Event]: ...

    def finish(self, exit_: Exit) -> Ending: ...


def output_of(declared: DeclaredCli, *, keeps_session: bool) -> Output:
    match declared.output:
        case "text":
            return TextOutput()
        case "json":
            return ObjectOutput(declared)
        case "jsonl":
            return LinesOutput(declared)
        case "claude":
            return ClaudeLines(keeps_session=keeps_session)


class TextOutput:
    """Every line is part of the answer; empty ones at its ends are not."""

    def __init__(self) -> None:
        self._said: list[str] = []
        self._held = ""
        """Line feeds that belong to the answer only if it goes on."""

    def read(self, line: bytes) -> Sequence[Event]:
        words = line.decode(errors="replace").rstrip("\r")
        if not words.strip():
            self._held += "\n" if self._said else ""
            return []
        piece = self._held + words
        self._held = "\n"
        self._said.append(piece)
        return [Said(piece)]

    def finish(self, exit_: Exit) -> Ending:
        text = "".join(self._said)
        return replace(_ending(exit_, text), text=text)


class LinesOutput:
    """Texts of lines are said as they come; of all else the last that is told counts."""

    def __init__(self, declared: DeclaredCli) -> None:
        self._declared = declared
        self._told: dict[str, Any] = {}
        self._said: list[str] = []

    def read(self, line: bytes) -> Sequence[Event]:
        value = object_of(line)
        if value is None:
            noise = line.decode(errors="replace").strip()
            return [Told("unknown_line", noise[:200])] if noise else []
        return [*self._note(value), *self._say(found(value, self._declared.text_field))]

    def finish(self, exit_: Exit) -> Ending:
        text = "".join(self._said)
        return _with_fields(_ending(exit_, text, self._told.get("error")), text, self._told)

    def _note(self, value: Mapping[str, Any]) -> Sequence[Event]:
        fields = fields_of(value, self._declared)
        is_new = "session" in fields and fields["session"] != self._told.get("session")
        self._told |= fields
        return [Started(str(fields["session"]))] if is_new else []

    def _say(self, text: Any) -> Sequence[Event]:
        if not isinstance(text, str) or not text:
            return []
        self._said.append(text)
        return [Said(text)]


class ObjectOutput:
    """One object, over as many lines as it likes; what stands before it is noise."""

    def __init__(self, declared: DeclaredCli) -> None:
        self._declared = declared
        self._lines: list[bytes] = []

    def read(self, line: bytes) -> Sequence[Event]:
        if self._lines or line.lstrip().startswith(b"{"):
            self._lines.append(line)
        return []

    def finish(self, exit_: Exit) -> Ending:
        value = object_of(b"\n".join(self._lines)) if self._lines else None
        if value is None:
            return self._unreadable(exit_)
        told = fields_of(value, self._declared)
        text = _as_text(found(value, self._declared.text_field))
        ending = _ending(exit_, text, told.get("error"))
        return replace(_with_fields(ending, text, told), unsaid=text)

    def _unreadable(self, exit_: Exit) -> Ending:
        if exit_.code != 0 or exit_.stopped is not None:
            return _ending(exit_, "")
        if self._lines:
            message = "The CLI's output broke off, or is not one JSON object; try again."
            return failed(message, code="cli_output_truncated")
        return failed("The CLI printed no JSON object; look at its `output`.", code="cli_garbage")


def fields_of(value: Mapping[str, Any], declared: DeclaredCli) -> dict[str, Any]:
    """What the object tells beside the text, as far as it is declared and there."""
    paths = {
        "session": declared.session_field,
        "error": declared.error_field,
        "input": declared.input_tokens_field,
        "output": declared.output_tokens_field,
        "cost": declared.cost_field,
    }
    told = {name: found(value, path) for name, path in paths.items() if path}
    return {name: value for name, value in told.items() if value not in (None, False, "", [], {})}


def found(value: Any, path: str) -> Any:
    """What is at `path`: names with dots between them, and numbers for places in a list."""
    for name in path.split("."):
        if isinstance(value, Mapping):
            value = value.get(name)
        elif isinstance(value, list) and name.isdecimal() and int(name) < len(value):
            value = value[int(name)]
        else:
            return None
    return value


def _ending(exit_: Exit, text: str, error: Any = None) -> Ending:
    if (by_us := stopped(exit_)) is not None:
        return by_us
    if error is not None:
        return failed(_error_text(error))
    if exit_.code != 0:
        # Some print where answers belong what went wrong.
        return crashed(exit_ if exit_.stderr.strip() else replace(exit_, stderr=text))
    if not text:
        return failed("The CLI printed no answer; try again.", code="cli_garbage")
    return Ending(kind=EndKind.ANSWERED)


def _with_fields(ending: Ending, text: str, told: Mapping[str, Any]) -> Ending:
    session = told.get("session")
    return replace(
        ending,
        text=text,
        usage=_usage(told),
        session_id=str(session) if isinstance(session, str | int) else None,
    )


def _usage(told: Mapping[str, Any]) -> Usage:
    read, written, cost = count(told, "input"), count(told, "output"), told.get("cost")
    is_price = isinstance(cost, int | float) and not isinstance(cost, bool)
    return Usage(
        input_tokens=read,
        output_tokens=written,
        total_tokens=read + written,
        cost_usd=float(cost) if is_price and cost is not None else None,
    )


def _error_text(error: Any) -> str:
    inner = found(error, "message")
    return inner if isinstance(inner, str) and inner else _as_text(error)


def _as_text(value: Any) -> str:
    if value is None or isinstance(value, str):
        return value or ""
    return json.dumps(value, ensure_ascii=False)
