"""A process of a CLI agent with everything that stands around it: folders, login, token, note.

It is set up before the process starts, and taken down when nothing of the process is left.
"""

from __future__ import annotations

import logging
from collections.abc import Awaitable, Callable, Mapping
from contextlib import AsyncExitStack
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

from hermes.backends.drivers.base import Driver
from hermes.backends.drivers.known import kind_of
from hermes.backends.errors import CommandFailed
from hermes.backends.hosting.credentials import Credentials, credentials_of, plain_environment
from hermes.backends.hosting.job_tokens import JobTokens, RelayedJob, Upstream
from hermes.backends.hosting.models import HostedModel
from hermes.backends.jobs import Endpoint, Memory, Places, Question, Setup
from hermes.backends.running import login
from hermes.backends.running.cli_process import CliProcess
from hermes.backends.running.folders import JobFolders
from hermes.backends.running.journal import JobJournal
from hermes.backends.running.launch import Launch
from hermes.backends.saying import Ending, EndKind, Event
from hermes.core.budgets import NO_BUDGET, Budget
from hermes.settings.cli_settings import CliClocks
from hermes.settings.redaction import Mask

log = logging.getLogger(__name__)

_NO_RELAY = (
    "it may reach its provider through the gateway only, which has no key for it; set "
    "cli.agents.{name}.api_key_env, or lower cli.agents.{name}.relay"
)

OffLoop = Callable[[Callable[[], Any]], Awaitable[Any]]
IssueKey = Callable[[str, HostedModel, Upstream, Budget], Endpoint]
"""Gives a job a key of its own for the gateway's relay."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Backstage:
    """What all stages need."""

    folders: JobFolders
    journal: JobJournal
    environ: Mapping[str, str]
    off_loop: OffLoop
    tokens: JobTokens
    """The keys that the relay has given out."""
    relay: Callable[[], IssueKey | None]
    """None: the gateway cannot be reached by its jobs."""


class Stage:
    """One process, from before its start until nothing of it is left. Used on one event loop."""

    def __init__(self, backstage: Backstage, hosted: HostedModel, memory: Memory | None) -> None:
        self._backstage = backstage
        self._hosted = hosted
        self._kind = kind_of(hosted.agent)
        self._undo = AsyncExitStack()
        self._early: list[Event] = []
        self._listener: Callable[[Event], None] | None = None
        self._process: CliProcess | None = None
        self._places: Places | None = None
        self._relayed: RelayedJob | None = None
        self._secrets: tuple[str, ...] = ()
        self.memory = memory

    @property
    def process(self) -> CliProcess | None:
        """None until it is started."""
        return self._process

    async def furnish(self, job_id: str) -> Path:
        """Make the folders, and lend the login; returns the one to work in. Raises `OSError`."""
        back, agent, memory = self._backstage, self._hosted.agent, self.memory
        await back.off_loop(partial(back.journal.note, job_id))
        self._undo.push_async_callback(self._quietly, partial(back.journal.forget, job_id))
        home: Path | None = None
        if memory is not None:
            find = partial(back.folders.session_home, agent.name, memory.home_id)
            home = await back.off_loop(find)
        self._undo.push_async_callback(self._quietly, partial(back.folders.remove, job_id))
        self._places = await back.off_loop(partial(back.folders.make, job_id, home=home))
        await self._lend_login(self._places)
        return self._places.workspace

    def move_to(self, workspace: Path) -> None:
        """Let the process work in another folder than the empty one that was made for it."""
        assert self._places is not None, "a stage is furnished first"
        self._places = replace(self._places, workspace=workspace)

    def forget_afterwards(self) -> None:
        """Nobody will go on with what the CLI remembers of this."""
        memory, folders = self.memory, self._backstage.folders
        if memory is not None:
            self.memory = None
            forget = partial(folders.remove_session, self._hosted.agent.name, memory.home_id)
            self._undo.push_async_callback(self._quietly, forget)

    async def start(
        self,
        driver: Driver,
        setup: Setup,
        question: Question | None,
        budget: Budget = NO_BUDGET,
    ) -> CliProcess:
        """Start the process. Raises `CommandFailed`."""
        assert self._places is not None, "a stage is furnished first"
        back, agent = self._backstage, self._hosted.agent
        issue = back.relay()
        paid = credentials_of(agent, self._kind, back.environ, can_relay=issue is not None)
        if agent.relay == "always" and not paid.is_relayed:
            raise CommandFailed(_NO_RELAY.format(name=agent.name))
        endpoint = self._endpoint(setup.job_id, paid, issue, budget)
        self._secrets = _secrets(paid, endpoint)
        launch = Launch(
            plan=driver.plan(setup, self._places, endpoint, question),
            places=self._places,
            environment={**plain_environment(agent, back.environ), **paid.variables},
            mark=setup.job_id,
            clocks=_within(agent.clocks, budget),
            secrets=self._secrets,
        )
        peer = driver.peer(setup, self._places)
        self._process = await CliProcess.start(launch, peer, self._heard)
        return self._process

    def listen(self, listener: Callable[[Event], None]) -> None:
        """Pass on what the process says, from its beginning."""
        self._listener = listener
        early, self._early = self._early, []
        for event in early:
            listener(event)

    def told(self, ending: Ending) -> Ending:
        """The same as others may know it: with what the relay counted, and without secrets.

        A CLI that is cut off may have no time to say what it used, and one whose provider refuses
        it because the budget is spent takes that for a failure.
        """
        if ending.error is not None:  # a provider may have repeated the key it refused
            ending = replace(ending, error=Mask(self._secrets).over(ending.error))
        job = self._relayed
        if job is None or ending.kind is EndKind.ANSWERED:
            return ending
        if job.usage.total_tokens > ending.usage.total_tokens:
            ending = replace(ending, usage=job.usage)
        if job.reached is None or ending.kind is not EndKind.FAILED:
            return ending
        spent = f"The work stopped before it was done: it has used all it may use ({job.reached})."
        return replace(ending, kind=EndKind.TRUNCATED, code="budget_exhausted", error=spent)

    async def close(self) -> None:
        """Take everything down; the process must have ended."""
        await self._undo.aclose()

    def _heard(self, event: Event) -> None:
        if self._listener is None:
            self._early.append(event)
        else:
            self._listener(event)

    def _endpoint(
        self, job_id: str, paid: Credentials, issue: IssueKey | None, budget: Budget
    ) -> Endpoint | None:
        if paid.upstream is None:
            return None
        if not paid.is_relayed or issue is None:
            return Endpoint(base_url=paid.upstream.base_url, key=paid.upstream.key)
        endpoint = issue(job_id, self._hosted, paid.upstream, budget)
        self._undo.callback(self._backstage.tokens.revoke, job_id)
        self._relayed = self._backstage.tokens.find(endpoint.key)
        return endpoint

    async def _lend_login(self, places: Places) -> None:
        back, agent = self._backstage, self._hosted.agent
        own_home = back.environ.get("HOME")
        if not (agent.login and own_home and self._kind.login_files):
            return
        lend = partial(
            login.lend,
            self._kind.login_files,
            users_home=Path(own_home),
            job_home=places.home,
        )
        loans = await back.off_loop(lend)
        self._undo.push_async_callback(self._quietly, partial(login.take_back, loans))

    async def _quietly(self, work: Callable[[], Any]) -> None:
        """One thing that cannot be taken down must not keep the others standing."""
        try:
            await self._backstage.off_loop(work)
        except OSError as error:
            log.warning("something of a CLI job was left behind: %s", error)


def _within(clocks: CliClocks, budget: Budget) -> CliClocks:
    if not budget.max_seconds:
        return clocks
    return replace(clocks, total_seconds=min(clocks.total_seconds, budget.max_seconds))


def _secrets(paid: Credentials, endpoint: Endpoint | None) -> tuple[str, ...]:
    known = [*paid.variables.values()]
    if paid.upstream is not None:
        known.append(paid.upstream.key)
    if endpoint is not None:
        known.append(endpoint.key)
    return tuple(known)
