"""Plain answers and the framework's refusals in our words."""

from __future__ import annotations

import pytest
from aiohttp import web

from hermes.server.answers import from_framework, json_answer


def test_json_is_answered_as_json() -> None:
    answer = json_answer({"text": "grün"}, status=201, headers={"X-A": "b"})

    assert (answer.status, answer.content_type, answer.headers["X-A"]) == (
        201,
        "application/json",
        "b",
    )
    assert answer.body == '{"text":"grün"}'.encode()


@pytest.mark.parametrize(
    ("error", "status", "code"),
    [
        (web.HTTPNotFound(), 404, "not_found"),
        (web.HTTPMethodNotAllowed("PUT", ["POST", "GET"]), 405, "method_not_allowed"),
        (web.HTTPRequestEntityTooLarge(max_size=1, actual_size=2), 413, "request_too_large"),
        (web.HTTPBadRequest(), 400, "http_error"),
        (web.HTTPExpectationFailed(), 417, "http_error"),
    ],
)
def test_a_refusal_keeps_its_status(error: web.HTTPException, status: int, code: str) -> None:
    ours = from_framework(error)

    assert (ours.status, ours.code) == (status, code)
    assert ours.message


def test_a_refused_method_comes_with_the_allowed_ones() -> None:
    ours = from_framework(web.HTTPMethodNotAllowed("PUT", ["POST", "GET"]))

    assert ours.headers == {"Allow": "GET, POST"}
    assert "PUT" in ours.message
