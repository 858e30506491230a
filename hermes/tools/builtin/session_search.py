"""The `session_search` tool: the agent's own past conversations, found again and read."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Annotated, Any

from hermes.core.errors import HermesError
from hermes.core.messages import text_of, tool_calls_of
from hermes.core.past_sessions import PastSessions
from hermes.core.sessions import MessageQuery, SearchHit
from hermes.tools.base import Scope, ToolContext, ToolProblem, tool
from hermes.tools.output import cap, one_line
from hermes.tools.schema import Between
from hermes.tools.services import Services

_LONGEST_QUERY = 500
_LONGEST_MESSAGE = 1500
_MOST_TEXT = 30_000
_LOOKED_THROUGH = 100


def _missing(services: Services) -> str | None:
    return None if services.past_sessions is not None else "No sessions are stored here."


@tool(
    toolset="memory",
    preview=lambda arguments: str(arguments.get("query") or arguments.get("session_id") or ""),
    is_parallel=True,
    missing=_missing,
)
def session_search(
    context: ToolContext,
    query: Annotated[str, 'Words that must all be there; "quoted words" stand together.'] = "",
    session_id: Annotated[str, "A session to read in, instead of searching."] = "",
    around: Annotated[int, "The message of it to read around; 0: its end.", Between(0, 10**12)] = 0,
    limit: Annotated[int, "How many hits or messages.", Between(1, 50)] = 10,
) -> str:
    """Search your past conversations, or read a part of one of them.

    A search gives hits with the ids of session and message; read around a message to see more.
    """
    store = _opened(context.services)
    try:
        if session_id.strip():
            return _Reading(store, context.scope).part(session_id.strip(), around, limit)
        return _found(store, context.scope, query.strip(), limit)
    except ToolProblem:
        raise
    except HermesError as error:
        raise ToolProblem(str(error)) from error


def _opened(services: Services) -> PastSessions:
    store = services.past_sessions() if services.past_sessions is not None else None
    if store is None:
        raise ToolProblem("The stored sessions cannot be opened; `hermes doctor` says why.")
    return store


def _found(store: PastSessions, scope: Scope, query: str, limit: int) -> str:
    if not query or len(query) > _LONGEST_QUERY:
        raise ToolProblem(f"`query` must have 1 to {_LONGEST_QUERY} characters.")
    page = store.search(query, limit=limit + _LOOKED_THROUGH, offset=0)
    if page is None:
        raise ToolProblem("Sessions cannot be searched here: SQLite has no FTS5.")
    begin = _begin_of_turn(store, scope)
    hits = [hit for hit in page.hits if not _is_of_turn(hit, scope, begin)]
    if not hits:
        return f"Nothing was said that has all the words of {query!r}. Try fewer or other words."
    more = "\n[There are more; use other words to narrow it down.]" if len(hits) > limit else ""
    return cap("\n".join(_line(hit) for hit in hits[:limit]) + more, _MOST_TEXT)


def _begin_of_turn(store: PastSessions, scope: Scope) -> int | None:
    """The first message of the turn that is asking, which is no part of the past."""
    if scope.session_id is None:
        return None
    before: int | None = None
    begin: int | None = None
    while True:
        wanted = MessageQuery(limit=_LOOKED_THROUGH, before=before, newest_first=True)
        page = store.page_messages(scope.session_id, wanted)
        for message in page.messages:
            if not _is_said_now(message, scope):
                return begin
            begin = int(message["id"])
            if scope.run_id is None and message.get("role") == "user":
                return begin
        if not page.has_more:
            return begin
        before = begin


def _is_said_now(message: Mapping[str, Any], scope: Scope) -> bool:
    """Without a run it is what was said since the user spoke last."""
    return scope.run_id is None or message.get("run_id") == scope.run_id


def _is_of_turn(hit: SearchHit, scope: Scope, begin: int | None) -> bool:
    if begin is None or hit.session_id != scope.session_id or hit.message_id is None:
        return False
    return hit.message_id >= begin


def _line(hit: SearchHit) -> str:
    place = "title" if hit.message_id is None else f"message {hit.message_id}, {hit.role}"
    title = one_line(hit.title or "untitled", 80)
    return (
        f"{hit.session_id} ({title}), {place}, {_when(hit.timestamp)}: {one_line(hit.snippet, 400)}"
    )


class _Reading:
    """Reads a part of one session, without the turn that is asking."""

    def __init__(self, store: PastSessions, scope: Scope) -> None:
        self._store = store
        self._scope = scope

    def part(self, session_id: str, around: int, limit: int) -> str:
        session = self._store.get_session(session_id)
        if session is None:
            raise ToolProblem(f"There is no session {session_id!r}; a search gives the ids.")
        messages = self._messages(session_id, around, limit)
        if not messages:
            raise ToolProblem("There are no messages in this part of the session.")
        title = one_line(str(session.get("title") or session.get("auto_title") or "untitled"), 80)
        told = "\n\n".join(_told(message) for message in messages)
        return cap(f"Session {session_id} ({title})\n\n{told}", _MOST_TEXT)

    def _messages(self, session_id: str, around: int, limit: int) -> list[dict[str, Any]]:
        end = self._end(session_id)
        if not around:
            return self._before(session_id, end, limit)
        later = MessageQuery(limit=limit - limit // 2, after=around - 1, before=end)
        after = self._store.page_messages(session_id, later).messages
        return [*self._before(session_id, around, limit // 2), *after]

    def _before(self, session_id: str, message_id: int | None, limit: int) -> list[dict[str, Any]]:
        if not limit:
            return []
        wanted = MessageQuery(limit=limit, before=message_id, newest_first=True)
        return self._store.page_messages(session_id, wanted).messages[::-1]

    def _end(self, session_id: str) -> int | None:
        is_own = session_id == self._scope.session_id
        return _begin_of_turn(self._store, self._scope) if is_own else None


def _told(message: Mapping[str, Any]) -> str:
    names = [str(call.get("function", {}).get("name")) for call in tool_calls_of(dict(message))]
    called = f"\n[called {', '.join(names)}]" if names else ""
    said = cap(text_of(message.get("content")), _LONGEST_MESSAGE)
    when = _when(message["timestamp"])
    return f"message {message['id']}, {message['role']}, {when}:\n{said}{called}"


def _when(timestamp: float) -> str:
    return datetime.fromtimestamp(timestamp, UTC).strftime("%Y-%m-%d %H:%M")
