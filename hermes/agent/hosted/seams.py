"""All that a hosted turn may use of the world around it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from hermes.agent.hosted.narrating import Record
from hermes.backends.drivers.base import Driver
from hermes.backends.hosting.host import Host
from hermes.backends.hosting.models import HostedModel
from hermes.core.cli_agents import Examined
from hermes.core.cli_sessions import CliMemories
from hermes.core.events import Emit
from hermes.core.metrics import Meter
from hermes.core.run_link import RunLink
from hermes.core.turn import TurnParameters, Usage
from hermes.runs.allowance import Allowance
from hermes.settings.model import ApprovalSettings


@dataclass(frozen=True, slots=True, kw_only=True)
class HostedSeams:
    host: Host
    driver: Callable[[], Driver | Examined]
    """How to talk to the CLI, or why that is not possible. May block."""
    memories: CliMemories
    model: HostedModel
    system_prompt: str | None
    session_id: str | None
    """The session that is stored; None: nothing of the turn is."""
    run_id: str | None
    parameters: TurnParameters
    approvals: ApprovalSettings
    emit: Emit
    record: Record
    link: RunLink | None
    allowance: Allowance
    priced: Callable[[Usage], Usage]
    meter: Meter
