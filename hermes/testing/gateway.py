"""A whole gateway in the test's own event loop, on a real loopback socket.

What it serves, and with which model, is decided by its arguments alone: neither the environment
nor a config.yaml has a say, and everything it stores is in the folder it is given.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from aiohttp import web

from gateway.config import PlatformConfig
from gateway.platforms.api_server import APIServerAdapter
from hermes.contract.configuration import (
    DEFAULT_MODEL_NAME,
    agent_keywords,
    alias_of,
    fallback_model,
    model_names,
    owner_of,
    runtime_keywords,
    served_model,
)
from hermes.contract.hosted_models import default_name
from hermes.contract.tools import toolset_list
from hermes.core.budgets import NO_BUDGETS, Budgets
from hermes.core.prices import PriceRules
from hermes.core.turn import TurnParameters
from hermes.fetching.images import fetch_image
from hermes.fetching.rules import rules_from
from hermes.providers.clients import HttpClients
from hermes.providers.demo.client import DemoClient
from hermes.providers.demo.workspace import furnish
from hermes.server.seams import Seams
from hermes.server.stalled import StallWatch, transports_of
from hermes.settings.api_server import as_extra
from hermes.settings.cli_settings import CliSettings
from hermes.settings.context_options import ContextSettings
from hermes.settings.mcp_settings import McpSettings
from hermes.settings.model import (
    AgentSettings,
    AliasSettings,
    FetchSettings,
    FileSettings,
    ListenerSettings,
    LogSettings,
    MemorySettings,
    ProviderSettings,
    RunSettings,
    SessionSettings,
    Settings,
)
from hermes.settings.named_keys import toolsets_of
from hermes.settings.paths import (
    chat_db,
    default_workspace,
    ensure_private_dir,
    files_folder,
    response_db,
    run_db,
    state_db,
    status_file,
)
from hermes.settings.receipt_options import ReceiptSettings
from hermes.settings.runtime_status import read_status
from hermes.settings.tool_settings import ToolSettings
from hermes.settings.toolsets import BUILTIN_TOOLSETS, narrowed
from hermes.settings.web import WebSettings
from hermes.store.uploads import UploadStore
from hermes.tools.skills import skill_list
from hermes_state import SessionDB
from run_agent import AIAgent

_STOP_SECONDS = 1.0


class TestGateway:
    """An `async with` block in which `base_url` answers. Use it from the loop that entered it."""

    __test__ = False  # or pytest would take the class for a test

    def __init__(
        self,
        *,
        home: Path,
        base_url: str = "",
        key: str = "",
        model: str = "fake",
        agent: Mapping[str, Any] | None = None,
        provider: Mapping[str, Any] | None = None,
        fallbacks: Sequence[Mapping[str, Any]] = (),
        equipment: Mapping[str, Any] | None = None,
        models: Mapping[str, Mapping[str, Any]] | None = None,
        fetch: FetchSettings | None = None,
        files: FileSettings | None = None,
        web_settings: WebSettings | None = None,
        runs: RunSettings | None = None,
        sessions: SessionSettings | None = None,
        context: ContextSettings | None = None,
        mcp: McpSettings | None = None,
        budgets: Budgets = NO_BUDGETS,
        prices: PriceRules = (),
        receipts: ReceiptSettings | None = None,
        memory: MemorySettings | None = None,
        tools: ToolSettings | None = None,
        cli: CliSettings | None = None,
        **extra: Any,
    ) -> None:
        """Asks `model` at `base_url`, or the built-in demo model when there is no URL.

        `models` are further names that clients may ask for, each with the fields of
        `AliasSettings` and the provider's `model`, such as `{"fast": {"model": "small"}}`.

        `provider` holds more fields of the model's `ProviderSettings`, such as `api_keys`, and
        `fallbacks` in what each provider of the chain differs from it. `equipment` replaces fields
        of the agents' `Equipment`, such as `patience`.

        `key` is what clients must send. `agent` holds more keywords for `AIAgent`, such as
        `api_mode`; `fetch`, `files`, `runs`, `sessions`, `context`, `mcp`, `memory`, `budgets`,
        `prices`, `receipts`, `tools` and `cli` are the settings of these names, and `web_settings`
        those of `web`; `extra` holds more of the listener's, such as `keepalive_seconds`.
        """
        self._home = home
        self._equipment = dict(equipment or {})
        self._agent_options = dict(agent or {})
        window = self._agent_options.get("context_window")
        more = {"context_window": window, **(provider or {})}
        self._settings = _agent_settings(home, base_url, model, more, fallbacks)
        self._models = _aliases(self._settings.provider, models or {})
        self._fetch = fetch or FetchSettings()
        self._files = files or FileSettings()
        self._web = web_settings or WebSettings()
        self._runs = runs or RunSettings()
        self._sessions = sessions or SessionSettings()
        self._context = context or ContextSettings()
        self._mcp = mcp or McpSettings()
        self._budgets, self._prices = budgets, prices
        self._receipts = receipts or ReceiptSettings()
        self._memory = memory or MemorySettings()
        self._tools = tools or ToolSettings()
        self._cli = cli or CliSettings()
        listener = ListenerSettings(port=0, key=key, model_name=DEFAULT_MODEL_NAME)
        self._extra = {
            **as_extra(listener),
            "response_db": response_db(home),
            "chat_db": chat_db(home),
            "run_db": run_db(home),
            **extra,
        }
        self._adapter: LoopbackAdapter | None = None
        self._runner: web.AppRunner | None = None
        self._stall_watch: StallWatch | None = None

    async def __aenter__(self) -> Self:
        ensure_private_dir(self._settings.workspace)
        if self._settings.provider.provider == "demo":
            furnish(self._settings.workspace)
        config = PlatformConfig(enabled=True, extra={"runs": self._runs, **self._extra})
        settings = Settings(
            home=self._home,
            listener=ListenerSettings(),
            agent=self._settings,
            log=LogSettings(),
            models=self._models,
            fetch=self._fetch,
            files=self._files,
            web=self._web,
            runs=self._runs,
            sessions=self._sessions,
            context=self._context,
            mcp=self._mcp,
            budgets=self._budgets,
            prices=self._prices,
            receipts=self._receipts,
            memory=self._memory,
            tools=self._tools,
            cli=self._cli,
        )
        self._adapter = LoopbackAdapter(config, settings, self._agent_options, self._equipment)
        await self._adapter.recover()
        self._adapter.keep_runs()
        self._adapter.start_equipment()
        self._runner = web.AppRunner(
            self._adapter.application(),
            handler_cancellation=True,
            access_log=None,
            shutdown_timeout=_STOP_SECONDS,
        )
        await self._runner.setup()
        self._stall_watch = StallWatch(
            partial(transports_of, self._runner), self._runs.stalled_write_seconds
        )
        self._stall_watch.start()
        await web.TCPSite(self._runner, "127.0.0.1", 0, backlog=1024).start()
        self._adapter.listens_at(self.url)
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        await self.close()

    @property
    def adapter(self) -> APIServerAdapter:
        """The adapter at work, to look at or to replace things on."""
        assert self._adapter is not None, "the gateway is not running"
        return self._adapter

    @property
    def connections(self) -> int:
        """How many clients are connected."""
        assert self._runner is not None, "the gateway is not running"
        return len(transports_of(self._runner))

    @property
    def url(self) -> str:
        """Scheme, host and port."""
        assert self._runner is not None, "the gateway is not running"
        return f"http://127.0.0.1:{self._runner.addresses[0][1]}"

    @property
    def base_url(self) -> str:
        """What OpenAI's clients call the base URL."""
        return f"{self.url}/v1"

    def configure(self, **changes: Any) -> None:
        """Change settings while it runs, as an edit of config.yaml would."""
        assert self._adapter is not None, "the gateway is not running"
        self._adapter.configure(**changes)

    async def close(self) -> None:
        """Stop what still runs and give everything back. Closing twice is fine."""
        runner, adapter, self._runner, self._adapter = self._runner, self._adapter, None, None
        if adapter is not None:
            await adapter.running.drain(0, stop_within=_STOP_SECONDS)
        if self._stall_watch is not None:
            self._stall_watch.stop()
        if runner is not None:
            await runner.cleanup()
        if adapter is not None:
            await adapter.close()


class LoopbackAdapter(APIServerAdapter):
    """The real adapter, with its settings from a test instead of the environment."""

    def __init__(
        self,
        config: PlatformConfig,
        settings: Settings,
        agent_options: Mapping[str, Any],
        equipment: Mapping[str, Any],
    ) -> None:
        self._home = settings.home
        self._whole = settings
        self._settings = settings.agent
        self._agent_options = agent_options
        super().__init__(config)
        self._workshop.equipment = replace(self._workshop.equipment, **equipment)
        self.configure(listener=self.listener)

    def configure(self, **changes: Any) -> None:
        self._whole = replace(self._whole, **changes)

    def _create_agent(
        self,
        *,
        session_id: str | None = None,
        parameters: TurnParameters | None = None,
        clients: Callable[[], HttpClients] | None = None,
        **callbacks_and_scope: Any,
    ) -> AIAgent:
        wants_store = parameters is not None and parameters.persist
        keywords = agent_keywords(
            runtime=runtime_keywords(self._settings, self._whole.approvals),
            toolsets=BUILTIN_TOOLSETS,
            of_key=toolsets_of(self.listener.keys, owner_of(parameters)),
            model=self._settings.provider.model,
            fallback_model=fallback_model(self._settings),
            session_id=session_id,
            session_db=self._ensure_session_db() if wants_store else None,
            clients=clients,
            parameters=parameters,
            equipment=self._workshop.equipment,
            alias=alias_of(parameters, lambda: self._whole.models),
            **callbacks_and_scope,
        )
        make = ImmediateDemo if self._settings.provider.provider == "demo" else AIAgent
        return make(**{**keywords, **self._agent_options})

    def _current_settings(self) -> Settings:
        return self._whole

    def _ensure_session_db(self) -> Any:
        self._session_db = self._opener.opened(
            lambda: self._session_db, lambda: SessionDB(state_db(self._home))
        )
        return self._session_db

    def _ensure_uploads(self) -> UploadStore | None:
        self._uploads = self._opener.opened(
            lambda: self._uploads,
            lambda: UploadStore(files_folder(self._home), self._whole.files),
        )
        return self._uploads

    def _fill_seams(self) -> Seams:
        return replace(
            super()._fill_seams(),
            aliases=lambda: model_names(self._whole),
            default_alias=lambda: default_name(self._whole.cli),
            served_model=lambda alias: served_model(self._whole, alias),
            compact_after=lambda: self._whole.sessions.compact_after_messages,
            summary_model=lambda: self._whole.context.summary_model,
            runtime_status=lambda: read_status(status_file(self._home)),
            fetch_image=lambda url: fetch_image(url, rules_from(self._whole.fetch)),
            extract_text=lambda data, name: self._documents.text_of(data, name, self._whole.files),
            toolsets=lambda owner: toolset_list(
                self._workshop.equipment.toolbox,
                narrowed(BUILTIN_TOOLSETS, toolsets_of(self.listener.keys, owner)),
                self._workshop.mcp.states(),
            ),
            skills=lambda: skill_list(
                self._workshop.equipment.toolbox.services.skills, self._settings.workspace
            ),
        )


class ImmediateDemo(AIAgent):
    """The demo model without the pauses that make it pleasant to watch."""

    def _create_request_openai_client(self, **_context: Any) -> DemoClient:
        return DemoClient(pace=0)


def _agent_settings(
    home: Path,
    base_url: str,
    model: str,
    more: Mapping[str, Any],
    fallbacks: Sequence[Mapping[str, Any]],
) -> AgentSettings:
    provider = ProviderSettings(provider="demo", model="demo")
    if base_url:
        provider = ProviderSettings(provider="custom", model=model, base_url=base_url)
    provider = replace(provider, **more)
    return AgentSettings(
        provider=provider,
        fallbacks=tuple(replace(provider, **fallback) for fallback in fallbacks),
        workspace=default_workspace(home),
    )


def _aliases(
    first: ProviderSettings, models: Mapping[str, Mapping[str, Any]]
) -> dict[str, AliasSettings]:
    def alias(said: Mapping[str, Any]) -> AliasSettings:
        own = {key: value for key, value in said.items() if key != "model"}
        return AliasSettings(provider=replace(first, model=said.get("model", first.model)), **own)

    return {name: alias(said) for name, said in models.items()}
