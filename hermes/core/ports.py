"""What the flows need of the stores, as narrow interfaces; `hermes.store` implements them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from hermes.core.messages import Content, Message
from hermes.core.sessions import (
    GivenMessage,
    HistorySummary,
    MessagePage,
    MessageQuery,
    SearchPage,
    SessionHead,
)
from hermes.core.todos import Todo


class Transcript(Protocol):
    """Where an agent records messages as they happen. Called from agent threads; may block."""

    def create_session(self, session_id: str, source: str, model: str | None = None) -> str:
        """Make sure the session exists; an existing one is left as it is."""

    def append_message(
        self,
        session_id: str,
        role: str,
        content: Content | None,
        *,
        tool_calls: Sequence[dict[str, Any]] | None = None,
        tool_call_id: str | None = None,
        tool_name: str | None = None,
        run_id: str | None = None,
        step: int | None = None,
    ) -> int:
        """Returns once the message is committed. A step of a run is only ever kept once.

        `run_id` and `step` are passed for the messages of durable runs only.
        """


class SessionStore(Transcript, Protocol):
    """Sessions and their messages, as the session routes need them. Every call may block."""

    def get_session(self, session_id: str) -> dict[str, Any] | None: ...

    def list_sessions(self, *, limit: int, offset: int) -> list[dict[str, Any]]: ...

    def count_sessions(self) -> int: ...

    def set_session_title(self, session_id: str, title: str | None) -> bool: ...

    def delete_session(self, session_id: str) -> bool: ...

    def get_messages(self, session_id: str) -> list[dict[str, Any]]: ...

    def page_messages(self, session_id: str, wanted: MessageQuery) -> MessagePage:
        """Like `get_messages`, but only a part of it."""

    def has_message(self, session_id: str, message_id: int) -> bool: ...

    def get_messages_as_conversation(
        self, session_id: str, *, without_run: str | None = None
    ) -> list[Message]:
        """What a model is told of the session: its messages, the oldest perhaps summarised.

        `without_run`, passed for durable runs only, leaves out what that run has said.
        """

    def fork_session(
        self, session_id: str, new_id: str, *, title: str | None = None, up_to: int | None = None
    ) -> str:
        """`up_to`, passed when a message was chosen, is the last one that the fork has."""

    def search(self, query: str, *, limit: int, offset: int) -> SearchPage | None:
        """Messages and titles that have all the words; None when the store cannot search."""

    def import_session(
        self, session_id: str, head: SessionHead, messages: Sequence[GivenMessage]
    ) -> bool:
        """Keep a whole session; False, and nothing is kept, when the id is taken."""

    def get_summary(self, session_id: str) -> HistorySummary | None:
        """The newest one."""

    def add_summary(self, session_id: str, summary: HistorySummary) -> bool:
        """False when the session is gone."""

    def count_messages(self, session_id: str, *, after: int) -> int:
        """How many there are behind the message with this id."""

    def count_bytes(self, session_id: str, *, after: int) -> int:
        """How large those messages are, as they are stored."""

    def get_todos(self, session_id: str) -> tuple[Todo, ...]:
        """The list that the agent plans the session's work with."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ConversationHead:
    """A conversation without its items."""

    id: str
    created_at: int
    metadata: dict[str, str]
    response_id: str | None
    """The stored response that spoke last, if nobody has edited the items since."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ItemPage:
    """A part of a list of items."""

    items: list[dict[str, Any]]
    has_more: bool


class ConversationStore(Protocol):
    """Conversations that clients made. Every call may block."""

    def create(
        self, conversation_id: str, metadata: dict[str, str], items: Sequence[dict[str, Any]]
    ) -> ConversationHead: ...

    def get(self, conversation_id: str) -> ConversationHead | None: ...

    def set_metadata(
        self, conversation_id: str, metadata: dict[str, str]
    ) -> ConversationHead | None: ...

    def delete(self, conversation_id: str) -> bool: ...

    def add_items(self, conversation_id: str, items: Sequence[dict[str, Any]]) -> bool: ...

    def add_turn(
        self, conversation_id: str, items: Sequence[dict[str, Any]], response_id: str
    ) -> bool: ...

    def items(self, conversation_id: str) -> list[dict[str, Any]]: ...

    def page(
        self, conversation_id: str, *, limit: int, after: str | None, newest_first: bool
    ) -> ItemPage | None: ...

    def get_item(self, conversation_id: str, item_id: str) -> dict[str, Any] | None: ...

    def delete_item(self, conversation_id: str, item_id: str) -> bool: ...


class ResponseRecords(Protocol):
    """Stored responses and all that hangs on them. Every call may block."""

    @property
    def conversations(self) -> ConversationStore: ...

    def find_items(self, item_ids: Sequence[str]) -> dict[str, dict[str, Any]]:
        """Items of stored responses and conversations by their ids, as far as there are any."""

    def signing_key(self) -> bytes:
        """A secret of this store, the same for as long as it exists."""

    def put(
        self,
        response_id: str,
        record: dict[str, Any],
        *,
        continues: str | None = None,
        inherited: int = 0,
    ) -> None: ...

    def get(self, response_id: str) -> dict[str, Any] | None: ...

    def delete(self, response_id: str) -> bool: ...

    def set_conversation(self, name: str, response_id: str) -> None: ...

    def get_conversation(self, name: str) -> str | None: ...


class ChatRecords(Protocol):
    """Chat completions that clients asked to be kept. Every call may block."""

    def put(
        self,
        completion: Mapping[str, Any],
        messages: list[dict[str, Any]],
        metadata: Mapping[str, str],
    ) -> None: ...

    def get(self, chat_id: str) -> dict[str, Any] | None: ...

    def messages(self, chat_id: str) -> list[dict[str, Any]] | None: ...

    def page(
        self,
        *,
        limit: int,
        after: str | None = None,
        newest_first: bool = False,
        model: str | None = None,
        metadata: Mapping[str, str] | None = None,
    ) -> list[dict[str, Any]] | None: ...

    def set_metadata(self, chat_id: str, metadata: Mapping[str, str]) -> dict[str, Any] | None: ...

    def delete(self, chat_id: str) -> bool: ...
