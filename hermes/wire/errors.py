"""The envelope every refused request is answered with."""

from __future__ import annotations

from typing import Any

from hermes.core.errors import ApiError


def envelope(error: ApiError) -> dict[str, Any]:
    """The body OpenAI clients read `message`, `type`, `param` and `code` from."""
    described = {
        "message": error.message,
        "type": error.type,
        "param": error.param,
        "code": error.code,
    }
    return {"error": {**described, **error.extra}}
