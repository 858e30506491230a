"""Running the tools a reply asks for, one after another, in view of whoever watches."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from typing import Any

import orjson

from hermes.agent.seams import AgentSeams
from hermes.core import messages
from hermes.core.errors import Interrupted
from hermes.core.events import ToolFinished, ToolStarted
from hermes.core.messages import Message
from hermes.fibers import blocking
from hermes.providers.reply import ToolCall

OVER_LIMIT = "Not run: no more tool calls are allowed in this turn. Answer with what you know."


def run_tool_calls(
    seams: AgentSeams, calls: Sequence[ToolCall], *, already: int = 0
) -> Iterator[Message]:
    """The tool messages that answer `calls`, each as soon as its tool is done.

    `already` calls were made before in this turn; those over the client's limit are not made.
    """
    limit = seams.parameters.max_tool_calls
    for made, call in enumerate(calls, start=already):
        if seams.is_interrupted():
            raise Interrupted("The turn was interrupted.")
        if limit is not None and made >= limit:
            yield messages.tool(call.id, call.name, OVER_LIMIT)
            continue
        shown = _shown_arguments(call.arguments)
        seams.emit(ToolStarted(call.id, call.name, shown))
        output = blocking(partial(seams.run_tool, call.name, call.arguments))
        seams.emit(ToolFinished(call.id, call.name, shown, output))
        yield messages.tool(call.id, call.name, output)


def _shown_arguments(arguments: str) -> Mapping[str, Any]:
    """Arguments for display. What is wrong with them is told to the model by the tool registry."""
    try:
        parsed = orjson.loads(arguments or "{}")
    except orjson.JSONDecodeError:
        return {"arguments": arguments}
    return parsed if isinstance(parsed, dict) else {"arguments": parsed}
