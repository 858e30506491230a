"""Randomness that can be repeated: a failing test prints its seed."""

from __future__ import annotations

import os
import random


def a_seed() -> int:
    """Printed, so that a failure can be repeated with HERMES_FAULT_SEED."""
    seed = int(os.environ.get("HERMES_FAULT_SEED") or random.SystemRandom().randrange(10**6))
    print(f"HERMES_FAULT_SEED={seed}")  # noqa: T201
    return seed
