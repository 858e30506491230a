"""A whole session as one JSON document, written and read again exactly.

Ids of messages and runs belong to the store that gave them, so they are not in it.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from typing import Any

from hermes.core.errors import InvalidRequest
from hermes.core.messages import Content
from hermes.core.sessions import GivenMessage, SessionHead
from hermes.wire.lenient import mapping, required_text, shown, text, wrong_type
from hermes.wire.sessions import MAX_TITLE

OBJECT = "hermes.session.export"
VERSION = 1
ROLES = ("system", "user", "assistant", "tool")
LONGEST_ID = 256
LATEST = 253_402_300_800.0
"""The end of the year 9999: a time behind it is none."""

_SESSION_KEYS = (
    "id",
    "title",
    "source",
    "model",
    "parent_session_id",
    "started_at",
    "updated_at",
    "ended_at",
    "end_reason",
)
_TOOL_KEYS = ("tool_calls", "tool_call_id", "tool_name")
_MESSAGE_KEYS = ("role", "content", "timestamp", *_TOOL_KEYS)


def export_document(
    session: Mapping[str, Any], messages: Sequence[Mapping[str, Any]]
) -> dict[str, Any]:
    return {
        "object": OBJECT,
        "version": VERSION,
        "session": {key: session.get(key) for key in _SESSION_KEYS},
        "messages": [
            {
                "role": message["role"],
                "content": message.get("content"),
                "timestamp": message["timestamp"],
                **{key: message[key] for key in _TOOL_KEYS if message.get(key) is not None},
            }
            for message in messages
        ],
    }


def export_text(document: Mapping[str, Any]) -> str:
    """In ASCII: a lone surrogate that a tool once wrote survives in no other form."""
    return json.dumps(document, indent=1)


def file_name(session_id: str) -> str:
    """For the download: nothing in it means anything to a shell, a browser or a file system."""
    safe = re.sub(r"[^A-Za-z0-9_-]+", "-", session_id[:80]).strip("-")
    return f"hermes-session-{safe or 'export'}.json"


def parse_import(document: Mapping[str, Any]) -> tuple[str, SessionHead, list[GivenMessage]]:
    """The id it had, the session, and its messages; `InvalidRequest` for what is no export."""
    _check_kind(document)
    session = mapping(document, "session")
    if session is None:
        raise _missing("session")
    messages = document.get("messages")
    if not isinstance(messages, list):
        raise wrong_type("messages", "a list", messages)
    _refuse_unknown(session, (*_SESSION_KEYS, "message_count", "title_source"), "session")
    read = [_message(each, f"messages[{at}]") for at, each in enumerate(messages)]
    return _id(session), _head(session), read


def _check_kind(document: Mapping[str, Any]) -> None:
    if document.get("object") != OBJECT:
        raise InvalidRequest(
            f"'object' must be '{OBJECT}'; send what GET /api/sessions/{{session_id}}/export gave.",
            param="object",
            code="invalid_value",
        )
    if document.get("version") != VERSION:
        raise InvalidRequest(
            f"'version' must be {VERSION}, not {shown(document.get('version'))}; this gateway "
            "reads no other.",
            param="version",
            code="invalid_value",
        )


def _id(session: Mapping[str, Any]) -> str:
    found = required_text(session, "id", param="session.id")
    if len(found) > LONGEST_ID or not found.isprintable():
        raise InvalidRequest(
            f"'session.id' must have at most {LONGEST_ID} printable characters.",
            param="session.id",
            code="invalid_value",
        )
    return found


def _head(session: Mapping[str, Any]) -> SessionHead:
    texts = {
        name: text(session, name, param=f"session.{name}")
        for name in ("title", "model", "parent_session_id", "end_reason")
    }
    if len(texts["title"] or "") > MAX_TITLE:
        raise InvalidRequest(
            f"'session.title' must have at most {MAX_TITLE} characters.",
            param="session.title",
            code="invalid_value",
        )
    ended = session.get("ended_at")
    return SessionHead(
        **texts,
        source=required_text(session, "source", param="session.source"),
        started_at=_moment(session, "started_at", "session"),
        ended_at=None if ended is None else _moment(session, "ended_at", "session"),
    )


def _message(given: Any, param: str) -> GivenMessage:
    if not isinstance(given, dict):
        raise wrong_type(param, "an object", given)
    _refuse_unknown(given, _MESSAGE_KEYS, param)
    role = given.get("role")
    if role not in ROLES:
        raise InvalidRequest(
            f"'{param}.role' must be one of {', '.join(ROLES)}, not {shown(role)}.",
            param=f"{param}.role",
            code="invalid_value",
        )
    return GivenMessage(
        role=role,
        content=_content(given, param),
        timestamp=_moment(given, "timestamp", param),
        tool_calls=_tool_calls(given, param),
        tool_call_id=text(given, "tool_call_id", param=f"{param}.tool_call_id"),
        tool_name=text(given, "tool_name", param=f"{param}.tool_name"),
    )


def _content(given: Mapping[str, Any], param: str) -> Content | None:
    if "content" not in given:
        raise _missing(f"{param}.content")
    content = given["content"]
    if content is None or isinstance(content, str):
        return content
    if isinstance(content, list) and all(isinstance(part, dict) for part in content):
        return content
    raise wrong_type(f"{param}.content", "a string, a list of parts or null", content)


def _tool_calls(given: Mapping[str, Any], param: str) -> list[dict[str, Any]] | None:
    calls = given.get("tool_calls")
    if calls is None:
        return None
    if not isinstance(calls, list):
        raise wrong_type(f"{param}.tool_calls", "a list", calls)
    for at, call in enumerate(calls):
        place = f"{param}.tool_calls[{at}]"
        if not isinstance(call, dict):
            raise wrong_type(place, "an object", call)
        required_text(call, "id", param=f"{place}.id")
        function = mapping(call, "function", param=f"{place}.function") or {}
        required_text(function, "name", param=f"{place}.function.name")
        text(function, "arguments", param=f"{place}.function.arguments")
    return calls


def _moment(fields: Mapping[str, Any], name: str, place: str) -> float:
    value = fields.get(name)
    is_number = isinstance(value, (int, float)) and not isinstance(value, bool)
    # A comparison with NaN is never true.
    if not is_number or not 0 <= (moment := float(value or 0)) <= LATEST:
        raise wrong_type(f"{place}.{name}", "a time in seconds since 1970", value)
    return moment


def _refuse_unknown(fields: Mapping[str, Any], known: Sequence[str], place: str) -> None:
    for name in fields:
        if name not in known:
            raise InvalidRequest(
                f"'{place}' must not have a field '{str(name)[:60]}': it would be lost.",
                param=f"{place}.{str(name)[:60]}",
                code="unsupported_parameter",
            )


def _missing(param: str) -> InvalidRequest:
    return InvalidRequest(f"'{param}' is required.", param=param, code="missing_required_parameter")
