"""Parameters that were accepted and have no effect: named in a header, or refused on request."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from aiohttp import web

from hermes.core.errors import InvalidRequest
from hermes.core.turn import Sampling, TurnParameters
from hermes.providers.heeded import CLI, ignored_parameters
from hermes.server.seams import Seams

IGNORED_HEADER = "X-Hermes-Ignored-Params"
STRICT_HEADER = "X-Hermes-Strict"

_NO_SAMPLING = Sampling()
_EVERYTHING = Sampling(
    temperature=0.5,
    top_p=0.5,
    max_tokens=1,
    stop=("stop",),
    seed=1,
    presence_penalty=1.0,
    frequency_penalty=1.0,
)
_NAMEABLE = re.compile(r"[\w.\[\]-]{1,64}", re.ASCII)
_MOST_NAMES = 32


def ignored_headers(
    request: web.Request, seams: Seams, parameters: TurnParameters, ignored: Sequence[str]
) -> dict[str, str]:
    """The header that names what has no effect: what the route ignores, and what the model does.

    In strict mode that is a 400 instead.
    """
    asks_nothing = parameters.sampling == _NO_SAMPLING and not parameters.client_tools.tools
    if not ignored and asks_nothing:
        return {}
    names = [*ignored, *_unheeded(seams, parameters)]
    if not names:
        return {}
    if _is_strict(request, seams):
        raise InvalidRequest(
            f"'{names[0][:100]}' has no effect here, and the request (or the gateway) is strict; "
            f"leave it out, or send it without {STRICT_HEADER}.",
            param=names[0][:100],
            code="unsupported_parameter",
        )
    shown = [name for name in names if _NAMEABLE.fullmatch(name)]
    return {IGNORED_HEADER: ", ".join(shown[:_MOST_NAMES])} if shown else {}


def ignored_by_agent(seams: Seams, known: Iterable[str]) -> list[str]:
    """For /v1/capabilities: what a route ignores, and what the agent's own model does."""
    return [*known, *_unheeded(seams, TurnParameters(sampling=_EVERYTHING))]


def _unheeded(seams: Seams, parameters: TurnParameters) -> tuple[str, ...]:
    served = seams.served_model(parameters.alias)
    if served is None:
        return ()
    effort = parameters.reasoning_effort or served.reasoning_effort
    sampling = ignored_parameters(served.api_mode, served.model, parameters.sampling, effort)
    # A CLI agent has tools of its own, and no place for those of a client.
    has_strange_tools = served.api_mode == CLI and parameters.client_tools.tools
    return (*sampling, "tools") if has_strange_tools else sampling


def _is_strict(request: web.Request, seams: Seams) -> bool:
    said = request.headers.get(STRICT_HEADER, "").strip().lower()
    return said in ("true", "1", "yes") or (seams.listener.strict_params and said != "false")
