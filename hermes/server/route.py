"""One route: how it is asked for, and what answers."""

from __future__ import annotations

import re
from dataclasses import dataclass

from hermes.backends.hosting.job_tokens import RelayDialect
from hermes.server.dispatch import Handler


@dataclass(frozen=True, slots=True)
class Route:
    name: str
    method: str
    path: str
    handler: Handler
    is_public: bool = False
    """Answered without a key."""
    is_served: bool = True
    """False for a name that clients look for and this version does not serve."""
    relays: RelayDialect | None = None
    """What the jobs of CLI agents speak here, with tokens of their own, to be passed on."""

    @property
    def readable_path(self) -> str:
        """`{model_id:.+}` is written `{model_id}`: patterns are the router's business."""
        return re.sub(r":[^}]+}", "}", self.path)
