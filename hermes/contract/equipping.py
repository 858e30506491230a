"""Makes what the agents of a process share, from its settings. Nothing is opened before its use."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from hermes.agent.context import Contexts
from hermes.agent.context_files import ContextFiles
from hermes.agent.equipment import Equipment
from hermes.agent.recalling import Recall
from hermes.backends.hosting.job_tokens import JobTokens
from hermes.contract.contexts import rules_from
from hermes.contract.equipping_cli import CliRoom
from hermes.contract.equipping_commands import CommandRoom
from hermes.contract.equipping_mcp import McpShelf
from hermes.contract.equipping_shadow import shadow_for
from hermes.contract.equipping_web import ConfiguredSearch, WebReader
from hermes.contract.provider_report import cooling_down, provider_report
from hermes.core.errors import SettingsError
from hermes.metrics.exposition import exposition
from hermes.metrics.tally import Tally
from hermes.runs.accounting import Accounting
from hermes.settings.model import Settings
from hermes.settings.paths import memory_db, spending_db
from hermes.store.ledger import ProcessLedger
from hermes.store.memories import MemoryStore
from hermes.store.sessions import SessionDB
from hermes.store.todo_lists import ProcessTodoLists
from hermes.tools.remote import RemoteTools
from hermes.tools.services import Services
from hermes.tools.skills import SkillShelf
from hermes.tools.toolbox import Toolbox


class Workshop:
    """Holds what has to be given back at the end."""

    def __init__(
        self,
        settings: Callable[[], Settings],
        sessions: Callable[[], SessionDB | None] = lambda: None,
    ) -> None:
        """`settings` are asked for when something is used for the first time, not before.

        `sessions` opens the store of sessions, which belongs to whoever gives it.
        """
        self._settings = settings
        self._tally = Tally()
        self.shadow = shadow_for(settings)
        self.mcp = McpShelf(settings)
        self.job_tokens = JobTokens()
        self.cli = CliRoom(settings, self.job_tokens, sessions)
        self._commands = CommandRoom(settings)
        self._memories = MemoryStore(
            lambda: memory_db(settings().home), is_enabled=lambda: settings().memory.enabled
        )
        services = Services(
            changes=self.shadow,
            page_reader=WebReader(settings),
            search_engine=ConfiguredSearch(settings),
            **self._commands.services(),
            memories=self._memories,
            past_sessions=sessions,
            todos=ProcessTodoLists(sessions),
            skills=SkillShelf(lambda: settings().home),
        )
        self._ledger = ProcessLedger(lambda: spending_db(settings().home))
        self.equipment = Equipment(
            toolbox=Toolbox(services, RemoteTools(self.mcp.tools)),
            context_files=ContextFiles(services.skills),
            recall=Recall(services.memories, lambda: settings().memory.max_characters),
            meter=self._tally,
            contexts=Contexts(lambda: rules_from(settings())),
            accounting=Accounting(
                budgets=lambda owner: settings().budgets_of(owner),
                prices=lambda: settings().prices,
                ledger=self._ledger,
            ),
        )

    def recover(self) -> None:
        """For the start: end what a killed process has left running. May block."""
        self._commands.leftovers.end()
        self.cli.recover()

    def start(self) -> None:
        """Begin what takes a while, such as connecting to servers; returns at once."""
        self.mcp.start()

    def provider_report(self) -> list[dict[str, Any]]:
        """How the configured providers fare."""
        try:
            settings = self._settings()
        except SettingsError:
            return []  # an embedder's gateway that was never configured has nobody to report on
        return provider_report(settings, self.equipment.health)

    def metrics(self) -> str:
        """All that was counted, in Prometheus' text format."""
        return exposition([*self._tally.families(), cooling_down(self.provider_report())])

    def close(self) -> None:
        """May block. Nothing of the equipment is used afterwards."""
        self._commands.processes.close()
        self.mcp.close()
        self.cli.close()
        self.shadow.close()
        self._ledger.close()
        self._memories.close()
