"""Open WebUI's chats as stored sessions. It sends the whole history each time, edits included.

A chat that goes on where its session ended continues it. One that was edited or asked again gets a
branch of its own (`owui-<chat>-2` and so on), so that what was taken back never comes up again.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from hermes.core.ids import new_id
from hermes.core.messages import Message
from hermes.core.ports import SessionStore
from hermes.server.seams import Seams
from hermes.wire.chat import ChatRequest
from hermes.wire.open_webui import TASK_HEADER, is_side_request, shared_length

SOURCE = "open_webui"
MOST_BRANCHES = 200


def is_task(headers: Mapping[str, str], asked: ChatRequest) -> bool:
    """Whether the plain model should answer: a title, tags, follow-ups and the like."""
    return is_side_request(
        headers.get(TASK_HEADER, ""),
        asked.parameters.metadata,
        asked.user_message,
        stream=asked.stream,
    )


async def pinned_session(
    seams: Seams, chat_id: str, alias: str | None, sent: Sequence[Message]
) -> str | None:
    """The session of a chat; None when the store cannot be opened."""
    family = f"owui-{chat_id}" if alias is None else f"owui-{chat_id}@{alias}"

    def pin() -> str | None:
        store = seams.sessions()
        return None if store is None else _pin(store, family, sent)

    return await seams.storage.run(pin)


def _pin(store: SessionStore, family: str, sent: Sequence[Message]) -> str:
    """The branch that ends where `sent` does, or a new one that begins with what they share."""
    beginning: list[Message] = list(sent)
    longest = 0
    for number in range(1, MOST_BRANCHES + 1):
        session_id = family if number == 1 else f"{family}-{number}"
        if store.get_session(session_id) is None:
            break
        stored = _whole_conversation(store, session_id)
        ours, theirs = shared_length(stored, sent)
        if (ours, theirs) == (len(stored), len(sent)):
            return session_id
        if theirs > longest:
            # Ours tell more: they have the server's tools in them.
            beginning, longest = [*stored[:ours], *sent[theirs:]], theirs
    else:
        session_id = new_id(f"{family}-")
    _begin(store, session_id, beginning)
    return session_id


def _whole_conversation(store: SessionStore, session_id: str) -> list[Message]:
    """Also where a summary stands for the beginning: the client knows nothing of that."""
    keys = ("role", "content", "tool_calls", "tool_call_id")
    return [
        {key: message[key] for key in keys if key in message}
        for message in store.get_messages(session_id)
    ]


def _begin(store: SessionStore, session_id: str, messages: Sequence[Message]) -> None:
    store.create_session(session_id, SOURCE)
    for message in messages:
        store.append_message(
            session_id,
            message["role"],
            message.get("content"),
            tool_calls=message.get("tool_calls"),
            tool_call_id=message.get("tool_call_id"),
        )
