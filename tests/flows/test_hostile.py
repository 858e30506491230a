"""Requests that nobody sends by accident, and clients that behave badly on purpose."""

from __future__ import annotations

import asyncio
import gc
import gzip
import json
import re
import tracemalloc
from pathlib import Path
from typing import Any

import aiohttp
import pytest

from hermes.server.middleware import SECURITY_HEADERS
from hermes.server.routes import ROUTES
from hermes.settings.model import RunSettings
from hermes.testing.replies import Broken, Text
from hermes.testing.scripted import EchoModel
from tests.flows.conftest import KEY, Flow, StartFlow, eventually, raw_exchange

CHAT = "/v1/chat/completions"
HELLO = [{"role": "user", "content": "Hello"}]
BODY = json.dumps({"messages": HELLO}).encode()
PAGE = "http://page.example"


def post(body: bytes = BODY, *, path: str = CHAT, headers: bytes = b"") -> bytes:
    """A request as bytes; the connection is closed after its answer."""
    return (
        f"POST {path} HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer {KEY}\r\n"
        f"Connection: close\r\nContent-Length: {len(body)}\r\n".encode()
        + headers
        + b"\r\n"
        + body
    )


def status_of(head: bytes) -> int:
    return int(head.split(b" ", 2)[1])


async def is_alive(served: Flow) -> bool:
    status, answer = await served.answer("POST", CHAT, json={"messages": HELLO})
    return bool(status == 200 and answer["choices"])


# --- who may ask ----------------------------------------------------------------------------------


async def test_every_route_but_health_needs_the_key(flow: StartFlow) -> None:
    served = await flow([])
    async with aiohttp.ClientSession() as stranger:
        for route in ROUTES:
            path = re.sub(r"\{[^}]*\}", "any", route.path)
            for offered in ({}, {"Authorization": "Bearer wrong"}, {"Authorization": KEY}):
                answer = await stranger.request(
                    route.method, served.gateway.url + path, headers=offered, data=BODY
                )
                assert (answer.status == 401) is not route.is_public, route
                if answer.status == 401:
                    error = (await answer.json())["error"]
                    assert error["code"] == "invalid_api_key"
                    assert "Incorrect API key provided" in error["message"]
                    assert KEY not in error["message"]


async def test_every_configured_key_is_let_in_and_no_other(flow: StartFlow) -> None:
    keys = {"laptop": {"key": "laptop-key-0123"}, "phone": {"key": "phone-key-01234"}}
    served = await flow([], keys=keys)

    async def status(offered: str) -> int:
        headers = {"Authorization": f"Bearer {offered}"}
        return (await served.answer("GET", "/v1/models", headers=headers))[0]

    offered = [KEY, "laptop-key-0123", "phone-key-01234", "laptop", "laptop-key-012", ""]
    assert [await status(key) for key in offered] == [200, 200, 200, 401, 401, 401]


async def test_named_keys_alone_close_the_door(flow: StartFlow) -> None:
    served = await flow([], key="", keys={"laptop": {"key": "laptop-key-0123"}})
    headers = {"Authorization": "Bearer laptop-key-0123", "X-Hermes-Session-Id": "mine"}

    assert (await served.answer("GET", "/v1/models"))[0] == 401
    assert (await served.answer("GET", "/v1/models", headers=headers))[0] == 200


async def test_session_headers_are_refused_where_nobody_is_known(flow: StartFlow) -> None:
    served = await flow([], key="")
    for name in ("X-Hermes-Session-Id", "X-Hermes-Session-Key"):
        status, answer = await served.answer(
            "POST", CHAT, json={"messages": HELLO}, headers={name: "somebody"}
        )
        assert (status, answer["error"]["code"]) == (403, "api_key_required")
        assert name in answer["error"]["message"]


@pytest.mark.parametrize("value", [b"a\tb", b"\xff\xfe", "\u2028".encode(), b"x" * 257])
@pytest.mark.parametrize("name", [b"X-Hermes-Session-Id", b"X-Hermes-Session-Key"])
async def test_odd_session_headers_are_refused(flow: StartFlow, name: bytes, value: bytes) -> None:
    served = await flow([])
    head, body = await raw_exchange(served.gateway, post(headers=name + b": " + value + b"\r\n"))

    assert status_of(head) == 400
    assert json.loads(body)["error"]["param"] == name.decode()


@pytest.mark.parametrize("host", ["evil.example", "evil.example:80", "127.0.0.1.evil.example", ""])
async def test_without_a_key_only_the_machines_own_names_are_served(
    flow: StartFlow, host: str
) -> None:
    served = await flow(EchoModel(), key="")
    status, answer = await served.answer("GET", "/v1/models", headers={"Host": host})

    assert (status, answer["error"]["code"]) == (403, "host_not_allowed")


@pytest.mark.parametrize("host", ["localhost:99", "LOCALHOST", "127.0.0.1", "127.9.9.9", "[::1]:8"])
async def test_the_machines_own_names_are_served(flow: StartFlow, host: str) -> None:
    served = await flow(EchoModel(), key="")
    status, _ = await served.answer("GET", "/v1/models", headers={"Host": host})

    assert status == 200


async def test_with_a_key_any_host_is_served(flow: StartFlow) -> None:
    served = await flow([])
    status, _ = await served.answer("GET", "/v1/models", headers={"Host": "gateway.example"})

    assert status == 200


# --- pages of other origins -----------------------------------------------------------------------


async def test_a_page_nobody_allowed_is_refused_before_anything_runs(flow: StartFlow) -> None:
    served = await flow([])
    for method in ("POST", "OPTIONS"):
        async with served.http.request(
            method, served.gateway.url + CHAT, data=BODY, headers={"Origin": PAGE}
        ) as response:
            code = (await response.json())["error"]["code"]
        assert (response.status, code) == (403, "origin_not_allowed")
        assert "Access-Control-Allow-Origin" not in response.headers
    assert served.requests == []


@pytest.mark.parametrize("stream", [True, False])
async def test_an_allowed_page_can_read_json_and_streams(flow: StartFlow, stream: bool) -> None:
    served = await flow(EchoModel(), cors_origins=[PAGE])
    async with served.http.post(
        served.gateway.url + CHAT,
        json={"messages": HELLO, "stream": stream},
        headers={"Origin": PAGE},
    ) as response:
        await response.read()

    assert response.status == 200
    assert response.headers["Access-Control-Allow-Origin"] == PAGE
    assert response.headers["Vary"] == "Origin"
    assert "X-Hermes-Session-Id" in response.headers["Access-Control-Expose-Headers"]


@pytest.mark.parametrize(
    ("method", "path", "key", "expected"),
    [("GET", "/nowhere", KEY, 404), ("PUT", CHAT, KEY, 405), ("POST", CHAT, "wrong", 401)],
)
async def test_an_allowed_page_can_read_why_it_was_refused(
    flow: StartFlow, method: str, path: str, key: str, expected: int
) -> None:
    served = await flow([], cors_origins=[PAGE])
    async with served.http.request(
        method,
        served.gateway.url + path,
        headers={"Origin": PAGE, "Authorization": f"Bearer {key}"},
    ) as response:
        assert "error" in await response.json()

    assert response.status == expected
    assert response.headers["Access-Control-Allow-Origin"] == PAGE


async def test_a_preflight_needs_no_key_and_runs_nothing(flow: StartFlow) -> None:
    served = await flow([], cors_origins=[PAGE])
    async with aiohttp.ClientSession() as page:
        answer = await page.options(
            served.gateway.url + CHAT,
            headers={"Origin": PAGE, "Access-Control-Request-Method": "POST"},
        )

    assert answer.status == 200
    assert "Authorization" in answer.headers["Access-Control-Allow-Headers"]
    assert served.requests == []


# --- every answer ---------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("method", "path", "body"),
    [
        ("GET", "/health", None),
        ("GET", "/nowhere", None),
        ("PUT", CHAT, None),
        ("POST", CHAT, {}),
        ("POST", CHAT, {"messages": HELLO}),
        ("POST", CHAT, {"messages": HELLO, "stream": True}),
        ("POST", "/v1/responses", {"input": "Hello", "stream": True}),
    ],
)
async def test_every_answer_has_its_id_and_the_security_headers(
    flow: StartFlow, method: str, path: str, body: Any
) -> None:
    served = await flow(EchoModel())
    ids = set()
    for _ in range(2):
        async with served.http.request(method, served.gateway.url + path, json=body) as response:
            await response.read()
        ids.add(response.headers["X-Request-Id"])
        assert SECURITY_HEADERS.items() <= dict(response.headers).items()

    assert len(ids) == 2


@pytest.mark.parametrize("method", ["HEAD", "OPTIONS", "PUT", "PATCH", "DELETE", "TRACE", "PURGE"])
async def test_a_method_that_is_not_served_is_named_with_those_that_are(
    flow: StartFlow, method: str
) -> None:
    served = await flow([])
    path = "/api/sessions/any/chat"
    async with served.http.request(method, served.gateway.url + path) as response:
        text = await response.text()

    assert (response.status, response.headers["Allow"]) == (405, "POST")
    if method != "HEAD":
        error = json.loads(text)["error"]
        assert (error["code"], error["type"]) == ("method_not_allowed", "invalid_request_error")


@pytest.mark.parametrize(
    "path",
    [
        "/",
        "/v1",
        "/v1/chat/completions/",
        "/v1/responses/a/b",
        "/v1/models/%2e%2e%2fetc",
        "/v1/responses/..%2f..%2fstate.db",
        "/api/sessions/%00",
        "/v1/responses/%FF%ED%A0%80",
        "/v1/responses/" + "x" * 5000,
        "/../../etc/passwd",
    ],
)
async def test_an_unknown_path_or_id_is_an_envelope(flow: StartFlow, path: str) -> None:
    served = await flow([])
    sent = post(b"", path=path).replace(b"POST", b"GET", 1)
    head, body = await raw_exchange(served.gateway, sent)
    error = json.loads(body)["error"]

    assert status_of(head) == 404
    assert set(error) == {"message", "type", "param", "code"}
    assert len(error["message"]) < 400


# --- bodies ---------------------------------------------------------------------------------------


async def test_a_body_over_the_limit_is_refused_packed_or_not(flow: StartFlow) -> None:
    served = await flow([], max_body_bytes=2000)
    large = json.dumps({"messages": [{"role": "user", "content": "x" * 100_000}]}).encode()
    plain = await served.answer("POST", CHAT, data=large)
    packed = await served.answer(
        "POST", CHAT, data=gzip.compress(large), headers={"Content-Encoding": "gzip"}
    )

    for status, answer in (plain, packed):
        assert (status, answer["error"]["code"]) == (413, "request_too_large")
    assert served.requests == []


async def test_a_packed_body_is_read(flow: StartFlow) -> None:
    served = await flow(EchoModel())
    status, _ = await served.answer(
        "POST", CHAT, data=gzip.compress(BODY), headers={"Content-Encoding": "gzip"}
    )

    assert status == 200


@pytest.mark.parametrize("kind", ["text/plain", "application/xml", "multipart/form-data", "odd"])
async def test_the_content_type_does_not_matter_but_the_content_does(
    flow: StartFlow, kind: str
) -> None:
    served = await flow(EchoModel())
    named = {"Content-Type": kind}
    good, _ = await served.answer("POST", CHAT, data=BODY, headers=named)
    bad, answer = await served.answer("POST", CHAT, data=b"<xml/>", headers=named)

    assert good == 200
    assert (bad, answer["error"]["code"]) == (400, "invalid_json")


@pytest.mark.parametrize(
    ("headers", "expected"),
    [
        (b"Content-Encoding: gzip\r\n", 400),
        (b"Content-Encoding: deflate\r\n", 400),
        (b"Idempotency-Key: \xff\xfe\r\n", 400),
        (b"X-Anything: \xff\xfe\r\n", 200),
        (b"Cookie: " + b"x" * 8000 + b"\r\n", 200),
        (b"Accept: text/html\r\n", 200),
    ],
)
async def test_odd_headers_do_not_make_the_gateway_fail(
    flow: StartFlow, headers: bytes, expected: int
) -> None:
    served = await flow(EchoModel())
    head, body = await raw_exchange(served.gateway, post(headers=headers))

    assert status_of(head) == expected
    assert ("error" in json.loads(body)) is (expected != 200)


async def test_a_strangers_odd_credentials_do_not_make_the_gateway_fail(
    flow: StartFlow, tmp_path: Path
) -> None:
    open_to_all = await flow(EchoModel(), key="")
    closed = await flow([], home=tmp_path / "closed")
    odd = post(headers=b"Idempotency-Key: k\r\n").replace(KEY.encode(), b"\xff\xfe")
    served, _ = await raw_exchange(open_to_all.gateway, odd)
    refused, _ = await raw_exchange(closed.gateway, odd)

    assert (status_of(served), status_of(refused)) == (200, 401)


@pytest.mark.parametrize(
    "sent",
    [
        b"GARBAGE\r\n\r\n",
        b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03",
        post(headers=b"X-Long: " + b"x" * 100_000 + b"\r\n"),
        post(headers=b"Content-Length: 3\r\n"),
        post(headers=b"Transfer-Encoding: chunked\r\n"),
        post(headers=b"Bad\x00Name: x\r\n"),
        post(headers=b"Expect: the-unexpected\r\n"),
        post(path="/v1/\xff"),
        b"POST /v1/responses HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n",
    ],
)
async def test_broken_http_is_refused_and_the_gateway_lives_on(
    flow: StartFlow, sent: bytes
) -> None:
    served = await flow(EchoModel())
    head, _ = await raw_exchange(served.gateway, sent)

    assert 400 <= status_of(head) < 500
    assert await is_alive(served)


async def test_a_body_that_never_arrives_runs_nothing(flow: StartFlow) -> None:
    served = await flow([])
    port = int(served.gateway.url.rpartition(":")[2])
    _, writer = await asyncio.open_connection("127.0.0.1", port)
    writer.write(post().replace(b"Content-Length: ", b"Content-Length: 9"))
    await writer.drain()
    writer.close()
    await writer.wait_closed()

    assert (await served.answer("GET", "/health"))[0] == 200
    assert served.requests == []


# --- clients that do not read ---------------------------------------------------------------------

PIECE = "x" * 65_536
PIECES = 150


async def never_read(served: Flow) -> asyncio.StreamWriter:
    """A client that asks for a stream and leaves it in the socket."""
    port = int(served.gateway.url.rpartition(":")[2])
    _, writer = await asyncio.open_connection("127.0.0.1", port, limit=1024)
    writer.write(post(json.dumps({"messages": HELLO, "stream": True}).encode()))
    await writer.drain()
    return writer


async def test_an_unread_stream_costs_no_more_than_its_answer_and_holds_nothing_else(
    flow: StartFlow,
) -> None:
    def reply(request: Any) -> Text:
        return Text(pieces=[PIECE] * PIECES) if request.number == 1 else Text("Quick.")

    served = await flow(reply)
    gc.collect()
    tracemalloc.start()
    writer = await never_read(served)
    await served.provider.wait_for_requests()
    await eventually(lambda: len(served.gateway.adapter.running) == 0, within=30)
    gc.collect()
    held, _ = tracemalloc.get_traced_memory()
    tracemalloc.stop()

    # The pieces that wait and the joined text: the answer about twice, however long it is unread.
    assert held < 3 * len(PIECE) * PIECES
    async with asyncio.timeout(5):
        assert await is_alive(served)
    writer.transport.abort()


async def test_a_client_that_stops_reading_and_leaves_ends_the_model_call(flow: StartFlow) -> None:
    endless = Text(pieces=["token "] * 100_000, interval=0.001)
    served = await flow(lambda _: endless)
    writer = await never_read(served)
    await served.provider.wait_for_requests()
    writer.transport.abort()

    await served.provider.wait_for_disconnects(within=1.0)


@pytest.mark.parametrize("wants_stream", [True, False])
async def test_a_client_that_reads_nothing_is_cut_off(flow: StartFlow, wants_stream: bool) -> None:
    served = await flow(
        lambda _: Text(pieces=[PIECE] * PIECES), runs=RunSettings(stalled_write_seconds=0.4)
    )
    port = int(served.gateway.url.rpartition(":")[2])
    reader, writer = await asyncio.open_connection("127.0.0.1", port, limit=1024)
    writer.write(post(json.dumps({"messages": HELLO, "stream": wants_stream}).encode()))
    await eventually(lambda: served.gateway.connections == 1)
    await eventually(lambda: served.gateway.connections == 0, within=30)

    on_its_way = await reader.read()
    writer.close()
    assert len(on_its_way) < len(PIECE) * PIECES
    assert (await served.answer("GET", "/health"))[0] == 200


async def test_a_client_that_reads_nothing_and_is_cut_off_ends_the_model_call(
    flow: StartFlow,
) -> None:
    endless = Text(pieces=[PIECE] * 100_000, interval=0.001)
    served = await flow(lambda _: endless, runs=RunSettings(stalled_write_seconds=0.4))
    writer = await never_read(served)
    await served.provider.wait_for_requests()

    await served.provider.wait_for_disconnects(within=30.0)
    await eventually(lambda: len(served.gateway.adapter.running) == 0)
    writer.close()


async def test_a_client_that_reads_slowly_is_served_to_the_end(flow: StartFlow) -> None:
    served = await flow(
        lambda _: Text(pieces=[PIECE] * PIECES), runs=RunSettings(stalled_write_seconds=0.4)
    )
    port = int(served.gateway.url.rpartition(":")[2])
    reader, writer = await asyncio.open_connection("127.0.0.1", port, limit=1024)
    writer.write(post(json.dumps({"messages": HELLO, "stream": True}).encode()))
    read = b""
    while chunk := await reader.read(256 * 1024):
        read = (read + chunk)[-100:]
        await asyncio.sleep(0.02)  # slower than the gateway writes, for longer than the limit

    assert b"data: [DONE]" in read
    writer.close()


async def test_closing_the_gateway_does_not_wait_for_a_client_that_never_reads(
    flow: StartFlow,
) -> None:
    served = await flow([Text(pieces=[PIECE] * PIECES)])
    writer = await never_read(served)
    await served.provider.wait_for_requests()
    await eventually(lambda: len(served.gateway.adapter.running) == 0)
    async with asyncio.timeout(8):
        await served.gateway.close()
    writer.transport.abort()


async def test_many_clients_that_leave_at_once_leave_nothing_behind(flow: StartFlow) -> None:
    served = await flow(lambda _: Broken("Half an ans", how="stall"))
    body = {"messages": HELLO, "stream": True}
    asking = [asyncio.create_task(served.text(CHAT, body)) for _ in range(30)]
    await served.provider.wait_for_requests(30)
    for task in asking:
        task.cancel()
    await asyncio.gather(*asking, return_exceptions=True)

    await served.provider.wait_for_disconnects(30, within=3.0)
    await eventually(lambda: len(served.gateway.adapter.running) == 0)
