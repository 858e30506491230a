"""The official MCP SDK: optional, and imported only where there is something to do with it."""

from __future__ import annotations

import importlib
import importlib.util
import logging
from types import ModuleType

MISSING = "The MCP SDK is not installed; run: pip install 'hermes-gateway[mcp]'"


_TALKATIVE = ("mcp", "httpx2")


def is_installed() -> bool:
    return importlib.util.find_spec("mcp") is not None


def load(module: str) -> ModuleType:
    """A module of ours that imports the SDK. Takes a second, the first time."""
    for name in _TALKATIVE:
        # It logs a trace for every line of a server that is not JSON, and every HTTP request.
        logging.getLogger(name).setLevel(logging.CRITICAL)
    return importlib.import_module(module)
