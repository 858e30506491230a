"""Plain answers: JSON bodies and error envelopes."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import orjson
from aiohttp import web

from hermes.core.errors import ApiError, BodyTooLarge, MethodNotAllowed, NotFound
from hermes.wire.errors import envelope


def json_answer(
    body: Any, *, status: int = 200, headers: Mapping[str, str] | None = None
) -> web.Response:
    return web.Response(
        body=orjson.dumps(body), status=status, headers=headers, content_type="application/json"
    )


def error_answer(error: ApiError) -> web.Response:
    return json_answer(envelope(error), status=error.status, headers=error.headers)


def from_framework(error: web.HTTPException) -> ApiError:
    """The framework's own refusals in our words."""
    match error:
        case web.HTTPNotFound():
            return NotFound("There is no such path; GET /v1/capabilities lists what is served.")
        case web.HTTPMethodNotAllowed():
            allowed = ", ".join(sorted(error.allowed_methods))
            return MethodNotAllowed(
                f"{error.method} is not allowed here; use {allowed}.", headers={"Allow": allowed}
            )
        case web.HTTPRequestEntityTooLarge():
            return BodyTooLarge(
                "The request body is too large for this gateway (setting server.max_body_bytes)."
            )
        case _:
            other = ApiError(error.reason, code="http_error")
            other.status = error.status
            return other
