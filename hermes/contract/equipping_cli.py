"""Makes the host of CLI agents from the settings, and the agents whose turns it carries out."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from dataclasses import asdict
from functools import cached_property, partial
from typing import Any

from hermes.agent.equipment import Equipment
from hermes.agent.hosted.agent import HostedAgent
from hermes.agent.hosted.seams import HostedSeams
from hermes.agent.recording import Recorder
from hermes.backends.drivers.known import kind_of
from hermes.backends.hosting.catalogue import Catalogue
from hermes.backends.hosting.host import Host
from hermes.backends.hosting.job_tokens import JobTokens, RelayCaps, RelayGrant, Upstream
from hermes.backends.hosting.models import HostedModel
from hermes.backends.hosting.stage import Backstage
from hermes.backends.jobs import Endpoint
from hermes.backends.running.folders import JobFolders
from hermes.backends.running.journal import JobJournal
from hermes.backends.running.threads import in_thread
from hermes.backends.workspaces.workspaces import Workspaces
from hermes.contract.callbacks import Callbacks, fire
from hermes.contract.hosted_models import model_behind
from hermes.contract.results import result_to_dict
from hermes.core.budgets import Budget
from hermes.core.errors import SettingsError
from hermes.core.events import Event
from hermes.core.prices import Price, price_by_rule
from hermes.core.turn import TurnParameters
from hermes.core.usage import Usage
from hermes.providers.prices import listed_price, with_cost
from hermes.settings.cli_settings import CliSettings
from hermes.settings.model import ProviderSettings, Settings
from hermes.settings.paths import cli_db, cli_folder
from hermes.store.cli_sessions import CliSessionStore
from hermes.store.sessions import SessionDB

_CALLBACKS = frozenset(Callbacks.__slots__)
_SELLERS = {"anthropic": "https://api.anthropic.com", "responses": "https://api.openai.com"}
"""Who sells what a CLI uses, where nothing else is said."""


class CliRoom:
    """Holds what has to be given back at the end."""

    def __init__(
        self,
        settings: Callable[[], Settings],
        tokens: JobTokens,
        sessions: Callable[[], SessionDB | None] = lambda: None,
        environ: Mapping[str, str] = os.environ,
    ) -> None:
        """`sessions` opens the store of sessions, which belongs to whoever gives it."""
        self._settings = settings
        self._tokens = tokens
        self.origin: str | None = None
        """Where this gateway can be reached by its own jobs; None until it listens."""
        self._sessions = sessions
        self._environ = environ
        self.catalogue = Catalogue(environ)
        self.memories = CliSessionStore(lambda: cli_db(settings().home))

    @cached_property
    def host(self) -> Host:
        """Made when it is used for the first time: before that nothing need be configured."""
        root = cli_folder(self._settings().home)
        folders = JobFolders(lambda: root)
        backstage = Backstage(
            folders=folders,
            journal=JobJournal(folders),
            environ=self._environ,
            off_loop=partial(in_thread, name="hermes-cli-job"),
            tokens=self._tokens,
            relay=lambda: None if self.origin is None else self._issue,
        )
        workspaces = Workspaces(self._environ, kept=root / "kept")
        return Host(self.settings, self.catalogue, backstage, workspaces)

    def settings(self) -> CliSettings:
        try:
            return self._settings().cli
        except SettingsError:
            return CliSettings()  # an embedder's gateway that was never configured has none

    def model_behind(self, alias: str | None) -> HostedModel | None:
        return None if alias is None else model_behind(self.settings(), alias)

    def agent_or(
        self,
        create_own: Callable[..., Any],
        equipment: Equipment,
        sessions: Callable[[], Any],
        *,
        parameters: TurnParameters | None,
        **keywords: Any,
    ) -> Any:
        """The agent for a turn: a hosted one if its model is a CLI's, else one of our own.

        `sessions` opens the store of sessions, for a turn that is kept.
        """
        hosted = None if parameters is None else self.model_behind(parameters.alias)
        if parameters is None or hosted is None:
            return create_own(parameters=parameters, **keywords)
        store = sessions() if parameters.persist else None
        return self.agent(hosted, equipment, parameters=parameters, session_db=store, **keywords)

    def agent(
        self,
        model: HostedModel,
        equipment: Equipment,
        *,
        parameters: TurnParameters,
        session_id: str | None = None,
        session_db: Any = None,
        ephemeral_system_prompt: str | None = None,
        run_link: Any = None,
        run_id: str | None = None,
        **others: Any,
    ) -> HostedAgent:
        """An agent for one turn. `others` are callbacks, and what only an agent of ours needs."""
        told = {name: value for name, value in others.items() if name in _CALLBACKS}
        emit = partial(_emit, Callbacks(**told))
        recorder = Recorder(
            session_db,
            session_id,
            model.name,
            link=run_link,
            emit=emit,
            resumption=parameters.resumption,
        )
        seams = HostedSeams(
            host=self.host,
            driver=partial(self.catalogue.driver, model.agent),
            memories=self.memories,
            model=model,
            system_prompt=ephemeral_system_prompt,
            session_id=session_id if session_db is not None else None,
            run_id=run_id or (None if run_link is None else run_link.run_id),
            parameters=parameters,
            approvals=self._settings().approvals,
            emit=emit,
            record=recorder.record,
            link=run_link,
            allowance=equipment.accounting.allowance(parameters, session_id),
            priced=partial(self._priced, model, equipment),
            meter=equipment.meter,
        )
        return HostedAgent(seams, result_to_dict, session_id)

    def recover(self) -> None:
        """For the start: end what a killed process has left running, and remove what nobody needs.

        May block.
        """
        if not cli_folder(self._settings().home).exists():
            return
        sessions = self._sessions()
        if sessions is not None:
            for session_id in self.memories.session_ids():
                if sessions.get_session(session_id) is None:  # deleted by somebody else
                    self.memories.forget(session_id)
        self.host.recover(self.memories.homes())

    def listens_at(self, url: str) -> None:
        """The gateway can be reached there by its own jobs; processes may be kept warm now."""
        self.origin = url
        if any(agent.warm for agent in self.settings().agents):
            self.host.warm_up()

    def states(self) -> list[dict[str, Any]]:
        """How many jobs of each agent are at work, and how many wait."""
        if not self.settings().agents:
            return []
        return [{"name": name, **asdict(load)} for name, load in self.host.states().agents.items()]

    def forget_session(self, session_id: str) -> None:
        """A session was deleted: so is what CLIs remember of it. May block."""
        if cli_db(self._settings().home).exists():
            for memory in self.memories.forget(session_id):
                self.host.forget(memory.agent, memory.home_id)

    async def close_jobs(self) -> None:
        """End every job; returns when nothing of any of them is left."""
        if "host" in vars(self):
            await self.host.close()

    def close(self) -> None:
        """May block."""
        self.memories.close()

    def _issue(
        self, job_id: str, model: HostedModel, upstream: Upstream, budget: Budget
    ) -> Endpoint:
        """A key of its own for a job, good until its end and for as much as it may use."""
        dialect = kind_of(model.agent).provider_dialect
        assert dialect is not None and self.origin is not None
        token = self._tokens.issue(
            RelayGrant(
                job_id=job_id,
                dialect=dialect,
                upstream=upstream,
                caps=RelayCaps(
                    requests=budget.max_iterations,
                    tokens=budget.max_tokens,
                    cost_usd=budget.max_cost_usd,
                ),
                price_of=lambda name: self._price(model, name),
            )
        )
        return Endpoint(base_url=self.origin, key=token, is_relay=True)

    def _priced(self, model: HostedModel, equipment: Equipment, usage: Usage) -> Usage:
        """With its cost: the operator's price, what the CLI says, the seller's."""
        seller = ProviderSettings(
            provider="cli", model=model.model or model.agent.name, base_url=_seller(model)
        )
        return with_cost(usage, equipment.accounting.prices(), seller)

    def _price(self, model: HostedModel, name: str) -> Price | None:
        rules = self._settings().prices
        own = price_by_rule(rules, name) if rules else None
        return own or listed_price("cli", _seller(model), name)


def _seller(model: HostedModel) -> str:
    dialect = kind_of(model.agent).provider_dialect
    return model.agent.base_url or _SELLERS.get(dialect or "", "")


def _emit(callbacks: Callbacks, event: Event) -> None:
    fire(event, callbacks)
