"""What is done to every request: origins, hosts, ids and headers."""

from __future__ import annotations

import logging

import pytest

from hermes.server.middleware import cors_headers, host_check, is_origin_allowed
from hermes.settings.model import ListenerSettings, NamedKey
from tests.unit.server.conftest import Serve

PAGE = "http://page.example"


def test_a_request_without_an_origin_is_no_page() -> None:
    assert is_origin_allowed("", ())
    assert cors_headers("", (PAGE,)) is None


@pytest.mark.parametrize("origin", ["null", "http://page.example.evil", "https://page.example"])
def test_only_listed_origins_are_allowed(origin: str) -> None:
    assert not is_origin_allowed(origin, (PAGE,))
    assert cors_headers(origin, (PAGE,)) is None


def test_an_allowed_origin_is_named_in_the_answer() -> None:
    for allowed in ((PAGE,), ("*",)):
        headers = cors_headers(PAGE, allowed)
        assert headers is not None
        assert (headers["Access-Control-Allow-Origin"], headers["Vary"]) == (PAGE, "Origin")


def test_a_page_may_send_and_read_what_runs_need() -> None:
    headers = cors_headers(PAGE, (PAGE,))
    assert headers is not None
    sent = set(headers["Access-Control-Allow-Headers"].split(", "))
    read = set(headers["Access-Control-Expose-Headers"].split(", "))

    assert {"Idempotency-Key", "Last-Event-ID"} < sent
    assert {"X-Hermes-Disconnect", "X-Hermes-When-Busy"} < sent
    assert {"X-Hermes-Run-Id", "Idempotency-Replayed"} < read


def test_a_named_key_is_as_good_as_the_main_one_for_any_host() -> None:
    keys = (NamedKey(name="laptop", key="k-laptop"),)

    assert host_check(ListenerSettings(keys=keys))("my-machine")
    assert not host_check(ListenerSettings())("my-machine")


@pytest.mark.parametrize(
    ("bound", "host", "expected"),
    [
        ("127.0.0.1", "localhost", True),
        ("127.0.0.1", "127.0.0.1", True),
        ("127.0.0.1", "127.1.2.3", True),
        ("::1", "::1", True),
        ("my-machine", "my-machine", True),
        ("127.0.0.1", "my-machine", False),
        ("127.0.0.1", "192.0.2.1", False),
        ("127.0.0.1", "localhost.evil.example", False),
        ("127.0.0.1", "", False),
    ],
)
def test_without_a_key_only_own_names_count(bound: str, host: str, expected: bool) -> None:
    assert host_check(ListenerSettings(host=bound))(host) is expected


def test_with_a_key_every_name_counts() -> None:
    assert host_check(ListenerSettings(key="k-12345678"))("anything.example")


async def test_every_request_is_logged_with_the_id_its_answer_has(
    serve: Serve, caplog: pytest.LogCaptureFixture
) -> None:
    client = await serve()
    with caplog.at_level(logging.INFO, logger="hermes.server.requests"):
        answers = [await client.get("/health?q=secret"), await client.get("/nowhere")]

    logged = [vars(record) for record in caplog.records if record.name == "hermes.server.requests"]
    assert [(line["path"], line["status"]) for line in logged] == [
        ("/health", 200),
        ("/nowhere", 404),
    ]
    assert [line["request_id"] for line in logged] == [
        answer.headers["X-Request-Id"] for answer in answers
    ]


async def test_a_page_is_refused_or_let_in_by_its_origin(serve: Serve) -> None:
    client = await serve(origins=(PAGE,))
    let_in = await client.get("/health", headers={"Origin": PAGE})
    refused = await client.get("/health", headers={"Origin": "http://evil.example"})
    lost = await client.get("/nowhere", headers={"Origin": PAGE})

    assert (let_in.status, refused.status, lost.status) == (200, 403, 404)
    assert "Access-Control-Allow-Origin" not in refused.headers
    assert let_in.headers["Access-Control-Allow-Origin"] == PAGE
    assert lost.headers["Access-Control-Allow-Origin"] == PAGE
