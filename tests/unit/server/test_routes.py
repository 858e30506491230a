"""The route table as data."""

from __future__ import annotations

from hermes.server.routes import ENDPOINTS, ROUTES


def test_no_name_and_no_method_with_path_is_given_twice() -> None:
    assert len({route.name for route in ROUTES}) == len(ROUTES)
    assert len({(route.method, route.path) for route in ROUTES}) == len(ROUTES)


def test_only_health_and_the_description_of_the_routes_are_public() -> None:
    assert {route.path for route in ROUTES if route.is_public} == {
        "/health",
        "/v1/health",
        "/health/detailed",
        "/openapi.json",
    }


def test_what_is_advertised_has_no_pattern_in_it() -> None:
    assert ENDPOINTS["model"] == ("GET", "/v1/models/{model_id}")


def test_a_lookahead_in_a_path_is_not_shown_either() -> None:
    assert ENDPOINTS["response"] == ("GET", "/v1/responses/{response_id}")
