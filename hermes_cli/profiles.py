"""Door: the active profile."""

from __future__ import annotations

import os

from hermes.settings.profiles import active_profile


def get_active_profile_name() -> str:
    """The profile's name, or "default"; whatever state the configuration is in."""
    return active_profile(os.environ)
