"""Which tools a model call is offered: the server's, the client's, and what it may do with them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from hermes.core.turn import ClientTools
from hermes.providers.reply import ToolCall


@dataclass(frozen=True, slots=True, kw_only=True)
class Offer:
    """What goes into one model call."""

    tools: Sequence[dict[str, Any]]
    choice: str | dict[str, Any] = "auto"
    parallel: bool | None = None


def offer(server_tools: Sequence[dict[str, Any]], client: ClientTools) -> Offer:
    """The client's tools stand beside the server's; one of the same name takes its place.

    A client that insists on a call means one of its own tools, so then only those are offered. One
    that wants none of its tools called still talks to an agent, which keeps the server's.
    """
    if not client.tools or client.choice == "none":
        return Offer(tools=server_tools)
    if client.choice != "auto":
        return Offer(tools=client.tools, choice=client.choice, parallel=client.parallel)
    taken = client.names
    others = [tool for tool in server_tools if tool["function"]["name"] not in taken]
    return Offer(tools=[*others, *client.tools], parallel=client.parallel)


def divided(
    calls: Sequence[ToolCall], client: ClientTools
) -> tuple[list[ToolCall], list[ToolCall]]:
    """The server's calls and the client's."""
    theirs = client.names if client.choice != "none" else frozenset()
    return (
        [call for call in calls if call.name not in theirs],
        [call for call in calls if call.name in theirs],
    )
