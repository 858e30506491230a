"""Every route that is served is described in docs/api.md and in the OpenAPI document."""

from __future__ import annotations

import re

from hermes.server.routes import ROUTES
from hermes.wire.schemas.catalogue import DESCRIPTIONS
from tests.house.sources import document


def test_every_route_is_in_the_api_page() -> None:
    text = document("api.md")
    served = [(route.method, route.readable_path) for route in ROUTES]
    missing = [f"{method} {path}" for method, path in served if not _names(text, method, path)]

    assert missing == [], "describe each in docs/api.md as `METHOD /path`"


def _names(text: str, method: str, path: str) -> bool:
    return re.search(rf"\b{method} `?{re.escape(path)}(?![\w/{{])", text) is not None


def test_a_longer_path_does_not_count_for_a_shorter_one() -> None:
    text = "`GET /v1/models/{model_id}`"

    assert _names(text, "GET", "/v1/models/{model_id}")
    assert not _names(text, "GET", "/v1/models")
    assert not _names(text, "POST", "/v1/models/{model_id}")


def test_every_served_route_is_in_the_openapi_document() -> None:
    missing = {route.name for route in ROUTES if route.is_served} - set(DESCRIPTIONS)

    assert not missing, "describe each in hermes/wire/schemas/, under the name of the route"


def test_nothing_is_described_that_is_not_served() -> None:
    assert set(DESCRIPTIONS) <= {route.name for route in ROUTES if route.is_served}
