"""The settings as values: frozen, read once, passed down. Each field says what it means.

Secrets are kept out of every repr; the defaults here are the only ones.
"""

from __future__ import annotations

import ipaddress
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from types import MappingProxyType
from typing import Any, Literal

from hermes.core.budgets import NO_BUDGETS, Budgets
from hermes.core.prices import PriceRules
from hermes.core.runs import CANCEL, Disconnect, RunRetention, WhenBusy
from hermes.settings.cli_settings import CliSettings
from hermes.settings.context_options import ContextSettings
from hermes.settings.mcp_settings import McpSettings
from hermes.settings.receipt_options import ReceiptSettings
from hermes.settings.redaction import names_a_secret
from hermes.settings.tool_settings import ToolSettings
from hermes.settings.web import WebSettings

ReasoningEffort = Literal["none", "minimal", "low", "medium", "high", "xhigh"]
ToolForm = Literal["auto", "default", "mcp", "open_webui", "reasoning", "hidden"]
KeyStrategy = Literal["fill_first", "round_robin"]
_A_MOMENT = Disconnect(30.0)
NOTHING_SET: Mapping[str, Any] = MappingProxyType({})


@dataclass(frozen=True, slots=True, kw_only=True)
class NamedKey:
    """A further key that clients may send, and the name of those who send it."""

    name: str
    key: str = field(repr=False)
    max_concurrent: int | None = None
    """How many turns it may have at work; 0: no limit; None: as `runs.max_per_key` says."""
    toolsets: tuple[str, ...] | None = None
    """Which of the agent's toolsets its turns may use; None: all of them."""
    budgets: Budgets = NO_BUDGETS
    """Its own limits, each in the place of the general one."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ListenerSettings:
    """Where the gateway listens, and what it lets in."""

    host: str = "127.0.0.1"
    port: int = 8642
    """0 lets the system choose a free one."""
    key: str = field(default="", repr=False)
    """What clients send as bearer token; without any key none is required."""
    keys: tuple[NamedKey, ...] = ()
    """What they may send instead."""
    cors_origins: tuple[str, ...] = ()
    model_name: str = ""
    """The name clients see in /v1/models; empty means the profile's name."""
    max_body_bytes: int = 16 * 1024 * 1024
    drain_seconds: float = 5.0
    """How long running turns may still take after SIGTERM."""
    keepalive_seconds: float = 10.0
    """After this much silence a stream gets a comment line, so that proxies keep it open."""
    tool_form: ToolForm = "auto"
    """How clients are shown the tools that the server ran; `auto` goes by the client."""
    show_reasoning: bool = False
    """Whether clients are shown what the model thinks even where they do not ask for it."""
    unknown_model: Literal["agent", "refuse"] = "agent"
    """Who answers a request for a model that is not served: the agent, or a 404."""
    strict_params: bool = False
    """Whether parameters that have no effect are refused instead of named."""

    @property
    def requires_key(self) -> bool:
        return bool(self.key or self.keys)

    @property
    def secrets(self) -> frozenset[str]:
        return frozenset(filter(None, (self.key, *(named.key for named in self.keys))))

    @property
    def is_loopback(self) -> bool:
        """Whether only this machine can reach the listener. A name we cannot judge is not."""
        if self.host.lower() == "localhost":
            return True
        try:
            return ipaddress.ip_address(self.host.strip("[]")).is_loopback
        except ValueError:
            return False


@dataclass(frozen=True, slots=True, kw_only=True)
class ProviderSettings:
    """One model at one provider."""

    provider: str
    model: str
    base_url: str = ""
    """Empty for the demo provider only."""
    api_key: str | None = field(default=None, repr=False)
    """The key that is used first, or the one in use."""
    api_keys: tuple[str, ...] = field(default=(), repr=False)
    """Several keys of which each may take over from another; empty when there is one or none."""
    key_strategy: KeyStrategy = "fill_first"
    api_mode: str = "chat_completions"
    transport: Literal["http", "sdk"] = "http"
    headers: Mapping[str, str] = field(default_factory=lambda: NOTHING_SET, repr=False)
    stale_seconds: float = 180.0
    """A stream that is silent for longer counts as broken."""
    reasoning_stale_seconds: float = 600.0
    """The same while a model thinks, and for answers that come in one piece."""
    context_window: int | None = None
    """In tokens; None: as much as a model of this name is known to have."""

    @property
    def secrets(self) -> frozenset[str]:
        named = (value for name, value in self.headers.items() if names_a_secret(name))
        return frozenset(filter(None, (self.api_key, *self.api_keys, *named)))


@dataclass(frozen=True, slots=True, kw_only=True)
class AgentSettings:
    """What the agent thinks with, and what it may touch."""

    provider: ProviderSettings
    fallbacks: tuple[ProviderSettings, ...] = ()
    """Who is asked instead when the provider fails, in this order."""
    workspace: Path
    """The folder the file tools work in, and the terminal's home."""
    reasoning_effort: ReasoningEffort | None = None
    """None leaves it to the provider."""
    max_iterations: int = 50
    threads: int = 1000
    """How many threads tools, and turns that block one, may use at once."""
    system_prompt: str | None = None
    toolsets: tuple[str, ...] | None = None
    """None means the built-in ones; empty means no tools."""
    confine: bool = True
    """Whether the file tools refuse paths outside the workspace."""
    terminal_env: tuple[str, ...] = ()
    """Environment variables that commands may see beside the harmless ones."""
    vision: bool = True
    """Whether the model can look at images."""
    context_files: bool = True
    """Whether it is told of the workspace's AGENTS.md and of skills."""


@dataclass(frozen=True, slots=True, kw_only=True)
class AliasSettings:
    """A further model that clients may ask for by name. None means: as the agent has it."""

    provider: ProviderSettings
    reasoning_effort: ReasoningEffort | None = None
    toolsets: tuple[str, ...] | None = None
    system_prompt: str | None = None
    vision: bool = True


@dataclass(frozen=True, slots=True, kw_only=True)
class FetchSettings:
    """What the gateway may fetch for a client: images named by their URL.

    Where it may be fetched from holds for the agent's pages too.
    """

    allow_http: bool = False
    allow_private: bool = False
    """Whether addresses of this machine and its networks may be reached, on any port."""
    max_bytes: int = 10 * 1024 * 1024
    timeout_seconds: float = 10.0
    """For the whole fetch, redirects included."""


@dataclass(frozen=True, slots=True, kw_only=True)
class FileSettings:
    """What is kept of the files that clients send, and what is read out of them."""

    max_bytes: int = 32 * 1024 * 1024
    max_total_bytes: int = 1024 * 1024 * 1024
    expire_days: int = 30
    """For files whose upload says nothing else; 0 keeps them until they are deleted."""
    max_pages: int = 500
    max_characters: int = 400_000


@dataclass(frozen=True, slots=True, kw_only=True)
class SessionSettings:
    """How stored sessions are kept handy."""

    compact_after_messages: int = 400
    """With more than this the older messages are summarised for the model; 0: never."""


@dataclass(frozen=True, slots=True, kw_only=True)
class MemorySettings:
    """What the agent remembers from one conversation to the next."""

    enabled: bool = True
    max_characters: int = 4000
    """How much of it the model is told without asking."""


ApprovalAction = Literal["allow", "ask", "deny"]


@dataclass(frozen=True, slots=True, kw_only=True)
class ApprovalRule:
    """What is done about the calls it fits. Patterns are globs: `*`, `?` and `[abc]`."""

    tool: str = "*"
    pattern: str = "*"
    """Over what the call would do: the whole command, the path of the file, the URL."""
    key: str = "*"
    """The name of the key that asked."""
    action: ApprovalAction


@dataclass(frozen=True, slots=True, kw_only=True)
class ApprovalSettings:
    """Which tool calls need a person's approval."""

    mode: ApprovalAction = "ask"
    """What becomes of destructive calls that no rule fits: asked about, allowed, or denied."""
    timeout_seconds: float = 900.0
    """A question that nobody answers for this long is answered with no."""
    rules: tuple[ApprovalRule, ...] = ()
    """The first one that fits decides, before anything else does."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RunSettings:
    """What becomes of runs, how many there may be, and how long they are kept."""

    disconnect_chat: Disconnect = CANCEL
    """When the client of a chat completion leaves; a request may say otherwise, like below."""
    disconnect_responses: Disconnect = _A_MOMENT
    disconnect_sessions: Disconnect = _A_MOMENT
    when_busy: WhenBusy = WhenBusy.QUEUE
    recovery: Literal["interrupt", "resume"] = "interrupt"
    """What becomes of a run whose process died."""
    max_attempts: int = 3
    """How often a run is taken up before it is given up."""
    max_concurrent: int = 1000
    max_per_key: int = 0
    """0: no limit but `max_concurrent`."""
    max_queued: int = 1000
    max_seconds: float = 0.0
    """For runs that say nothing themselves; 0: no limit."""
    stalled_write_seconds: float = 60.0
    """A client that reads nothing for this long is cut off."""
    keep_deltas_hours: int = 24
    """After the end of the run."""
    keep_days: int = 30
    """After the end of the run."""
    max_bytes: int = 1024 * 1024 * 1024

    @property
    def retention(self) -> RunRetention:
        """The same as a store of runs wants to know it."""
        return RunRetention(
            keep_deltas_seconds=self.keep_deltas_hours * 3600.0,
            keep_runs_seconds=self.keep_days * 86_400.0,
            max_bytes=self.max_bytes,
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class LogSettings:
    """What is logged, and in which form."""

    level: Literal["DEBUG", "INFO", "WARNING", "ERROR"] = "INFO"
    format: Literal["text", "json"] = "text"


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """Everything that can be configured, checked."""

    home: Path
    listener: ListenerSettings
    agent: AgentSettings
    log: LogSettings
    fetch: FetchSettings = field(default_factory=FetchSettings)
    files: FileSettings = field(default_factory=FileSettings)
    web: WebSettings = field(default_factory=WebSettings)
    sessions: SessionSettings = field(default_factory=SessionSettings)
    memory: MemorySettings = field(default_factory=MemorySettings)
    approvals: ApprovalSettings = field(default_factory=ApprovalSettings)
    runs: RunSettings = field(default_factory=RunSettings)
    receipts: ReceiptSettings = field(default_factory=ReceiptSettings)
    context: ContextSettings = field(default_factory=ContextSettings)
    mcp: McpSettings = field(default_factory=McpSettings)
    cli: CliSettings = field(default_factory=CliSettings)
    tools: ToolSettings = field(default_factory=ToolSettings)
    budgets: Budgets = NO_BUDGETS
    """For everybody; a key's own limits take the place of these."""
    prices: PriceRules = ()
    """What the user says models cost; the first rule that fits holds."""
    profile: str = "default"
    models: Mapping[str, AliasSettings] = field(default_factory=lambda: NOTHING_SET)
    """The models that clients may ask for beside the agent, by name."""
    sources: Mapping[str, str] = field(default_factory=lambda: NOTHING_SET)
    """Which option, variable or key of the file gave a setting; what is missing has its default."""
    warnings: tuple[str, ...] = ()
    """What is allowed but probably not meant, in words for the user."""
    raw: Mapping[str, Any] = field(default_factory=lambda: NOTHING_SET, repr=False)
    """config.yaml as parsed; may hold secrets."""

    def budgets_of(self, owner: str) -> Budgets:
        """Those that hold for the key of this name."""
        for key in self.listener.keys:
            if key.name == owner and key.budgets is not NO_BUDGETS:
                return key.budgets.over(self.budgets)
        return self.budgets

    @property
    def summarizer(self) -> ProviderSettings | None:
        """Who writes summaries; None: whoever answers."""
        alias = self.models.get(self.context.summary_model or "")
        return alias.provider if alias else None

    @property
    def secrets(self) -> frozenset[str]:
        """Every configured secret, for the logs to mask."""
        others = [alias.provider for alias in self.models.values()]
        asked = [self.agent.provider, *self.agent.fallbacks, *others]
        found = (provider.secrets for provider in asked)
        return self.listener.secrets.union(
            self.web.secrets, self.mcp.secrets, self.cli.secrets, *found
        )
