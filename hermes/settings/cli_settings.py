"""The settings of CLI agents as values: which there are, what they may do, how many at once."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

from hermes.core.cli_agents import Profile

DriverName = Literal["claude", "codex", "acp", "command"]
WorkspaceMode = Literal["none", "clone", "worktree", "shared"]
OutputKind = Literal["text", "json", "jsonl", "claude"]


@dataclass(frozen=True, slots=True, kw_only=True)
class CliWorkspaceSettings:
    """Where a CLI agent works."""

    mode: WorkspaceMode = "none"
    """`none`: an empty folder for each job. `clone` and `worktree`: a copy of the repository for
    each job. `shared`: the folder itself, for one job at a time."""
    repository: Path | None = None
    """The repository to copy, or the folder to share."""
    branch: str | None = None
    """What jobs start from; None: what is checked out in the repository."""
    sync: bool = True
    """Whether news of the repository's remote is fetched before each job."""
    sync_failure: Literal["fail", "warn"] = "fail"
    """What becomes of a job whose repository could not be brought up to date."""
    commit: bool = True
    """Whether what a job changed in a copy is committed to `agent/<job>`."""
    push: bool = False
    """Whether that branch is pushed."""


@dataclass(frozen=True, slots=True, kw_only=True)
class DeclaredCli:
    """How a CLI that we know nothing about is called and read."""

    arguments: tuple[str, ...] = ()
    """Given with every call, after the command."""
    output: OutputKind = "text"
    """`text`: what it prints is the answer. `json`: one object. `jsonl`: an object per line.
    `claude`: lines as Claude Code prints them."""
    prompt_by: Literal["stdin", "argument"] = "stdin"
    model_flag: str | None = None
    system_prompt_flag: str | None = None
    session_flag: str | None = None
    """Opens a session under an id of ours."""
    resume_flag: str | None = None
    """Goes on with it."""
    text_field: str = "result"
    """With `json` and `jsonl`: where the text is, as names with dots between them."""
    session_field: str | None = None
    """Where a session id that the CLI chose is told."""
    error_field: str | None = None
    """What is there, if anything, is an error."""
    input_tokens_field: str | None = None
    output_tokens_field: str | None = None
    cost_field: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class CliClocks:
    """How long a CLI may take, in seconds."""

    start_seconds: float = 60.0
    """To its first line."""
    idle_seconds: float = 600.0
    """Between two lines."""
    total_seconds: float = 3600.0
    final_seconds: float = 5.0
    """To end after it said that it is done."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CliAgentSettings:
    """One CLI agent, whose models are `<name>/<model>`."""

    name: str
    driver: DriverName
    command: tuple[str, ...]
    models: tuple[str, ...] = ()
    """Empty: those that the driver knows."""
    default_model: str | None = None
    """Who answers to the bare name; None: the driver's choice."""
    profile: Profile = Profile.CHAT
    """The most a request may have, and what it has if it says nothing."""
    workspace: CliWorkspaceSettings = field(default_factory=CliWorkspaceSettings)
    transport: Literal["auto", "one-shot"] = "auto"
    """`auto`: the CLI's protocol in both directions, where it has one."""
    base_url: str | None = None
    """Where its provider is; None: where the CLI itself thinks it is."""
    api_key: str = field(default="", repr=False)
    relay: Literal["auto", "always", "never"] = "auto"
    """Whether it reaches its provider through the gateway, with a key that dies with the job.
    `auto`: where the gateway has a key for it."""
    login: bool = True
    """Whether the login that is kept in the user's home is lent to jobs."""
    environment: tuple[str, ...] = ()
    """Further variables of the gateway that jobs may know."""
    max_running: int = 2
    warm: int = 0
    """How many processes wait for the next question."""
    clocks: CliClocks = field(default_factory=CliClocks)
    declared: DeclaredCli = field(default_factory=DeclaredCli)


@dataclass(frozen=True, slots=True, kw_only=True)
class CliSettings:
    """All CLI agents, and how many of their processes there may be."""

    agents: tuple[CliAgentSettings, ...] = ()
    default: str | None = None
    """The agent that answers requests for no model of ours; None: our own."""
    max_running: int = 4
    max_queued: int = 32
    queue_seconds: float = 600.0
    park_seconds: float = 300.0
    """How long a process waits for somebody to approve a call, before the job goes on in another
    one after the decision."""

    def agent(self, name: str) -> CliAgentSettings | None:
        return next((agent for agent in self.agents if agent.name == name), None)

    @property
    def secrets(self) -> frozenset[str]:
        return frozenset(agent.api_key for agent in self.agents if agent.api_key)
