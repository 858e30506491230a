"""Door: how an embedding program configures the gateway's platforms."""

from __future__ import annotations

import os

from hermes.settings.gateway_config import GatewayConfig as GatewayConfig
from hermes.settings.gateway_config import Platform as Platform
from hermes.settings.gateway_config import PlatformConfig as PlatformConfig
from hermes.settings.gateway_config import gateway_config


def load_gateway_config() -> GatewayConfig:
    """The platforms as the environment has them at this moment."""
    return gateway_config(os.environ)
