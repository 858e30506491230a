"""What the agents of one process share: made once, by a door, and given to each of them.

An agent without any equipment works too: with the tools that need nothing but a workspace.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from hermes.agent.context import Contexts
from hermes.agent.context_files import ContextFiles
from hermes.agent.patience import Patience
from hermes.agent.recalling import Recall
from hermes.core.metrics import UNMETERED, Meter
from hermes.providers.health import Health
from hermes.runs.accounting import Accounting
from hermes.tools.toolbox import Toolbox


@dataclass(frozen=True, slots=True, kw_only=True)
class Equipment:
    toolbox: Toolbox = field(default_factory=Toolbox)
    health: Health = field(default_factory=Health)
    """Which providers and keys need a rest."""
    patience: Patience = field(default_factory=Patience)
    meter: Meter = UNMETERED
    contexts: Contexts = field(default_factory=Contexts)
    """What is known of the models' windows, and of conversations that were made to fit."""
    accounting: Accounting = field(default_factory=Accounting)
    context_files: ContextFiles = field(default_factory=ContextFiles)
    recall: Recall = field(default_factory=Recall)


BARE = Equipment()
