"""What the server tells clients about itself: its model and what they may do with it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Any

PLATFORM = "hermes-agent"
NOTHING: Mapping[str, Sequence[str]] = MappingProxyType({})


def capabilities(
    *,
    model: str,
    auth_required: bool,
    endpoints: Mapping[str, tuple[str, str]],
    features: Mapping[str, Any],
    models: Sequence[str] = (),
    ignored_params: Mapping[str, Sequence[str]] = NOTHING,
) -> dict[str, Any]:
    """`endpoints` maps a name to its method and path; `ignored_params` a route to parameters."""
    return {
        "object": "hermes.api_server.capabilities",
        "platform": PLATFORM,
        "model": model,
        "models": list(dict.fromkeys([model, *models])),
        "auth": {"type": "bearer", "required": auth_required},
        "runtime": {
            "mode": "server_agent",
            "tool_execution": "server",
            "split_runtime": False,
            "description": "The agent and its tools run on the API-server host; "
            "clients send messages and watch.",
        },
        "features": dict(features),
        "ignored_params": {route: list(names) for route, names in ignored_params.items()},
        "endpoints": {
            name: {"method": method, "path": path} for name, (method, path) in endpoints.items()
        },
    }


def models_list(models: Sequence[str], created: int) -> dict[str, Any]:
    return {"object": "list", "data": [model_object(model, created) for model in models]}


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
