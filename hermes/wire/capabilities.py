"""What the server tells clients about itself: its model and what they may do with it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

PLATFORM = "hermes-agent"


def capabilities(
    *,
    model: str,
    auth_required: bool,
    endpoints: Mapping[str, tuple[str, str]],
    features: Mapping[str, Any],
) -> dict[str, Any]:
    """`endpoints` maps a name to its method and path."""
    return {
        "object": "hermes.api_server.capabilities",
        "platform": PLATFORM,
        "model": model,
        "auth": {"type": "bearer", "required": auth_required},
        "runtime": {
            "mode": "server_agent",
            "tool_execution": "server",
            "split_runtime": False,
            "description": "The agent and its tools run on the API-server host; "
            "clients send messages and watch.",
        },
        "features": dict(features),
        "endpoints": {
            name: {"method": method, "path": path} for name, (method, path) in endpoints.items()
        },
    }


def models_list(model: str, created: int) -> dict[str, Any]:
    return {"object": "list", "data": [model_object(model, created)]}


def model_object(model: str, created: int) -> dict[str, Any]:
    return {
        "id": model,
        "object": "model",
        "created": created,
        "owned_by": "hermes",
        "permission": [],
        "root": model,
        "parent": None,
    }
