"""What the handlers may use of the gateway, as one record of closures.

The adapter fills it once when it is built; each closure looks its target up when it is called.
This is the complete list of what an embedder may replace; our own tests fill it with fakes.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from aiohttp import web

from hermes.backends.hosting.job_tokens import JobTokens
from hermes.core.memories import Memories
from hermes.core.messages import Content, Message
from hermes.core.metrics import UNMETERED, Meter
from hermes.core.ports import ChatRecords, ResponseRecords, SessionStore
from hermes.core.remote_tools import ServerState
from hermes.core.run_ports import RunStore
from hermes.core.served_models import ServedModel
from hermes.core.shadow import Undoer
from hermes.core.turn import TurnResult
from hermes.core.uploads import Uploads
from hermes.runs.accounting import Accounting
from hermes.runs.engine import Runs
from hermes.runs.limits import Gate
from hermes.runs.passing import PassingRuns
from hermes.runs.threads import Threads
from hermes.runs.turns import LiveTurn, RunTurn
from hermes.server.auth import Caller
from hermes.server.idempotency import IdempotencyCache
from hermes.server.mcp_endpoint import McpEndpoint
from hermes.server.relay_upstream import Upstreams
from hermes.settings.model import ListenerSettings, RunSettings, SessionSettings
from hermes.wire.chat import ChatHead
from hermes.wire.responses import ResponseHead
from hermes.wire.tool_forms import CONTRACT_DIALECT, Dialect, Preview

KeepAsking = Callable[[TurnResult], Awaitable[None]]
"""Keeps a turn that ran from memory and has to ask, so that it can go on."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ChatStream:
    """A chat completion that is to be streamed."""

    head: ChatHead
    turn: LiveTurn
    include_usage: bool
    headers: Mapping[str, str]
    keep_asking: KeepAsking | None = None
    """Keeps a turn that has to ask, before the client is told so."""
    dialect: Dialect = CONTRACT_DIALECT


@dataclass(frozen=True, slots=True, kw_only=True)
class NewRecord:
    """What is needed, besides the answer, to store a response so that it can be continued."""

    store: bool
    opening: Sequence[Message]
    """What this turn began with: the results of the client's tools, the user's message."""
    given_history: Sequence[Message]
    """The history the agent was given; with `truncation: auto` only the end of the whole."""
    whole_history: Sequence[Message]
    instructions: str | None = None
    conversation: str | None = None
    session_id: str | None = None
    continues: str | None = None
    inherited: int = 0
    """How many messages of the whole history are those of the response it continues."""
    input_items: Sequence[dict[str, Any]] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class ResponseStream:
    """A response that is to be streamed, and all that is needed to store it."""

    head: ResponseHead
    turn: LiveTurn
    user_message: Content | None
    record: NewRecord
    headers: Mapping[str, str]
    keep_asking: KeepAsking | None = None
    """Keeps a turn that has to ask, before the client is told so."""
    dialect: Dialect = CONTRACT_DIALECT


@dataclass(frozen=True, slots=True, kw_only=True)
class Seams:
    model_name: Callable[[], str]
    aliases: Callable[[], list[str]]
    """The models beside the agent, by the names clients know."""
    default_alias: Callable[[], str | None]
    """Who answers when no model is asked for by name; None: the agent."""
    served_model: Callable[[str | None], ServedModel | None]
    """What stands behind an alias, or behind None, which is the agent; None for any other name."""
    listener: ListenerSettings
    started_at: int
    """Unix time; shown as the model's date of creation."""
    requires_key: Callable[[], bool]
    authorise: Callable[[web.Request], web.StreamResponse | None]
    """None, or the answer that refuses the request."""
    read_caller: Callable[[web.Request], Caller]
    """Raises `ApiError` for session headers that are malformed or not allowed."""
    read_dialect: Callable[[web.Request], Dialect]
    """Raises `ApiError` for a dialect that does not exist."""
    cors_headers: Callable[[str], dict[str, str] | None]
    run_turn: RunTurn
    admit_turn: Callable[[], None]
    """Raises `Unavailable` while the server drains."""
    write_chat: Callable[[web.Request, ChatStream], Awaitable[web.StreamResponse]]
    write_responses: Callable[[web.Request, ResponseStream], Awaitable[web.StreamResponse]]
    keepalive_seconds: Callable[[], float]
    sessions: Callable[[], SessionStore | None]
    """The session store, opened at first use; None when it cannot be opened. May block."""
    responses: Callable[[], ResponseRecords]
    uploads: Callable[[], Uploads | None]
    """The uploaded files, opened at first use; None when they cannot be opened. May block."""
    fetch_image: Callable[[str], Awaitable[str]]
    """An image from its URL to a data URL; raises `InvalidRequest` when there is none."""
    extract_text: Callable[[bytes, str], Awaitable[str]]
    """The text of a file, by its bytes and its name; raises `InvalidRequest` without any."""
    chats: Callable[[], ChatRecords]
    runs_store: Callable[[], RunStore]
    """Runs, and the answers of requests that have an idempotency key. Its calls may block."""
    storage: Threads
    """Where every call that may block on a store is made."""
    idempotency: IdempotencyCache
    runtime_status: Callable[[], dict[str, Any] | None]
    tool_preview: Preview
    toolsets: Callable[[str], list[dict[str, Any]]]
    """Every toolset, and whether turns of the key of this name may use it."""
    skills: Callable[[], list[dict[str, Any]]]
    """Reads folders; may block."""
    endpoints: Mapping[str, tuple[str, str]]
    runs: Runs
    """The runs that are kept."""
    gate: Gate
    """How many turns may run at once."""
    run_settings: RunSettings
    accounting: Accounting = field(default_factory=Accounting)
    """What turns may use, and what was used."""
    passing: PassingRuns = field(default_factory=PassingRuns)
    """The runs that are not."""
    shadow: Callable[[], Undoer | None] = lambda: None
    """What files were before runs changed them; None: nobody keeps that. Its calls may block."""
    meter: Meter = UNMETERED
    metrics: Callable[[], str] = lambda: ""
    """All that was counted, in Prometheus' text format. May block."""
    provider_report: Callable[[], list[dict[str, Any]]] = list
    """How the configured providers fare. May block."""
    compact_after: Callable[[], int] = lambda: SessionSettings().compact_after_messages
    """With more messages than this a session's history is summarised; 0: never."""
    mcp: McpEndpoint = field(default_factory=McpEndpoint)
    """The sessions of clients to whom the agent is an MCP server."""
    remote_servers: Callable[[], Sequence[ServerState]] = lambda: ()
    """How it stands with the MCP servers whose tools the agent may use."""
    summary_model: Callable[[], str | None] = lambda: None
    """The alias that writes summaries; None: the agent's model."""
    compacting: set[str] = field(default_factory=set)
    """The sessions whose history is being summarised now. Touched on the event loop only."""
    memories: Callable[[], Memories | None] = lambda: None
    """What the agent remembers; its calls may block."""
    cli_agents: Callable[[], list[dict[str, Any]]] = list
    """How many jobs of each CLI agent are at work, and how many wait."""
    forget_session: Callable[[str], None] = lambda _session_id: None
    """A session was deleted: so is what CLI agents remember of it. May block."""
    job_tokens: JobTokens = field(default_factory=JobTokens)
    """With which the jobs of CLI agents reach their providers through the gateway."""
    upstreams: Upstreams = field(default_factory=Upstreams)
    """The connections to these providers."""
