"""Makes the settings out of the layers: what was found, the chosen providers, the warnings."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from hermes.core.budgets import LIMITS, NO_BUDGETS, Budget, Budgets
from hermes.core.errors import SettingsError
from hermes.settings import paths, provider_choice
from hermes.settings.aliases import alias_holds_key, read_aliases
from hermes.settings.approval_rules import read_rules, rules_for_nobody
from hermes.settings.budget_options import PRICES, SCOPES, read_prices
from hermes.settings.cli_agents import AGENTS, agents_hold_keys, read_agents, with_served
from hermes.settings.cli_options import CLI_OPTIONS
from hermes.settings.cli_settings import CliSettings
from hermes.settings.config_yaml import PREFIX, ConfigFile
from hermes.settings.context_options import ContextSettings
from hermes.settings.fallbacks import fallback_holds_key, read_fallbacks
from hermes.settings.found import Found, Layer
from hermes.settings.mcp_servers import (
    SERVERS,
    read_servers,
    servers_hold_secrets,
    unknown_servers,
)
from hermes.settings.model import (
    AgentSettings,
    ApprovalSettings,
    FetchSettings,
    FileSettings,
    ListenerSettings,
    LogSettings,
    MemorySettings,
    RunSettings,
    SessionSettings,
    Settings,
)
from hermes.settings.named_keys import KEYS, holds_key, read_keys, refuse_shared_keys
from hermes.settings.receipt_options import RECEIPT_OPTIONS, ReceiptSettings
from hermes.settings.run_options import RUN_OPTIONS
from hermes.settings.tool_options import TOOL_OPTIONS
from hermes.settings.tool_settings import ToolSettings
from hermes.settings.web import WebSettings

_LISTENER = (
    "host",
    "port",
    "key",
    "cors_origins",
    "model_name",
    "max_body_bytes",
    "drain_seconds",
    "keepalive_seconds",
    "tool_form",
    "show_reasoning",
    "unknown_model",
    "strict_params",
)
_AGENT = (
    "reasoning_effort",
    "max_iterations",
    "threads",
    "system_prompt",
    "toolsets",
    "confine",
    "terminal_env",
    "vision",
    "context_files",
)
_FETCH = ("allow_http", "allow_private", "max_bytes", "timeout_seconds")
_FILES = ("max_bytes", "max_total_bytes", "expire_days", "max_pages", "max_characters")
_WEB = (
    "allow_http",
    "max_bytes",
    "timeout_seconds",
    "search_backend",
    "search_url",
    "search_key",
)
_RUNS = tuple(option.name.removeprefix("runs.") for option in RUN_OPTIONS)
_RECEIPTS = tuple(option.name.removeprefix("receipts.") for option in RECEIPT_OPTIONS)
_TOOLS = tuple(option.name.removeprefix("tools.") for option in TOOL_OPTIONS)
_CLI = tuple(
    option.name.removeprefix("cli.")
    for option in CLI_OPTIONS
    if option.name not in ("cli.agents", "cli.serve")
)
_KEYS_IN_FILE = (
    "api_key",
    "api_keys",
    "fallback.api_key",
    "fallback.api_keys",
    "server.key",
    "headers",
    "web.search_key",
)


class Assembly:
    """One reading: the layers, and the settings made of them."""

    def __init__(
        self,
        home: Path,
        config: ConfigFile,
        in_file: Layer,
        said: Layer,
        environ: Mapping[str, str],
    ) -> None:
        self._home = home
        self._config = config
        self._found = in_file | said
        self._first = provider_choice.choose(said, in_file, environ)
        self._fallbacks = read_fallbacks(config, in_file, self._first, environ)
        self._models = read_aliases(config, self._first, environ)
        self._rules = read_rules(config)
        self._mcp = read_servers(config.value(SERVERS), environ, home)
        self._cli_agents = read_agents(config.value(AGENTS), environ, home)
        self._keys = read_keys(config.value(KEYS), environ, PREFIX + KEYS)

    def settings(self) -> Settings:
        return Settings(
            home=self._home,
            listener=self._listener(),
            agent=self._agent(),
            models=self._models,
            log=LogSettings(**self._values("log", ("level", "format"))),
            fetch=FetchSettings(**self._values("fetch", _FETCH)),
            files=FileSettings(**self._values("files", _FILES)),
            web=WebSettings(**self._values("web", _WEB)),
            sessions=SessionSettings(**self._values("sessions", ("compact_after_messages",))),
            receipts=ReceiptSettings(**self._values("receipts", _RECEIPTS)),
            context=self._context(),
            mcp=self._mcp,
            cli=self._cli(),
            memory=MemorySettings(**self._values("memory", ("enabled", "max_characters"))),
            runs=RunSettings(**self._values("runs", _RUNS)),
            tools=ToolSettings(**self._values("tools", _TOOLS)),
            approvals=ApprovalSettings(
                **self._values("approvals", ("mode", "timeout_seconds")),
                rules=self._rules,
            ),
            budgets=self._budgets(),
            prices=read_prices(self._config.value(PRICES), PREFIX + PRICES),
            **({"profile": self._found["profile"].value} if "profile" in self._found else {}),
            sources=self._sources(),
            warnings=self._warnings(),
            raw=self._config.content,
        )

    def _values(self, section: str, fields: tuple[str, ...]) -> dict[str, Any]:
        """What was found; the rest is left to the defaults of the dataclass."""
        return {
            field: self._found[f"{section}.{field}"].value
            for field in fields
            if f"{section}.{field}" in self._found
        }

    def _budgets(self) -> Budgets:
        found = {scope: self._values(f"budgets.{scope}", LIMITS) for scope in SCOPES}
        said = {scope: Budget(**values) for scope, values in found.items() if values}
        return Budgets(**said) if said else NO_BUDGETS

    def _listener(self) -> ListenerSettings:
        listener = ListenerSettings(**self._values("listener", _LISTENER), keys=self._keys)
        refuse_shared_keys(listener)
        return listener

    def _agent(self) -> AgentSettings:
        return AgentSettings(
            provider=self._first.settings,
            fallbacks=tuple(fallback.settings for fallback in self._fallbacks),
            workspace=_workspace(self._found.get("agent.workspace"), self._home),
            **self._values("agent", _AGENT),
        )

    def _cli(self) -> CliSettings:
        values, agents = self._values("cli", _CLI), self._cli_agents
        served = self._found.get("cli.serve")
        if served is not None:
            agents, values["default"] = with_served(agents, served.value)
        settings = CliSettings(agents=agents, **values)
        if settings.default is not None and settings.agent(settings.default) is None:
            names = ", ".join(agent.name for agent in agents) or "a name from `cli.agents`"
            raise SettingsError(PREFIX + "cli.default", settings.default, names)
        return settings

    def _context(self) -> ContextSettings:
        found = self._found.get("context.summary_model")
        if found is not None and found.value not in self._models:
            names = ", ".join(self._models) or "a name from `models`, which is empty"
            raise SettingsError(found.source, found.value, names)
        return ContextSettings(**self._values("context", ("compress_at", "summary_model")))

    def _sources(self) -> dict[str, str]:
        decided: dict[str, str] = {}
        for choice in (self._first, *self._fallbacks):
            decided |= choice.sources
        plain = {
            name: found.source
            for name, found in self._found.items()
            if not name.startswith("fallback.")
            and name.removeprefix("agent.") not in provider_choice.BOUND_TO_PROVIDER
        }
        return plain | decided

    def _toolsets(self) -> set[str]:
        names = ("agent.toolsets", "agent.api_server_toolsets")
        return {each for name in names if name in self._found for each in self._found[name].value}

    def _warnings(self) -> tuple[str, ...]:
        return (
            *_exposed_keys(self._config),
            *rules_for_nobody(self._rules, self._keys),
            *unknown_servers(self._toolsets(), self._mcp),
            *self._first.warnings,
            *(warning for fallback in self._fallbacks for warning in fallback.warnings),
        )


def _workspace(found: Found | None, home: Path) -> Path:
    if found is None:
        return paths.default_workspace(home)
    wanted: Path = found.value
    base = home if found.source.startswith(PREFIX) else Path.cwd()
    return base / wanted


def _exposed_keys(config: ConfigFile) -> tuple[str, ...]:
    if config.is_private or not _holds_a_key(config):
        return ()
    return (
        f"{config.path} holds a key and can be read by other users; run: chmod 600 {config.path}",
    )


def _holds_a_key(config: ConfigFile) -> bool:
    return (
        any(config.value(key) for key in _KEYS_IN_FILE)
        or holds_key(config.value(KEYS))
        or alias_holds_key(config)
        or fallback_holds_key(config)
        or servers_hold_secrets(config.value(SERVERS))
        or agents_hold_keys(config.value(AGENTS))
    )
