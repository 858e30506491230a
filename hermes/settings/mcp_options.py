"""The option of MCP servers; what may be said of one is in `hermes.settings.mcp_servers`."""

from __future__ import annotations

from hermes.settings import kinds
from hermes.settings.option import Option

MCP_OPTIONS = (
    Option(
        name="mcp.servers",
        kind=kinds.SECTION,
        config="mcp.servers",
        sentence="MCP servers whose tools the agent may use, each under a name.",
    ),
)
