"""The route table joined with what is said of each route, as an OpenAPI document."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from hermes.server.route import Route
from hermes.wire.openapi import Operation, document
from hermes.wire.schemas.catalogue import DESCRIPTIONS


def document_of(routes: Iterable[Route]) -> dict[str, Any]:
    """Routes without a description are left out; a house test finds them."""
    return document(
        Operation(
            name=route.name,
            method=route.method,
            path=route.readable_path,
            is_public=route.is_public,
            description=DESCRIPTIONS[route.name],
        )
        for route in routes
        if route.is_served and route.name in DESCRIPTIONS
    )
