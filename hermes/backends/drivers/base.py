"""What a driver is: how one CLI is called, and how one talks to it. Pure; starts nothing.

A `Peer` is our side of the talk with one process, without any I/O: it is given the lines the
process prints and answers with events for the reader and steps to take. That makes a driver
testable with recorded lines, and lets one runner serve them all.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, Protocol

from hermes.backends.jobs import Endpoint, Places, Plan, Question, Setup
from hermes.backends.saying import Ending, Event, Exit, Step
from hermes.core.cli_agents import Profile


@dataclass(frozen=True, slots=True, kw_only=True)
class Features:
    """What a CLI can do, as far as others have to know."""

    resumes: bool = True
    """Whether it remembers conversations."""
    chooses_session_ids: bool = False
    """Whether the id of a new session is ours to choose (a UUID)."""
    images: bool = False
    answer_schema: bool = False
    asks: bool = False
    """Whether it asks for permission and waits for the answer."""
    can_be_warm: bool = False
    """Whether its process can be started before there is a question."""
    late_system_prompt: bool = False
    """Whether such a process can then be told its system prompt with the question."""
    profiles: frozenset[Profile] = frozenset(Profile)
    """Those that can be promised to hold."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Installed:
    """The CLI as it is on this machine."""

    command: tuple[str, ...]
    """The program, by its absolute path, and arguments of the operator's that every call gets."""
    version: tuple[int, ...] = ()
    """Empty: it did not say."""
    help: str = ""
    """What `--help` prints, for flags that not every version has."""


class Peer(Protocol):
    """Made for one process. Nothing here blocks or raises."""

    def greet(self) -> Sequence[Step]:
        """What to send as soon as the process runs, before there is a question."""

    def ask(self, question: Question) -> Sequence[Step]:
        """What to send to ask it."""

    def read(self, line: bytes) -> Sequence[Event | Step]:
        """What a line of its standard output means (without the line feed)."""

    def answer(self, question_id: str, *, is_allowed: bool, message: str = "") -> Sequence[Step]:
        """What to send about a `PermissionAsked`; `message` tells the model why not."""

    def interrupt(self) -> Sequence[Step]:
        """What to send to have it stop by itself; nothing: it takes signals only."""

    def dismiss(self) -> Sequence[Step]:
        """What to send to have the process end after its answer; nothing: it ends by itself."""

    def finish(self, exit_: Exit) -> Ending:
        """What it all amounts to, once the process is gone."""


class Driver(Protocol):
    """One kind of CLI."""

    @property
    def features(self) -> Features: ...

    def plan(
        self, setup: Setup, places: Places, endpoint: Endpoint | None, question: Question | None
    ) -> Plan:
        """How to start it. Without a question: started ahead, if `features.can_be_warm`.

        Raises `CommandFailed` where this CLI cannot be asked that.
        """

    def peer(self, setup: Setup, places: Places) -> Peer:
        """Our side of the talk with a process started by such a plan."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Kind:
    """A kind of CLI, before anybody knows whether it is installed."""

    name: str
    """As `driver` in config.yaml: `claude`, `codex`, `acp`, `command`."""
    title: str
    """Its name for people."""
    install: str
    """The command that installs it."""
    tested: tuple[tuple[int, ...], tuple[int, ...]] | None
    """The first and the last version this was tried with; None: it depends on the agent."""
    models: tuple[str, ...]
    """Those that are served unless the operator says otherwise."""
    default_model: str | None
    login_files: tuple[str, ...]
    """Where its login is kept, relative to HOME; copied into a job's home, and back if renewed."""
    login_variables: tuple[str, ...]
    """The variables that hold its login."""
    login_help: str
    """What to do to log in."""
    provider_dialect: Literal["anthropic", "responses"] | None
    """What the gateway's relay has to speak for it; None: there is no relay for it."""
