"""What is done about each kind of failed model call: one table, as data.

docs/providers.md shows the same table, and a test compares the two.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import Enum
from types import MappingProxyType

from hermes.providers.failures import FailureKind


class Remedy(Enum):
    """Something that may help. Each is tried only where it can be."""

    RETRY = "retry"
    """Ask the same again, after a pause."""
    ROTATE = "rotate"
    """Go on with the provider's next key."""
    COMPRESS = "compress"
    """Make the conversation shorter; once per model call."""
    FALL_BACK = "fall back"
    """Go on with the next provider of the chain."""


NOTICES: Mapping[Remedy, str] = MappingProxyType(
    {
        Remedy.RETRY: "provider_retry",
        Remedy.ROTATE: "provider_key_rotated",
        Remedy.FALL_BACK: "provider_fallback",
    }
)
"""By what code a reader is told; whoever compresses tells of it himself."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Treatment:
    remedies: tuple[Remedy, ...]
    """Tried in this order. When none of them can be, the turn fails."""
    retries: int = 0
    """How often the same provider is asked again with the same key."""
    cool_down: float = 0.0
    """Seconds for which it is left alone afterwards, where it did not say how long."""


TREATMENTS: Mapping[FailureKind, Treatment] = MappingProxyType(
    {
        FailureKind.RATE_LIMITED: Treatment(
            remedies=(Remedy.ROTATE, Remedy.RETRY, Remedy.FALL_BACK), retries=2, cool_down=30
        ),
        FailureKind.OVERLOADED: Treatment(
            remedies=(Remedy.RETRY, Remedy.FALL_BACK), retries=2, cool_down=30
        ),
        FailureKind.NETWORK: Treatment(
            remedies=(Remedy.RETRY, Remedy.FALL_BACK), retries=2, cool_down=15
        ),
        FailureKind.STALLED: Treatment(
            remedies=(Remedy.RETRY, Remedy.FALL_BACK), retries=1, cool_down=30
        ),
        FailureKind.GARBLED: Treatment(remedies=(Remedy.RETRY, Remedy.FALL_BACK), retries=2),
        FailureKind.AUTH: Treatment(remedies=(Remedy.ROTATE, Remedy.FALL_BACK), cool_down=600),
        FailureKind.BILLING: Treatment(remedies=(Remedy.ROTATE, Remedy.FALL_BACK), cool_down=600),
        FailureKind.CONTEXT_OVERFLOW: Treatment(remedies=(Remedy.COMPRESS, Remedy.FALL_BACK)),
        FailureKind.IMAGES_UNSUPPORTED: Treatment(remedies=(Remedy.FALL_BACK,)),
        FailureKind.BAD_REQUEST: Treatment(remedies=(Remedy.FALL_BACK,)),
        FailureKind.UNKNOWN: Treatment(remedies=(Remedy.FALL_BACK,)),
    }
)
