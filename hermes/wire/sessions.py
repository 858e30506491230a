"""The session routes: their requests read, and their answers written, except for streams."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from hermes.core.budgets import NO_BUDGET, Budget
from hermes.core.errors import InvalidRequest
from hermes.core.messages import Content
from hermes.core.sessions import MessagePage, MessageQuery
from hermes.core.todos import Todo
from hermes.core.turn import TurnResult
from hermes.wire.approval_text import answer_text
from hermes.wire.budgets import read_budget
from hermes.wire.chat import incomplete_details
from hermes.wire.content import normalise
from hermes.wire.lenient import choice, integer, text
from hermes.wire.queries import whole_number
from hermes.wire.session_stream import session_usage

MAX_TITLE = 200
MAX_LIMIT = 200
MAX_MESSAGES = 1000
_DEFAULT_LIMIT = 50
_LARGEST_NUMBER = 2**63 - 1

_SESSION_KEYS = (
    "id",
    "title",
    "title_source",
    "source",
    "model",
    "parent_session_id",
    "message_count",
    "started_at",
    "updated_at",
    "ended_at",
    "end_reason",
)
_MESSAGE_KEYS = ("id", "role", "content", "timestamp")
_OCCASIONAL_KEYS = ("tool_calls", "tool_call_id", "tool_name", "run_id")


@dataclass(frozen=True, slots=True)
class SessionCreate:
    """A session to be made."""

    title: str | None
    model: str | None


@dataclass(frozen=True, slots=True)
class SessionPatch:
    """What is to change about a session; a title of `None` takes the title away."""

    title: str | None


@dataclass(frozen=True, slots=True)
class SessionFork:
    """A session to be branched off another one."""

    title: str | None
    up_to: int | None = None
    """The id of the last message that the branch has; None: all of them."""


@dataclass(frozen=True, slots=True)
class SessionChat:
    """One turn in a stored session."""

    user_message: Content
    system_prompt: str | None
    model: str | None = None
    budget: Budget = NO_BUDGET


@dataclass(frozen=True, slots=True)
class Page:
    """Which part of a list is wanted."""

    limit: int = _DEFAULT_LIMIT
    offset: int = 0


def parse_create(body: Mapping[str, Any]) -> SessionCreate:
    return SessionCreate(title=_title(body), model=text(body, "model"))


def parse_patch(body: Mapping[str, Any]) -> SessionPatch:
    if "title" not in body:
        raise InvalidRequest(
            "Nothing to change: send 'title', a string or null.",
            param="title",
            code="missing_required_parameter",
        )
    return SessionPatch(title=_title(body))


def parse_fork(body: Mapping[str, Any]) -> SessionFork:
    """The chosen message may be called `message_id` or `up_to`; they mean the same."""
    chosen = {name: _message_id(body, name) for name in ("message_id", "up_to")}
    ids = {value for value in chosen.values() if value is not None}
    if len(ids) > 1:
        raise InvalidRequest(
            "'message_id' and 'up_to' name two messages; send one of them.",
            param="up_to",
            code="invalid_value",
        )
    return SessionFork(title=_title(body), up_to=next(iter(ids), None))


def _message_id(body: Mapping[str, Any], name: str) -> int | None:
    """Ids are numbers; as text they are understood too."""
    value = body.get(name)
    if isinstance(value, str):
        return whole_number({name: value}, name, 0, low=1, high=_LARGEST_NUMBER)
    return integer(body, name, low=1, high=_LARGEST_NUMBER)


def _title(body: Mapping[str, Any]) -> str | None:
    title = text(body, "title")
    if title is not None and len(title) > MAX_TITLE:
        raise InvalidRequest(
            f"'title' must have at most {MAX_TITLE} characters.",
            param="title",
            code="invalid_value",
        )
    return title


def parse_session_chat(body: Mapping[str, Any]) -> SessionChat:
    message = body.get("message")
    if message is None or message == "" or message == []:
        raise InvalidRequest(
            "'message' is required: a string or a list of content parts.",
            param="message",
            code="missing_required_parameter",
        )
    return SessionChat(
        user_message=normalise(message, param="message"),
        system_prompt=text(body, "system_message"),
        model=text(body, "model"),
        budget=read_budget(body),
    )


def parse_page(query: Mapping[str, str]) -> Page:
    return Page(
        limit=whole_number(query, "limit", _DEFAULT_LIMIT, low=1, high=MAX_LIMIT),
        offset=whole_number(query, "offset", 0, low=0, high=_LARGEST_NUMBER),
    )


def parse_message_query(query: Mapping[str, str]) -> MessageQuery | None:
    """None when the whole list is wanted, as it is without parameters."""
    if not any(query.get(name, "").strip() for name in ("limit", "after", "before", "order")):
        return None
    return MessageQuery(
        limit=whole_number(query, "limit", 0, low=1, high=MAX_MESSAGES) or None,
        after=whole_number(query, "after", 0, low=0, high=_LARGEST_NUMBER) or None,
        before=whole_number(query, "before", 0, low=1, high=_LARGEST_NUMBER) or None,
        newest_first=choice(query, "order", ("asc", "desc"), "asc") == "desc",
    )


def session_object(row: Mapping[str, Any]) -> dict[str, Any]:
    """What callers may see of a stored session; other columns stay inside.

    Without a title of its own it is called after the first thing its user said.
    """
    given, own = row.get("title"), row.get("auto_title")
    source = "user" if given is not None else None if own is None else "auto"
    shown = {**row, "title": own if given is None else given, "title_source": source}
    return {key: shown.get(key) for key in _SESSION_KEYS}


def message_object(row: Mapping[str, Any]) -> dict[str, Any]:
    """A stored message; most keys appear only where they mean something."""
    message = {key: row.get(key) for key in _MESSAGE_KEYS}
    message.update({key: row[key] for key in _OCCASIONAL_KEYS if row.get(key)})
    return message


def session_envelope(row: Mapping[str, Any]) -> dict[str, Any]:
    return {"object": "hermes.session", "session": session_object(row)}


def session_list(rows: Iterable[Mapping[str, Any]], page: Page, *, total: int) -> dict[str, Any]:
    """One page of sessions. `has_more` tells whether asking for the next one is worth it."""
    data = [session_object(row) for row in rows]
    return {
        "object": "list",
        "data": data,
        "limit": page.limit,
        "offset": page.offset,
        "total": total,
        "has_more": page.offset + len(data) < total,
    }


def message_list(session_id: str, rows: Iterable[Mapping[str, Any]]) -> dict[str, Any]:
    return {
        "object": "list",
        "session_id": session_id,
        "data": [message_object(row) for row in rows],
    }


def message_page(session_id: str, page: MessagePage) -> dict[str, Any]:
    return {**message_list(session_id, page.messages), "has_more": page.has_more}


def todo_list(session_id: str, todos: Iterable[Todo]) -> dict[str, Any]:
    return {
        "object": "list",
        "session_id": session_id,
        "data": [{"task": todo.task, "status": todo.status.value} for todo in todos],
    }


def session_deleted(session_id: str) -> dict[str, Any]:
    return {"object": "hermes.session.deleted", "id": session_id, "deleted": True}


def session_chat_completion(session_id: str, result: TurnResult) -> dict[str, Any]:
    """The answer to one turn; an incomplete one says so in a `hermes` block, as in chat."""
    answer: dict[str, Any] = {
        "object": "hermes.session.chat.completion",
        "session_id": session_id,
        "message": {"role": "assistant", "content": answer_text(result)},
        "usage": session_usage(result.usage),
    }
    if not result.is_complete:
        answer["hermes"] = incomplete_details(result)
    return answer
