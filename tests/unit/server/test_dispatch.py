"""Every error of a handler becomes the documented envelope, and nothing else does."""

from __future__ import annotations

import logging
from typing import Any

import pytest
from aiohttp import web
from aiohttp.test_utils import make_mocked_request

from hermes.core.errors import InvalidRequest, Unavailable
from hermes.server.dispatch import dispatch, dispatch_public, refusal_of, value_or_refusal
from hermes.server.seams import Seams
from tests.unit.server.conftest import Serve

REQUEST = make_mocked_request("GET", "/somewhere")


async def answered(error: Exception) -> tuple[int, Any, web.StreamResponse]:
    async def handler(_request: web.Request, _seams: Seams) -> web.StreamResponse:
        raise error

    response = await dispatch_public(handler, REQUEST, None)  # type: ignore[arg-type]
    assert isinstance(response, web.Response)
    assert isinstance(response.body, bytes)
    return response.status, response.body.decode(), response


async def test_a_deliberate_error_is_answered_in_full() -> None:
    status, body, _ = await answered(InvalidRequest("Say it better.", param="messages", code="odd"))

    assert status == 400
    assert body == (
        '{"error":{"message":"Say it better.","type":"invalid_request_error",'
        '"param":"messages","code":"odd"}}'
    )


async def test_an_error_may_bring_headers() -> None:
    status, _, response = await answered(Unavailable("Later.", headers={"Retry-After": "5"}))

    assert (status, response.headers["Retry-After"]) == (503, "5")


async def test_a_refusal_of_the_framework_is_answered_in_our_words() -> None:
    error = web.HTTPRequestEntityTooLarge(max_size=1, actual_size=2)
    status, body, _ = await answered(error)

    assert status == 413
    assert '"code":"request_too_large"' in body


async def test_an_unexpected_error_is_logged_and_not_shown(
    caplog: pytest.LogCaptureFixture,
) -> None:
    with caplog.at_level(logging.ERROR):
        status, body, _ = await answered(RuntimeError("a secret of the inside"))

    assert status == 500
    assert "secret" not in body
    assert "a secret of the inside" in caplog.text


async def test_a_refused_caller_never_reaches_the_handler(serve: Serve) -> None:
    client = await serve(key="k-12345678")
    reached = []

    async def handler(_request: web.Request, _seams: Seams) -> web.StreamResponse:
        reached.append(True)
        return web.Response()

    class Refusing:
        @staticmethod
        def authorise(_request: web.Request) -> web.Response:
            return web.Response(status=401)

    answer = await dispatch(handler, REQUEST, Refusing)  # type: ignore[arg-type]
    over_the_wire = await client.get("/v1/models", headers={"Authorization": "Bearer wrong"})

    assert (answer.status, over_the_wire.status) == (401, 401)
    assert reached == []


def test_a_check_that_fails_means_its_answer() -> None:
    def fails() -> str:
        raise InvalidRequest("No.")

    def checks() -> None:
        fails()

    refusal = refusal_of(checks)
    value, other_refusal = value_or_refusal(fails)

    assert refusal is not None
    assert other_refusal is not None
    assert (refusal.status, value, other_refusal.status) == (400, None, 400)
    assert value_or_refusal(lambda: "fine") == ("fine", None)
