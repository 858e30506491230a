"""The pool and its connections, against servers that write raw bytes."""

from __future__ import annotations

import asyncio
import base64
import shutil
import ssl
import subprocess
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from hermes.core.errors import ConnectionLost, ProviderError, SettingsError
from hermes.providers import pool as pool_module
from hermes.providers.connection import LARGEST_HEAD, MOST_UNREAD, Answer
from hermes.providers.endpoint import Endpoint
from hermes.providers.pool import Pool
from hermes.providers.proxied import ProxiedCalls
from hermes.providers.way import Way, way_to

Talk = Callable[[asyncio.StreamReader, asyncio.StreamWriter], Awaitable[None]]

HELLO = b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello"


class RawServer:
    """Counts its connections and keeps the heads of the requests it read."""

    def __init__(self) -> None:
        self.port = 0
        self.connections = 0
        self.heads: list[bytes] = []

    def way(self, **more: object) -> Way:
        return way_to(
            Endpoint(
                base_url=f"http://127.0.0.1:{self.port}/v1",
                api_key="k",
                api_mode="chat_completions",
                **more,  # type: ignore[arg-type]
            ),
            "chat/completions",
        )

    async def request(self, reader: asyncio.StreamReader) -> bytes:
        head = await reader.readuntil(b"\r\n\r\n")
        self.heads.append(head)
        length = int(head.lower().partition(b"content-length: ")[2].split(b"\r\n")[0])
        return await reader.readexactly(length)


@asynccontextmanager
async def serving(
    talk: Talk, server: RawServer, tls: ssl.SSLContext | None = None
) -> AsyncIterator[Pool]:
    async def connected(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        server.connections += 1
        try:
            await talk(reader, writer)
        except (asyncio.IncompleteReadError, ConnectionError):
            pass
        finally:
            writer.close()

    listener = await asyncio.start_server(connected, "127.0.0.1", 0, ssl=tls)
    server.port = listener.sockets[0].getsockname()[1]
    pool = Pool()
    try:
        yield pool
    finally:
        pool.close()
        listener.close()


def answering(server: RawServer, *writes: bytes, stays: bool = True) -> Talk:
    """Every request gets these writes, each in a packet of its own."""

    async def talk(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        while True:
            await server.request(reader)
            for data in writes:
                writer.write(data)
                await writer.drain()
                await asyncio.sleep(0.01)
            if not stays:
                return

    return talk


async def body_of(answer: Answer) -> bytes:
    parts: list[bytes] = []
    try:
        await answer.pass_to(parts.append)
    finally:
        answer.release()
    return b"".join(parts)


async def asked(pool: Pool, way: Way) -> bytes:
    return await body_of(await pool.ask(way, b"{}"))


async def test_status_headers_and_body_arrive() -> None:
    server = RawServer()
    reply = b"HTTP/1.1 429 Slow Down\r\nRetry-After: 7\r\nContent-Length: 3\r\n\r\nno!"
    async with serving(answering(server, reply), server) as pool:
        answer = await pool.ask(server.way(), b"{}")
        assert (answer.status, answer.headers["retry-after"]) == (429, "7")
        assert await body_of(answer) == b"no!"
        assert answer.is_complete


async def test_one_connection_serves_call_after_call() -> None:
    server = RawServer()
    async with serving(answering(server, HELLO), server) as pool:
        assert [await asked(pool, server.way()) for _ in range(5)] == [b"hello"] * 5
        assert server.connections == 1


async def test_calls_at_the_same_time_have_a_connection_each() -> None:
    server = RawServer()
    async with serving(answering(server, HELLO), server) as pool:
        await asyncio.gather(*(asked(pool, server.way()) for _ in range(4)))
        assert server.connections == 4


async def test_chunks_of_one_read_are_handed_over_in_one_piece() -> None:
    server = RawServer()
    head = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"
    chunks = b"3\r\none\r\n3\r\ntwo\r\n"
    async with serving(answering(server, head, chunks, b"0\r\n\r\n"), server) as pool:
        answer = await pool.ask(server.way(), b"{}")
        parts: list[bytes] = []
        await answer.pass_to(parts.append)
        answer.release()
        assert parts == [b"onetwo"]


async def test_an_answer_split_at_every_byte_is_still_read() -> None:
    server = RawServer()
    reply = (
        b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nab\r\n0\r\nTrail: er\r\n\r\n"
    )

    async def talk(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await server.request(reader)
        for byte in reply:
            writer.write(bytes([byte]))
            await asyncio.sleep(0)

    async with serving(talk, server) as pool:
        answer = await pool.ask(server.way(), b"{}")
        assert await body_of(answer) == b"ab"
        assert "trail" not in answer.headers


async def test_a_body_without_a_length_ends_with_its_connection() -> None:
    server = RawServer()
    reply = b"HTTP/1.1 200 OK\r\n\r\nto the end"
    async with serving(answering(server, reply, stays=False), server) as pool:
        assert await asked(pool, server.way()) == b"to the end"
        assert await asked(pool, server.way()) == b"to the end"
        assert server.connections == 2


@pytest.mark.parametrize(
    "reply",
    [
        b"",
        b"HTTP/1.1 200 OK\r\nContent-Le",
        b"HTTP/1.1 200 OK\r\nContent-Length: 50\r\n\r\nonly this",
        b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n9\r\nhalf",
    ],
)
async def test_an_answer_cut_short_is_a_lost_connection(reply: bytes) -> None:
    server = RawServer()
    async with serving(answering(server, reply, stays=False), server) as pool:
        with pytest.raises(ConnectionLost, match="broke off") as caught:
            await asked(pool, server.way())
        assert caught.value.code == "connection_lost"


async def test_what_is_not_http_is_named_as_such() -> None:
    server = RawServer()
    async with serving(answering(server, b"220 mail.example ESMTP\r\n"), server) as pool:
        with pytest.raises(ProviderError, match="not a valid HTTP answer"):
            await asked(pool, server.way())


async def test_headers_without_an_end_are_refused() -> None:
    server = RawServer()
    line = b"X-Filler: " + b"x" * 4000 + b"\r\n"
    flood = [b"HTTP/1.1 200 OK\r\n", line * (LARGEST_HEAD // len(line) + 2)]
    async with serving(answering(server, *flood), server) as pool:
        with pytest.raises(ProviderError, match="headers without an end"):
            await asked(pool, server.way())


async def test_an_interim_answer_is_not_the_answer() -> None:
    server = RawServer()
    reply = b"HTTP/1.1 103 Early Hints\r\nLink: x\r\n\r\n" + HELLO
    async with serving(answering(server, reply), server) as pool:
        answer = await pool.ask(server.way(), b"{}")
        assert (answer.status, "link" in answer.headers) == (200, False)
        assert await body_of(answer) == b"hello"


async def test_more_than_was_asked_for_costs_the_connection_and_not_the_answer() -> None:
    server = RawServer()
    async with serving(answering(server, HELLO + HELLO), server) as pool:
        assert await asked(pool, server.way()) == b"hello"
        assert await asked(pool, server.way()) == b"hello"
        assert server.connections == 2


async def test_what_comes_unasked_is_never_the_next_answer() -> None:
    server = RawServer()

    async def talk(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await server.request(reader)
        writer.write(HELLO)
        await asyncio.sleep(0.05)
        writer.write(b"HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nevil")
        await server.request(reader)

    async with serving(talk, server) as pool:
        assert await asked(pool, server.way()) == b"hello"
        await asyncio.sleep(0.1)
        assert await asked(pool, server.way()) == b"hello"
        assert server.connections == 2


async def test_a_connection_the_server_closed_is_not_used_again() -> None:
    server = RawServer()
    async with serving(answering(server, HELLO, stays=False), server) as pool:
        assert await asked(pool, server.way()) == b"hello"
        await asyncio.sleep(0.05)
        assert await asked(pool, server.way()) == b"hello"
        assert server.connections == 2


async def test_connection_close_is_respected() -> None:
    server = RawServer()
    reply = b"HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: 5\r\n\r\nhello"
    async with serving(answering(server, reply), server) as pool:
        for _ in range(2):
            assert await asked(pool, server.way()) == b"hello"
        assert server.connections == 2


async def test_old_connections_are_closed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pool_module, "KEEP_ALIVE_SECONDS", 0.05)
    server = RawServer()
    async with serving(answering(server, HELLO), server) as pool:
        await asked(pool, server.way())
        await asyncio.sleep(0.3)
        await asked(pool, server.way())
        assert server.connections == 2


async def test_a_body_nobody_takes_stays_with_the_network() -> None:
    server = RawServer()
    size = 64 * MOST_UNREAD
    sent = 0

    async def talk(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        nonlocal sent
        await server.request(reader)
        writer.write(b"HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n" % size)
        while sent < size:
            writer.write(b"x" * MOST_UNREAD)
            sent += MOST_UNREAD
            await writer.drain()
        await reader.read()

    async with serving(talk, server) as pool:
        answer = await pool.ask(server.way(), b"{}")
        await asyncio.sleep(0.2)
        assert sent < size
        assert len(await body_of(answer)) == size


async def test_what_a_sink_raises_ends_the_answer_and_its_connection() -> None:
    server = RawServer()
    head = b"HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\n"
    async with serving(answering(server, head, b"a", b"b"), server) as pool:
        answer = await pool.ask(server.way(), b"{}")

        def refuse(_data: bytes) -> None:
            raise LookupError("enough")

        with pytest.raises(LookupError, match="enough"):
            await answer.pass_to(refuse)
        answer.release()
        second = await pool.ask(server.way(), b"{}")
        second.release()
        assert server.connections == 2


async def test_a_cancelled_call_hangs_up() -> None:
    server = RawServer()
    hung_up = asyncio.Event()

    async def talk(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await server.request(reader)
        await reader.read()
        hung_up.set()

    async with serving(talk, server) as pool:
        call = asyncio.create_task(asked(pool, server.way()))
        await asyncio.sleep(0.05)
        call.cancel()
        with pytest.raises(asyncio.CancelledError):
            await call
        await asyncio.wait_for(hung_up.wait(), 1)


async def test_a_closed_pool_keeps_nothing() -> None:
    server = RawServer()
    async with serving(answering(server, HELLO), server) as pool:
        answer = await pool.ask(server.way(), b"{}")
        pool.close()
        assert await body_of(answer) == b"hello"
        assert await asked(pool, server.way()) == b"hello"
        assert server.connections == 2


async def test_a_name_is_resolved() -> None:
    server = RawServer()
    async with serving(answering(server, HELLO), server) as pool:
        named = way_to(
            Endpoint(
                base_url=f"http://localhost:{server.port}/v1",
                api_key=None,
                api_mode="chat_completions",
            ),
            "chat/completions",
        )
        assert await asked(pool, named) == b"hello"
        assert f"Host: localhost:{server.port}".encode() in server.heads[0]


needs_openssl = pytest.mark.skipif(
    shutil.which("openssl") is None, reason="openssl, which makes a certificate, is not installed"
)


@needs_openssl
async def test_a_certificate_nobody_vouches_for_is_refused(tmp_path: Path) -> None:
    server = RawServer()
    async with serving(answering(server, HELLO), server, tls=_own_certificate(tmp_path)) as pool:
        there = Endpoint(
            base_url=f"https://localhost:{server.port}/v1", api_key="k", api_mode="chat_completions"
        )
        with pytest.raises(ProviderError, match="cannot be verified") as caught:
            await asked(pool, way_to(there, "chat/completions"))
        assert caught.value.code == "tls"
        assert server.heads == []


@needs_openssl
async def test_a_trusted_certificate_is_talked_to(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    server = RawServer()
    context = _own_certificate(tmp_path)
    trust = ssl.create_default_context(cafile=str(tmp_path / "cert.pem"))
    monkeypatch.setattr(pool_module, "_trust", lambda: trust)
    async with serving(answering(server, HELLO), server, tls=context) as pool:
        there = way_to(
            Endpoint(
                base_url=f"https://localhost:{server.port}/v1",
                api_key="k",
                api_mode="chat_completions",
            ),
            "chat/completions",
        )
        assert [await asked(pool, there) for _ in range(2)] == [b"hello"] * 2
        assert server.connections == 1


def _own_certificate(folder: Path) -> ssl.SSLContext:
    key, certificate = folder / "key.pem", folder / "cert.pem"
    subprocess.run(
        [
            *("openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2"),
            *("-keyout", key, "-out", certificate, "-subj", "/CN=localhost"),
            *("-addext", "subjectAltName=DNS:localhost"),
        ],
        check=True,
        capture_output=True,
    )
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificate, key)
    return context


async def test_a_name_and_password_in_the_address_become_a_header() -> None:
    way = way_to(
        Endpoint(
            base_url="http://ann:p%40ss@127.0.0.1:9/v1", api_key=None, api_mode="chat_completions"
        ),
        "chat/completions",
    )
    expected = base64.b64encode(b"ann:p@ss")
    assert b"Authorization: Basic " + expected in way.head
    assert b"ann" not in way.head.replace(expected, b"")


async def test_a_header_with_a_line_break_is_refused_without_showing_its_value() -> None:
    smuggling = Endpoint(
        base_url="http://127.0.0.1:9/v1",
        api_key=None,
        api_mode="chat_completions",
        headers={"X-Team": "blue\r\nX-Evil: secret-value"},
    )
    with pytest.raises(SettingsError, match="X-Team") as caught:
        way_to(smuggling, "chat/completions")
    assert "secret-value" not in str(caught.value)


async def test_a_proxy_is_asked_in_the_providers_stead(monkeypatch: pytest.MonkeyPatch) -> None:
    proxy = RawServer()
    async with serving(answering(proxy, HELLO), proxy):
        monkeypatch.setenv("http_proxy", f"http://127.0.0.1:{proxy.port}")
        monkeypatch.setenv("no_proxy", "")
        far = Endpoint(
            base_url="http://provider.invalid/v1", api_key="k", api_mode="chat_completions"
        )
        calls = ProxiedCalls()
        try:
            answer = await calls.ask(way_to(far, "chat/completions"), b"{}")
            assert answer.status == 200
            assert await body_of(answer) == b"hello"
        finally:
            await calls.close()
        assert proxy.heads[0].startswith(b"POST http://provider.invalid/v1/chat/completions")


async def test_a_proxy_that_is_not_there_says_so(
    monkeypatch: pytest.MonkeyPatch, unused_tcp_port: int
) -> None:
    monkeypatch.setenv("http_proxy", f"http://127.0.0.1:{unused_tcp_port}")
    monkeypatch.setenv("no_proxy", "")
    far = Endpoint(base_url="http://provider.invalid/v1", api_key="k", api_mode="chat_completions")
    calls = ProxiedCalls()
    try:
        with pytest.raises(ConnectionLost, match="Could not connect"):
            await calls.ask(way_to(far, "chat/completions"), b"{}")
    finally:
        await calls.close()
