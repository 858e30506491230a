"""The one way into a handler: authorise, run, and turn every error into the documented envelope.

This happens around each handler and not in middleware, so that a handler mounted on any bare
application behaves the same.
"""

from __future__ import annotations

import logging
from collections.abc import Awaitable, Callable
from typing import TypeVar

from aiohttp import web

from hermes.core.errors import ApiError
from hermes.server.answers import error_answer, from_framework
from hermes.server.seams import Seams

log = logging.getLogger(__name__)

T = TypeVar("T")

Handler = Callable[[web.Request, Seams], Awaitable[web.StreamResponse]]


async def dispatch(handler: Handler, request: web.Request, seams: Seams) -> web.StreamResponse:
    """Run a handler for callers with the right key."""
    refusal = seams.authorise(request)
    return refusal if refusal is not None else await dispatch_public(handler, request, seams)


async def dispatch_public(
    handler: Handler, request: web.Request, seams: Seams
) -> web.StreamResponse:
    """Run a handler that anybody may call."""
    try:
        return await handler(request, seams)
    except ApiError as error:
        return error_answer(error)
    except web.HTTPException as error:
        return error_answer(from_framework(error))
    except Exception:  # the outermost edge: whatever went wrong, the client gets an envelope
        log.exception("request failed", extra={"path": request.path})
        return error_answer(
            ApiError("The gateway failed to answer this request; its log says why.")
        )


def refusal_of(check: Callable[[], object]) -> web.Response | None:
    """The answer that a failed check means; None when it passes."""
    return value_or_refusal(check)[1]


def value_or_refusal(read: Callable[[], T]) -> tuple[T | None, web.Response | None]:
    """What was read, or else the answer that refuses the request."""
    try:
        return read(), None
    except ApiError as error:
        return None, error_answer(error)
