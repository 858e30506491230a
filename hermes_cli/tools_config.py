"""Door: the toolsets a platform's turns may use."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from hermes.settings.toolsets import enabled_toolsets


def _get_platform_tools(config: Mapping[str, Any], platform: str, /) -> set[str]:
    """Names of the enabled toolsets, from a configuration as parsed."""
    return enabled_toolsets(config, platform)
