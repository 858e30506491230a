"""What is asked of a CLI agent. Values only.

A job has two halves, because a process may be started before anybody asks it something: the
`Setup`, which is fixed when the process starts, and the `Question`, which it is asked then.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from hermes.core.cli_agents import Profile
from hermes.core.usage import NO_USAGE, Usage


@dataclass(frozen=True, slots=True, kw_only=True)
class Image:
    """A picture that belongs to a question; its type was found out by looking at it."""

    media_type: str
    """`image/png`, `image/jpeg`, `image/gif` or `image/webp`."""
    data: bytes = field(repr=False)

    @property
    def suffix(self) -> str:
        return "." + self.media_type.rpartition("/")[2].replace("jpeg", "jpg")


@dataclass(frozen=True, slots=True, kw_only=True)
class Question:
    """One thing to say to a CLI agent."""

    text: str
    images: tuple[Image, ...] = ()
    system_prompt: str | None = None
    """What the agent is, for a process that was started before anybody said so and can still be
    told: see `Features.late_system_prompt`. Otherwise that of the setup counts."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CliSession:
    """A conversation that the CLI itself remembers, under an id of its own.

    Some CLIs let us choose the id of a new one, others tell it in their first lines.
    """

    id: str | None = None
    """None: a new one, whose id the CLI chooses."""
    is_resumed: bool = False
    """Whether the CLI has it already; otherwise it begins now."""
    used_before: Usage = NO_USAGE
    """What it had used in all when it was last heard of, for CLIs that only ever tell totals."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Memory:
    """Where a CLI keeps what it remembers of a conversation, and which one that is."""

    home_id: str
    session: CliSession


@dataclass(frozen=True, slots=True, kw_only=True)
class Setup:
    """Everything about a job that is fixed when its process starts."""

    job_id: str
    model: str | None = None
    """The CLI's own name for the model; None: its default."""
    profile: Profile = Profile.CHAT
    system_prompt: str | None = None
    """What the caller says the agent is. A driver whose CLI has no place for it says it first in
    the question."""
    session: CliSession | None = None
    """None: nothing is kept of it."""
    answer_schema: Mapping[str, Any] | None = None
    """A JSON schema that the answer must keep to, for CLIs that can be told."""
    reasoning_effort: str | None = None
    can_ask: bool = False
    """Whether somebody can be asked for permission; otherwise what would have to be is denied."""
    max_cost_usd: float | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Places:
    """The folders of a job, all of them private to it and there before it starts."""

    home: Path
    """The CLI's HOME and settings; the same one again when a session goes on."""
    workspace: Path
    """Where it works: the working directory of the process."""
    scratch: Path
    """TMPDIR, and whatever files the job needs; gone when the job is."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Endpoint:
    """Where the CLI reaches its provider, where that is not left to the CLI's own login."""

    base_url: str
    """Without a path such as `/v1`."""
    key: str = field(repr=False)
    is_relay: bool = False
    """Whether this is the gateway itself, with a key that dies with the job."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """How to start a process. The runner adds the environment that every job has."""

    argv: tuple[str, ...]
    environment: Mapping[str, str] = field(default_factory=dict, repr=False)
    """The driver's own variables, over those that every job has."""
    files: Mapping[Path, bytes] = field(default_factory=dict, repr=False)
    """What has to be there before it starts: absolute paths inside the job's places, mode 0600."""
    folder: Path | None = None
    """Where it starts, for CLIs that obey whatever lies in the folder they start in. None: in the
    workspace."""
