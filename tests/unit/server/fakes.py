"""A record of seams without an agent behind it: a turn is what the test says it is."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from aiohttp import web

from hermes.core.events import Event
from hermes.core.served_models import ServedModel
from hermes.core.turn import TurnCall, TurnResult
from hermes.runs.engine import Runs
from hermes.runs.feed import Feed
from hermes.runs.limits import Gate
from hermes.runs.threads import Threads
from hermes.runs.turns import AgentRef, RunningTurns, interrupt
from hermes.server.auth import caller_of, check_key
from hermes.server.chat_stream import write_chat
from hermes.server.dialects import read_dialect
from hermes.server.dispatch import refusal_of
from hermes.server.idempotency import IdempotencyCache
from hermes.server.middleware import cors_headers
from hermes.server.response_stream import write_responses
from hermes.server.routes import ENDPOINTS
from hermes.server.run_views import RunSource
from hermes.server.seams import ChatStream, ResponseStream, Seams
from hermes.server.streaming import TurnView
from hermes.settings.model import ListenerSettings, RunSettings
from hermes.store.chats import ChatStore
from hermes.store.memories import MemoryStore
from hermes.store.process_runs import ProcessRunStore
from hermes.store.responses import ResponseStore
from hermes.store.sessions import SessionDB

Behaviour = Callable[[TurnCall], Awaitable[TurnResult]]


@dataclass(slots=True)
class FakeTurns:
    """Stands for the agent: emits these events, then ends like this. `calls` is what it got."""

    result: TurnResult = field(default_factory=lambda: TurnResult(text="Hello there"))
    events: Sequence[Event] = ()
    behaviour: Behaviour | None = None
    calls: list[TurnCall] = field(default_factory=list)

    async def run(self, call: TurnCall, feed: Feed | None, _agent_ref: AgentRef) -> TurnResult:
        self.calls.append(call)
        for event in self.events if feed is not None else ():
            feed.put(event)
        return self.result if self.behaviour is None else await self.behaviour(call)


def fake_seams(
    home: Path, turns: FakeTurns, *, key: str = "", origins: tuple[str, ...] = (), **changes: Any
) -> Seams:
    """Real stores and writers around a fake turn; any closure may be replaced."""
    responses, sessions = ResponseStore(), SessionDB(home / "state.db")
    chats, runs = ChatStore(), ProcessRunStore(None)
    memories = MemoryStore(lambda: home / "memory.db")
    gate = Gate(1000, lambda _owner: 0)

    async def chat(request: web.Request, stream: ChatStream) -> web.StreamResponse:
        return await write_chat(
            request,
            stream.head,
            view_of(stream),
            include_usage=stream.include_usage,
            headers=stream.headers,
            keepalive=5.0,
            preview=lambda name, _arguments: name,
            on_asking=stream.keep_asking,
            dialect=stream.dialect,
        )

    async def response(request: web.Request, stream: ResponseStream) -> web.StreamResponse:
        return await write_responses(
            request,
            stream.head,
            view_of(stream),
            stream.record,
            seams,
            headers=stream.headers,
            keepalive=5.0,
            dialect=stream.dialect,
        )

    seams = Seams(
        **{
            "model_name": lambda: "test-model",
            "aliases": list,
            "default_alias": lambda: None,
            "served_model": lambda alias: None if alias else ServedModel(model="fake"),
            "listener": ListenerSettings(key=key),
            "started_at": 1_700_000_000,
            "requires_key": lambda: bool(key),
            "authorise": lambda request: refusal_of(lambda: check_key(request.headers, key)),
            "read_caller": lambda request: caller_of(request.headers, key),
            "read_dialect": lambda request: read_dialect(request.headers, ListenerSettings()),
            "cors_headers": lambda origin: cors_headers(origin, origins),
            "run_turn": turns.run,
            "admit_turn": RunningTurns().admit,
            "write_chat": chat,
            "write_responses": response,
            "keepalive_seconds": lambda: 5.0,
            "sessions": lambda: sessions,
            "responses": lambda: responses,
            "uploads": lambda: None,
            "fetch_image": no_fetching,
            "extract_text": no_reading,
            "chats": lambda: chats,
            "runs_store": runs.registered,
            "storage": Threads("storage", 2),
            "idempotency": IdempotencyCache(),
            "runtime_status": lambda: None,
            "tool_preview": lambda name, _arguments: name,
            "toolsets": list,
            "skills": list,
            "memories": lambda: memories,
            "endpoints": ENDPOINTS,
            "runs": Runs(
                store=runs.registered,
                storage=Threads("storage", 2),
                run_turn=lambda *turn: seams.run_turn(*turn),
                settings=RunSettings(),
                gate=gate,
            ),
            "run_settings": RunSettings(),
            "gate": gate,
            **changes,
        }
    )
    return seams


async def no_fetching(_url: str) -> str:
    raise AssertionError("nothing is to be fetched here")


async def no_reading(_data: bytes, _name: str) -> str:
    raise AssertionError("nothing is to be read here")


def view_of(stream: ChatStream | ResponseStream) -> TurnView:
    turn = stream.turn
    if isinstance(turn.feed, RunSource):
        return turn.feed.view
    return TurnView(
        source=turn.feed,
        task=turn.task,
        read_result=lambda result: result,
        interrupt=lambda reason: interrupt(turn.agent_ref, reason),
    )
