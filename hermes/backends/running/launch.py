"""What a process is started with. Values, and how its environment is put together."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from hermes.backends.jobs import Places, Plan
from hermes.processes.marks import Mark
from hermes.settings.cli_settings import CliClocks

JOB_VARIABLE = "HERMES_JOB"
"""Everything a job starts has it, and is known by it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class OutputLimits:
    """How much a process may print, in bytes."""

    line: int = 32 * 1024 * 1024
    """A longer line is left out, and said to be."""
    total: int = 64 * 1024 * 1024
    """The process is ended that prints more."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Launch:
    """One process to be started."""

    plan: Plan
    places: Places
    environment: Mapping[str, str] = field(repr=False)
    """What every job may know; the places, the plan and the mark add to it."""
    mark: str
    """The job's id; nothing else on this machine has it."""
    clocks: CliClocks = field(default_factory=CliClocks)
    limits: OutputLimits = field(default_factory=OutputLimits)
    secrets: tuple[str, ...] = field(default=(), repr=False)
    """What must not be seen in the end of its standard error."""


def job_mark(job_id: str) -> Mark:
    return Mark(JOB_VARIABLE, job_id)


def job_environment(launch: Launch) -> dict[str, str]:
    """The whole environment of the process; nobody can take its mark from it."""
    places = {"HOME": str(launch.places.home), "TMPDIR": str(launch.places.scratch)}
    mark = {JOB_VARIABLE: launch.mark}
    return {**launch.environment, **places, **launch.plan.environment, **mark}
