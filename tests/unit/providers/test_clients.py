"""The pooled client against a real socket: what it sends, what it survives, what it tells."""

from __future__ import annotations

import asyncio
import gc
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import pytest
from aiohttp import web

from hermes.core.errors import ConnectionLost, Interrupted, ProviderError, SettingsError
from hermes.providers import driven_stream
from hermes.providers.base import dialect_for
from hermes.providers.clients import Endpoint, HttpClients
from hermes.providers.endpoint import headers_for, url_for
from hermes.providers.failures import FailureKind, classify, says_streaming_unsupported
from hermes.providers.reply import ReplyBuilder
from hermes.providers.streams import CancelScope
from tests.unit.providers.dialogues import CHAT_EVENTS, RESPONSES_EVENTS, chat_chunk
from tests.unit.providers.loopback import (
    KEY,
    Handler,
    Loopback,
    ask,
    ask_whole,
    endpoint,
    pooled_clients,
    provider,
    quiet_builder,
    sse,
    started,
    streaming,
)

CHAT = dialect_for("chat_completions")
HELLO = sse([chat_chunk({"content": "Hello"})])
STOP = sse([chat_chunk({}, "stop")])
DONE = b"data: [DONE]\n\n"
SOON = 5.0


@asynccontextmanager
async def chat_with(handler: Handler) -> AsyncIterator[tuple[HttpClients, Loopback]]:
    async with provider(handler) as there, pooled_clients() as clients:
        yield clients, there


async def failure_of(handler: Handler, **timeouts: float) -> ProviderError:
    """How a streamed chat call fails; no failure may show the key."""
    async with chat_with(handler) as (clients, there):
        with pytest.raises(ProviderError) as raised:
            await ask(clients, endpoint(there, "chat_completions", **timeouts), CHAT)
    assert KEY not in str(raised.value) + repr(raised.value)
    return raised.value


def answering(status: int, body: str, **headers: str) -> Handler:
    async def handler(_: web.Request) -> web.Response:
        return web.Response(status=status, text=body, headers=headers)

    return handler


async def test_the_request_carries_key_body_and_extras() -> None:
    async with chat_with(streaming(HELLO, STOP, DONE)) as (clients, there):
        client = clients.client(endpoint(there, "chat_completions", headers={"X-Own": "1"}))

        def call() -> None:
            client.chat.completions.create(
                stream=True,
                model="m",
                messages=[{"role": "user", "content": "lone \ud800 surrogate"}],
                extra_body={"provider": {"order": ["x"]}},
                extra_headers={"X-Extra": "2"},
            ).drive(lambda _: None)

        await asyncio.to_thread(call)
    assert there.bodies[0]["provider"] == {"order": ["x"]}
    assert there.bodies[0]["messages"][0]["content"] == "lone ? surrogate"
    headers = there.headers[0]
    assert headers["authorization"] == f"Bearer {KEY}"
    assert (headers["x-own"], headers["x-extra"]) == ("1", "2")
    assert "cookie" not in headers


async def test_a_large_request_body_arrives_whole() -> None:
    async with chat_with(streaming(HELLO, STOP, DONE)) as (clients, there):
        client = clients.client(endpoint(there, "chat_completions"))
        stream = client.chat.completions.create(stream=True, model="m", text="x" * 3_000_000)
        await asyncio.to_thread(stream.drive, lambda _: None)
    assert len(there.bodies[0]["text"]) == 3_000_000


async def test_calls_one_after_another_share_one_connection() -> None:
    async with chat_with(streaming(HELLO, STOP, DONE)) as (clients, there):
        for _ in range(3):
            await ask(clients, endpoint(there, "chat_completions"), CHAT)
    assert len(there.bodies) == 3
    assert len(there.connections) == 1


async def test_a_body_that_ends_after_its_last_event_does_not_cost_the_connection() -> None:
    async def handler(request: web.Request) -> web.StreamResponse:
        response = await started(request)
        await response.write(HELLO + STOP + DONE)
        await asyncio.sleep(0.02)  # the end of the body has to come in a read of its own
        return response

    async with chat_with(handler) as (clients, there):
        for _ in range(2):
            await ask(clients, endpoint(there, "chat_completions"), CHAT)
    assert len(there.connections) == 1


async def test_all_events_are_handed_over_on_the_loop() -> None:
    loop = asyncio.get_running_loop()
    seen: list[Any] = []
    async with chat_with(streaming(sse(CHAT_EVENTS, done=True))) as (clients, there):
        client = clients.client(endpoint(there, "chat_completions"))
        stream = client.chat.completions.create(stream=True)
        await asyncio.to_thread(
            stream.drive, lambda event: seen.append((asyncio.get_running_loop() is loop, event))
        )
    assert seen == [(True, event) for event in CHAT_EVENTS]


async def test_done_alone_ends_an_answer() -> None:
    async with chat_with(streaming(HELLO, DONE)) as (clients, there):
        reply = await ask(clients, endpoint(there, "chat_completions"), CHAT)
    assert (reply.text, reply.finish_reason) == ("Hello", "stop")


async def test_a_finish_reason_alone_ends_an_answer() -> None:
    async with chat_with(streaming(HELLO, STOP)) as (clients, there):
        reply = await ask(clients, endpoint(there, "chat_completions"), CHAT)
    assert (reply.text, reply.finish_reason) == ("Hello", "stop")


async def test_done_without_its_blank_line_ends_an_answer() -> None:
    async with chat_with(streaming(HELLO, b"data: [DONE]")) as (clients, there):
        assert (await ask(clients, endpoint(there, "chat_completions"), CHAT)).text == "Hello"


async def test_an_answer_stays_complete_when_the_connection_breaks_after_it() -> None:
    async def handler(request: web.Request) -> web.StreamResponse:
        response = await started(request)
        await response.write(HELLO + STOP)
        assert request.transport is not None
        request.transport.close()
        return response

    async with chat_with(handler) as (clients, there):
        reply = await ask(clients, endpoint(there, "chat_completions"), CHAT)
    assert reply.finish_reason == "stop"


async def test_an_answer_stays_complete_when_the_server_forgets_to_hang_up(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(driven_stream, "AFTERMATH_SECONDS", 0.1)
    release = asyncio.Event()

    async def handler(request: web.Request) -> web.StreamResponse:
        response = await started(request)
        await response.write(HELLO + STOP)
        await asyncio.wait_for(release.wait(), SOON)
        return response

    async with chat_with(handler) as (clients, there):
        began = time.monotonic()
        reply = await ask(clients, endpoint(there, "chat_completions"), CHAT)
        assert time.monotonic() - began < 2
        release.set()
    assert reply.finish_reason == "stop"


async def test_a_reset_before_the_headers_is_a_lost_connection() -> None:
    async def handler(request: web.Request) -> web.Response:
        assert request.transport is not None
        request.transport.abort()
        return web.Response()

    error = await failure_of(handler)
    assert isinstance(error, ConnectionLost)


async def test_a_reset_amid_the_answer_is_a_lost_connection() -> None:
    async def handler(request: web.Request) -> web.StreamResponse:
        response = await started(request)
        await response.write(HELLO)
        assert request.transport is not None
        request.transport.abort()
        return response

    error = await failure_of(handler)
    assert isinstance(error, ConnectionLost)
    assert "broke off" in str(error)


@pytest.mark.parametrize("api_mode", ["chat_completions", "codex_responses", "anthropic_messages"])
async def test_an_end_amid_the_answer_is_never_a_success(api_mode: str) -> None:
    beginning = {
        "chat_completions": HELLO,
        "codex_responses": sse(RESPONSES_EVENTS[:-1], named=True),
        "anthropic_messages": sse([{"type": "message_start", "message": {}}], named=True),
    }[api_mode]
    async with provider(streaming(beginning)) as there, pooled_clients() as clients:
        with pytest.raises(ConnectionLost, match="broke off before its answer was complete"):
            await ask(clients, endpoint(there, api_mode), dialect_for(api_mode))


async def test_a_half_sent_event_at_the_end_is_a_lost_connection() -> None:
    error = await failure_of(streaming(HELLO, b'data: {"choices": [{"del'))
    assert isinstance(error, ConnectionLost)


@pytest.mark.parametrize("before", [b"", HELLO])
async def test_silence_counts_as_stalled(before: bytes) -> None:
    release = asyncio.Event()

    async def handler(request: web.Request) -> web.StreamResponse:
        response = await started(request) if before else web.StreamResponse()
        if before:
            await response.write(before)
        await asyncio.wait_for(release.wait(), SOON)
        return response

    async with chat_with(handler) as (clients, there):
        with pytest.raises(ProviderError, match=r"sent nothing for 0\.1 s") as raised:
            await ask(clients, endpoint(there, "chat_completions", stale_timeout=0.1), CHAT)
        release.set()
    assert raised.value.code == "stalled"
    assert classify(raised.value).kind is FailureKind.STALLED


async def test_a_slow_answer_is_no_stalled_answer() -> None:
    async def handler(request: web.Request) -> web.StreamResponse:
        response = await started(request)
        for _ in range(8):
            await response.write(HELLO)
            await asyncio.sleep(0.05)
        await response.write(STOP + DONE)
        return response

    async with chat_with(handler) as (clients, there):
        reply = await ask(clients, endpoint(there, "chat_completions", stale_timeout=0.25), CHAT)
    assert reply.text == "Hello" * 8


@pytest.mark.parametrize(
    "sign", [b": still working\n\n", b'event: ping\ndata: {"type": "ping"}\n\n', b"data: {"]
)
async def test_signs_of_life_alone_do_not_keep_a_call_for_ever(sign: bytes) -> None:
    async def handler(request: web.Request) -> web.StreamResponse:
        response = await started(request)
        while True:
            await response.write(sign)
            await asyncio.sleep(0.02)

    began = time.monotonic()
    async with chat_with(handler) as (clients, there):
        with pytest.raises(ProviderError, match="kept the connection alive") as raised:
            await ask(clients, endpoint(there, "chat_completions", stale_timeout=0.3), CHAT)
    assert raised.value.code == "stalled"
    assert time.monotonic() - began > 0.8, "longer than mere silence is borne"


async def test_blanks_do_not_keep_a_whole_answer_for_ever() -> None:
    async def handler(request: web.Request) -> web.StreamResponse:
        response = await started(request)
        while True:
            await response.write(b"\n")
            await asyncio.sleep(0.02)

    async with chat_with(handler) as (clients, there):
        there_soon = endpoint(there, "chat_completions", stale_timeout=0.2, thinking_timeout=0.2)
        with pytest.raises(ProviderError) as raised:
            await ask_whole(clients, there_soon, CHAT)
    assert raised.value.code == "stalled"


async def test_a_model_that_thinks_may_be_silent_for_longer_until_it_speaks() -> None:
    release = asyncio.Event()

    async def handler(request: web.Request) -> web.StreamResponse:
        response = await started(request)
        await asyncio.sleep(0.4)
        for _ in range(3):
            await response.write(HELLO)
            await asyncio.sleep(0.05)
        await asyncio.wait_for(release.wait(), SOON)
        return response

    async with chat_with(handler) as (clients, there):
        patient = endpoint(there, "chat_completions", stale_timeout=0.2, thinking_timeout=SOON)
        builder = quiet_builder()
        with pytest.raises(ProviderError, match=r"sent nothing for 0\.2 s"):
            await ask(clients, patient, CHAT, builder=builder, model="o3", takes_text=True)
        release.set()
    assert builder.text == "Hello" * 3


async def test_garbage_is_named_as_such() -> None:
    error = await failure_of(streaming(HELLO, b"data: <garbage>\n\n", STOP))
    assert "sent something that is not JSON" in str(error)
    assert classify(error).kind is FailureKind.GARBLED


@pytest.mark.parametrize("data", [b"5", b"[]", b'"text"', b"null"])
async def test_json_that_is_no_event_is_garbage(data: bytes) -> None:
    error = await failure_of(streaming(b"data: " + data + b"\n\n"))
    assert error.code == "garbled"


async def test_bad_utf8_is_replaced() -> None:
    torn = b'data: {"choices": [{"delta": {"content": "caf\xc3"}}]}\n\n'
    escaped = b'data: {"choices": [{"delta": {"content": "\\ud83d"}}]}\n\n'
    async with chat_with(streaming(torn, escaped, STOP, DONE)) as (clients, there):
        reply = await ask(clients, endpoint(there, "chat_completions"), CHAT)
    assert reply.text == "caf\ufffd?"


async def test_an_error_event_carries_its_message_and_status() -> None:
    event = {"error": {"code": 502, "message": f"Upstream is down, {KEY}"}}
    error = await failure_of(streaming(HELLO, sse([event])))
    assert "Upstream is down, [secret]" in str(error)
    assert error.status_code == 502
    assert classify(error).kind is FailureKind.OVERLOADED


async def test_an_error_event_about_a_lost_connection_may_be_tried_again() -> None:
    event = {"error": {"message": "Network connection lost."}}
    assert isinstance(await failure_of(streaming(sse([event]))), ConnectionLost)


async def test_too_many_requests_keeps_how_long_to_wait() -> None:
    body = '{"error": {"message": "Slow down.", "code": "rate_limit_exceeded"}}'
    error = await failure_of(answering(429, body, **{"Retry-After": "7"}))
    failure = classify(error)
    assert (failure.kind, failure.retry_after) == (FailureKind.RATE_LIMITED, 7.0)
    assert failure.status_code == 429
    assert "answered 429: Slow down." in failure.message


async def test_a_web_page_is_not_repeated() -> None:
    page = "<!DOCTYPE html><html><title>Bad gateway</title><body>" + "x" * 9000 + "</body></html>"
    error = await failure_of(answering(500, page))
    assert str(error).endswith("answered 500: a web page titled “Bad gateway”")
    assert classify(error).kind is FailureKind.OVERLOADED


async def test_a_key_repeated_by_the_provider_is_masked() -> None:
    error = await failure_of(answering(401, f'{{"error": {{"message": "Bad key: {KEY}"}}}}'))
    assert "Bad key: [secret]" in str(error)
    assert classify(error).kind is FailureKind.AUTH


async def test_a_redirect_is_not_followed() -> None:
    error = await failure_of(answering(307, "", Location="http://elsewhere.invalid/"))
    assert "set base_url" in str(error)


async def test_a_server_that_cannot_stream_is_recognised() -> None:
    async def handler(_: web.Request) -> web.Response:
        return web.json_response({"choices": [{"message": {"content": "Hi"}}]})

    assert says_streaming_unsupported(await failure_of(handler))


async def test_a_web_page_instead_of_a_stream_is_refused() -> None:
    async def handler(_: web.Request) -> web.Response:
        return web.Response(text="<html>log in</html>", content_type="text/html")

    assert "a web page instead of an event stream" in str(await failure_of(handler))


async def test_an_error_object_with_status_200_is_an_error() -> None:
    async def handler(_: web.Request) -> web.Response:
        return web.json_response({"error": {"message": "No such model."}})

    assert "No such model." in str(await failure_of(handler))
    async with chat_with(handler) as (clients, there):
        with pytest.raises(ProviderError, match="No such model"):
            await ask_whole(clients, endpoint(there, "chat_completions"), CHAT)


async def test_nobody_listening_says_to_check_the_address(unused_tcp_port: int) -> None:
    where = Endpoint(
        base_url=f"http://127.0.0.1:{unused_tcp_port}/v1", api_key=KEY, api_mode="chat_completions"
    )
    async with pooled_clients() as clients:
        with pytest.raises(ConnectionLost, match="check base_url") as raised:
            await ask(clients, where, CHAT)
    assert raised.value.code == "unreachable"


async def test_what_a_dialect_raises_ends_the_call() -> None:
    gone = asyncio.Event()

    async def handler(request: web.Request) -> web.StreamResponse:
        response = await started(request)
        await response.write(sse([chat_chunk({}, "error")]))
        try:
            await asyncio.wait_for(asyncio.Event().wait(), SOON)
        finally:
            gone.set()
        return response

    async with chat_with(handler) as (clients, there):
        with pytest.raises(ProviderError, match="ended its answer with an error"):
            await ask(clients, endpoint(there, "chat_completions"), CHAT)
        await asyncio.wait_for(gone.wait(), SOON)


def speaking_for_ever(gone: asyncio.Event) -> Handler:
    async def handler(request: web.Request) -> web.StreamResponse:
        response = await started(request)
        try:
            await response.write(HELLO)
            await asyncio.wait_for(asyncio.Event().wait(), 30)
        finally:
            gone.set()
        return response

    return handler


async def test_cancel_from_another_thread_ends_the_call_and_the_connection() -> None:
    gone, heard, scope = asyncio.Event(), asyncio.Event(), CancelScope()
    builder = ReplyBuilder(on_text=lambda _: heard.set(), on_reasoning=lambda _: None)
    async with chat_with(speaking_for_ever(gone)) as (clients, there):
        where = endpoint(there, "chat_completions")
        call = asyncio.create_task(ask(clients, where, CHAT, builder=builder, scope=scope))
        await asyncio.wait_for(heard.wait(), SOON)
        began = time.monotonic()
        await asyncio.to_thread(scope.cancel)
        with pytest.raises(Interrupted):
            await asyncio.wait_for(call, SOON)
        assert time.monotonic() - began < 1
        await asyncio.wait_for(gone.wait(), SOON)
    assert builder.build().text == "Hello"


async def test_a_scope_cancelled_before_the_call_sends_nothing() -> None:
    scope = CancelScope()
    scope.cancel()
    async with chat_with(streaming(HELLO)) as (clients, there):
        with pytest.raises(Interrupted):
            await ask(clients, endpoint(there, "chat_completions"), CHAT, scope=scope)
    assert there.bodies == []


async def test_a_stream_cancelled_before_it_is_driven_sends_nothing() -> None:
    async with chat_with(streaming(HELLO)) as (clients, there):
        client = clients.client(endpoint(there, "chat_completions"))
        with client.chat.completions.create(stream=True) as stream:
            stream.cancel()
            with pytest.raises(Interrupted):
                await asyncio.to_thread(stream.drive, lambda _: None)
    assert there.bodies == []


async def test_a_call_that_is_not_streamed_can_be_cancelled_too() -> None:
    asked, scope = asyncio.Event(), CancelScope()

    async def handler(_: web.Request) -> web.Response:
        asked.set()
        await asyncio.wait_for(asyncio.Event().wait(), 30)
        return web.Response()

    async with chat_with(handler) as (clients, there):
        client = clients.client(endpoint(there, "chat_completions"), cancel=scope)
        call = asyncio.create_task(asyncio.to_thread(client.chat.completions.create, model="m"))
        await asyncio.wait_for(asked.wait(), SOON)
        scope.cancel()
        with pytest.raises(Interrupted):
            await asyncio.wait_for(call, 1)


async def test_a_whole_answer_that_never_comes_counts_as_stalled() -> None:
    release = asyncio.Event()

    async def handler(_: web.Request) -> web.Response:
        await asyncio.wait_for(release.wait(), SOON)
        return web.Response()

    async with chat_with(handler) as (clients, there):
        with pytest.raises(ProviderError) as raised:
            await ask_whole(
                clients,
                endpoint(there, "chat_completions", stale_timeout=0.1, thinking_timeout=0.1),
                CHAT,
            )
        release.set()
    assert raised.value.code == "stalled"


async def test_closing_the_pool_ends_its_calls_and_refuses_new_ones() -> None:
    gone, heard = asyncio.Event(), asyncio.Event()
    builder = ReplyBuilder(on_text=lambda _: heard.set(), on_reasoning=lambda _: None)
    async with chat_with(speaking_for_ever(gone)) as (clients, there):
        where = endpoint(there, "chat_completions")
        call = asyncio.create_task(ask(clients, where, CHAT, builder=builder))
        await asyncio.wait_for(heard.wait(), SOON)
        await clients.close()
        with pytest.raises(Interrupted):
            await asyncio.wait_for(call, SOON)
        with pytest.raises(Interrupted):
            await asyncio.wait_for(ask(clients, where, CHAT), SOON)


async def test_driving_on_the_loop_itself_is_refused_instead_of_hanging() -> None:
    async with chat_with(streaming(HELLO)) as (clients, there):
        client = clients.client(endpoint(there, "chat_completions"))
        with pytest.raises(RuntimeError, match="block the very loop"):
            client.chat.completions.create(stream=True).drive(lambda _: None)


async def test_forty_threads_share_the_pool() -> None:
    async with chat_with(streaming(HELLO, HELLO, STOP, DONE)) as (clients, there):
        where = endpoint(there, "chat_completions")
        replies = await asyncio.gather(*(ask(clients, where, CHAT) for _ in range(40)))
    assert {reply.text for reply in replies} == {"HelloHello"}


async def test_the_final_response_is_what_the_last_event_carried() -> None:
    async with chat_with(streaming(sse(RESPONSES_EVENTS, named=True))) as (clients, there):
        client = clients.client(endpoint(there, "codex_responses"))
        stream = client.responses.create(stream=True, model="m")
        assert stream.get_final_response() is None
        await asyncio.to_thread(stream.drive, lambda _: None)
    assert stream.get_final_response() == RESPONSES_EVENTS[-1]["response"]
    assert stream.get_final_message() is None


async def test_making_a_client_needs_no_network_and_no_session() -> None:
    clients = HttpClients(asyncio.get_running_loop())
    where = Endpoint(base_url="http://nowhere.invalid", api_key=KEY, api_mode="chat_completions")
    clients.client(where).close()
    await clients.close()
    gc.collect()


def test_an_endpoint_never_shows_its_secrets() -> None:
    where = Endpoint(
        base_url="https://user:hunter22@example.com:8443/v1?key=abc",
        api_key=KEY,
        api_mode="chat_completions",
        headers={"X-Token": "token-secret"},
    )
    assert repr(where) == "Endpoint(example.com:8443, chat_completions)"
    assert set(where.secrets()) == {KEY, "hunter22", "token-secret"}


@pytest.mark.parametrize(
    ("base_url", "api_mode", "path", "url"),
    [
        (
            "https://a.b/v1/",
            "chat_completions",
            "chat/completions",
            "https://a.b/v1/chat/completions",
        ),
        ("https://a.b/api/v1", "codex_responses", "responses", "https://a.b/api/v1/responses"),
        ("https://a.b", "anthropic_messages", "messages", "https://a.b/v1/messages"),
        ("https://a.b/x/v1", "anthropic_messages", "messages", "https://a.b/x/v1/messages"),
    ],
)
def test_addresses(base_url: str, api_mode: str, path: str, url: str) -> None:
    where = Endpoint(base_url=base_url, api_key=None, api_mode=api_mode)
    assert str(url_for(where, path)) == url


@pytest.mark.parametrize("base_url", ["", "example.com/v1", "ftp://a.b", "http://", "http://[1"])
async def test_a_base_url_that_is_none_says_what_is_allowed(base_url: str) -> None:
    where = Endpoint(base_url=base_url, api_key=None, api_mode="chat_completions")
    async with pooled_clients() as clients:
        with pytest.raises(SettingsError, match="http://… or https://…"):
            clients.client(where).chat.completions.create(stream=True)


def test_each_wire_gets_its_own_key_header() -> None:
    chat = Endpoint(base_url="http://a", api_key=f"{KEY}\n", api_mode="chat_completions")
    assert headers_for(chat)["Authorization"] == f"Bearer {KEY}"
    messages = Endpoint(base_url="http://a", api_key=KEY, api_mode="anthropic_messages")
    assert headers_for(messages)["x-api-key"] == KEY
    assert "Authorization" not in headers_for(messages)
    keyless = Endpoint(base_url="http://a", api_key=None, api_mode="chat_completions")
    assert "Authorization" not in headers_for(keyless)


def test_a_key_with_control_characters_is_refused_without_being_shown() -> None:
    where = Endpoint(base_url="http://a", api_key="abc\r\nX: y", api_mode="chat_completions")
    with pytest.raises(SettingsError, match="a secret value"):
        headers_for(where)
