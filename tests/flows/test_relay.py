"""The jobs of CLI agents reach their providers through the gateway, and only as far as granted."""

from __future__ import annotations

import asyncio
import json
from dataclasses import replace
from typing import Any

import aiohttp
import pytest
from aiohttp import web

from hermes.backends.hosting.job_tokens import RelayCaps, RelayedJob, RelayGrant, Upstream
from hermes.core.prices import Price
from hermes.server.stalled import transports_of
from hermes.testing.replies import Broken, HttpError, Text
from tests.flows.conftest import KEY, Flow, StartFlow, eventually
from tests.flows.raw_provider import CHUNKED_EVENTS, EVENTS, OK, RawProvider, chunk

REAL_KEY = "sk-the-real-key-0123456789"
MESSAGES = "/v1/messages"
RESPONSES = "/v1/responses"
ASKED = {"anthropic": MESSAGES, "responses": RESPONSES}


def _upstream(base_url: str, dialect: str) -> Upstream:
    return Upstream(
        base_url=base_url,
        key=REAL_KEY,
        key_header="x-api-key" if dialect == "anthropic" else "authorization",
    )


def _issue(
    flow: Flow, dialect: Any = "anthropic", *, origin: str | None = None, **grant: Any
) -> tuple[dict[str, str], RelayedJob]:
    """The headers of a job, and what is known of it."""
    upstream = _upstream(origin or flow.provider.origin, dialect)
    tokens = flow.gateway.adapter.seams.job_tokens
    token = tokens.issue(
        RelayGrant(job_id=f"job-{dialect}", dialect=dialect, upstream=upstream, **grant)
    )
    job = tokens.find(token)
    assert job is not None
    return {"Authorization": f"Bearer {token}"}, job


def _body(*, stream: bool = True, **more: Any) -> dict[str, Any]:
    said = [{"role": "user", "content": "hello"}]
    return {"model": "m-1", "messages": said, "input": said, "stream": stream, **more}


async def _refused(
    flow: Flow, headers: dict[str, str], path: str = MESSAGES, body: Any = None
) -> tuple[int, Any]:
    return await flow.answer("POST", path, json=body or _body(), headers=headers)


# --- what passes ------------------------------------------------------------------------------


@pytest.mark.parametrize("dialect", ["anthropic", "responses"])
@pytest.mark.parametrize("stream", [True, False])
async def test_a_job_is_answered_by_its_provider_and_what_it_used_is_counted(
    flow: StartFlow, dialect: str, stream: bool
) -> None:
    served = await flow([Text("one two three")])
    headers, job = _issue(served, dialect, price_of=lambda _: Price(input=1.0, output=2.0))

    text = await served.text(ASKED[dialect], _body(stream=stream), headers=headers)

    assert all(word in text for word in ("one", "two", "three"))
    read = served.requests[0].input_tokens
    assert job.requests == 1
    assert job.usage.input_tokens == read
    assert job.usage.output_tokens == 3
    assert job.usage.cost_usd == pytest.approx((read + 6) / 1e6)
    assert not job.usage.is_estimated


async def test_the_answer_passes_byte_for_byte(flow: StartFlow) -> None:
    said = b': odd\r\n\r\nevent: x\ndata: {"usage": nonsense}\n\n\xff\x00\xfe data without an end'
    served = await flow([])
    async with RawProvider([EVENTS, said[:20], said[20:]]) as provider:
        headers, _ = _issue(served, origin=provider.origin)
        async with served.http.post(
            served.gateway.url + MESSAGES, json=_body(), headers=headers
        ) as answer:
            assert answer.status == 200
            assert answer.content_type == "text/event-stream"
            assert await answer.read() == said


async def test_each_piece_of_a_stream_passes_as_soon_as_it_is_there(flow: StartFlow) -> None:
    served = await flow([])
    says = [CHUNKED_EVENTS, chunk(b"data: 1\n\n"), chunk(b"data: 2\n\n"), b"0\r\n\r\n"]
    async with RawProvider(says, waits=True) as provider, asyncio.timeout(10):
        headers, _ = _issue(served, origin=provider.origin)
        provider.go_on.release()
        async with served.http.post(
            served.gateway.url + MESSAGES, json=_body(), headers=headers
        ) as answer:
            assert answer.headers["X-Vendor"] == "kept"
            for expected in (b"data: 1\n\n", b"data: 2\n\n"):
                provider.go_on.release()
                assert await answer.content.readany() == expected
            provider.go_on.release()
            assert await answer.read() == b""


async def test_the_request_passes_with_the_real_key_and_without_what_is_ours(
    flow: StartFlow,
) -> None:
    served = await flow([])
    sent = json.dumps(_body(odd="ä\u2028")).encode()
    async with RawProvider([OK + b"Content-Length: 2\r\n\r\n{}"]) as provider:
        headers, _ = _issue(served, origin=provider.origin)
        more = {"Cookie": "a=b", "X-Odd": "1", "Connection": "X-Odd", "anthropic-beta": "b-1"}
        async with served.http.post(
            served.gateway.url + MESSAGES + "?beta=true", data=sent, headers=headers | more
        ) as answer:
            assert await answer.read() == b"{}"
        head, _, body = provider.requests[0].partition(b"\r\n\r\n")

    assert body == sent
    assert head.startswith(b"POST /v1/messages?beta=true HTTP/1.1\r\n")
    assert f"x-api-key: {REAL_KEY}".encode() in head
    assert b"anthropic-beta: b-1" in head
    assert b"hgw-job-" not in head
    assert b"cookie" not in head.lower()
    assert b"x-odd" not in head.lower()


async def test_a_base_url_with_its_version_means_the_same(flow: StartFlow) -> None:
    served = await flow([Text("hello")])
    headers, _ = _issue(served, "responses", origin=served.provider.base_url)

    assert "hello" in await served.text(RESPONSES, _body(), headers=headers)
    assert served.requests[0].headers["Authorization"] == f"Bearer {REAL_KEY}"


async def test_a_token_is_taken_from_the_header_of_either_kind(flow: StartFlow) -> None:
    served = await flow([Text("hello")])
    headers, _ = _issue(served)
    token = headers["Authorization"].removeprefix("Bearer ")

    assert "hello" in await served.text(MESSAGES, _body(), headers={"x-api-key": token})


async def test_a_gateway_without_a_key_relays_as_well(flow: StartFlow) -> None:
    served = await flow([Text("hello")], key="")
    headers, _ = _issue(served)

    assert "hello" in await served.text(MESSAGES, _body(), headers=headers)


async def test_tokens_that_are_only_counted_are_not_used(flow: StartFlow) -> None:
    served = await flow([])
    said = b'{"input_tokens": 2095}'
    head = OK + b"Content-Type: application/json\r\nConnection: close\r\n\r\n"
    async with RawProvider([head + said]) as provider:
        headers, job = _issue(served, origin=provider.origin)
        path = MESSAGES + "/count_tokens"
        assert await served.text(path, _body(stream=False), headers=headers) == said.decode()

    assert provider.requests[0].startswith(b"POST /v1/messages/count_tokens ")
    assert job.requests == 1
    assert job.usage.total_tokens == 0


# --- what the provider refuses, or breaks off -----------------------------------------------


async def test_a_refusal_of_the_provider_passes_with_its_retry_after(flow: StartFlow) -> None:
    refusal = {"type": "error", "error": {"type": "rate_limit_error", "message": "slow down"}}
    served = await flow([HttpError(429, refusal, {"Retry-After": "7"})])
    headers, job = _issue(served)

    async with served.http.post(
        served.gateway.url + MESSAGES, json=_body(), headers=headers
    ) as answer:
        assert answer.status == 429
        assert answer.headers["Retry-After"] == "7"
        assert await answer.json() == refusal
    assert job.usage.total_tokens == 0


async def test_a_provider_that_repeats_the_key_does_not_tell_it_to_the_job(
    flow: StartFlow,
) -> None:
    served = await flow([HttpError(401, {"error": {"message": f"Not a key: {REAL_KEY}"}})])
    headers, _ = _issue(served)

    status, said = await _refused(served, headers)

    assert (status, said) == (401, {"error": {"message": "Not a key: [secret]"}})


@pytest.mark.parametrize("dialect", ["anthropic", "responses"])
async def test_an_unreachable_provider_is_told_in_the_dialects_own_words(
    flow: StartFlow, dialect: str
) -> None:
    served = await flow([])
    async with RawProvider([]) as provider:
        gone = provider.origin
    headers, _ = _issue(served, dialect, origin=gone)

    status, said = await _refused(served, headers, ASKED[dialect])

    assert status == 502
    assert "Could not connect" in said["error"]["message"]
    assert said["error"]["type"] == {"anthropic": "api_error", "responses": "server_error"}[dialect]


async def test_what_the_provider_did_not_finish_does_not_look_finished(flow: StartFlow) -> None:
    served = await flow([])
    async with RawProvider([CHUNKED_EVENTS, chunk(b"data: 1\n\n")]) as provider:
        headers, _ = _issue(served, origin=provider.origin)
        async with served.http.post(
            served.gateway.url + MESSAGES, json=_body(), headers=headers
        ) as answer:
            assert await answer.content.readany() == b"data: 1\n\n"
            with pytest.raises(aiohttp.ClientPayloadError):
                await answer.read()


async def test_a_job_that_leaves_ends_its_call_at_the_provider(flow: StartFlow) -> None:
    served = await flow([Broken("some words", how="stall")])
    headers, job = _issue(served)

    async with served.http.post(
        served.gateway.url + MESSAGES, json=_body(), headers=headers
    ) as answer:
        await answer.content.readuntil(b"words")
        answer.close()
        await served.provider.wait_for_disconnects(1, within=5)

    await eventually(lambda: job.usage.output_tokens > 0)
    assert job.usage.input_tokens == served.requests[0].input_tokens


async def test_a_job_that_leaves_before_the_answer_begins_ends_its_call_too(
    flow: StartFlow,
) -> None:
    served = await flow([Broken("nothing", how="stall")])
    headers, _ = _issue(served)
    asking = asyncio.ensure_future(served.text(MESSAGES, _body(stream=False), headers=headers))
    await served.provider.wait_for_requests(1)

    asking.cancel()

    await served.provider.wait_for_disconnects(1, within=5)


async def test_a_job_that_is_gone_when_its_answer_begins_is_no_fault_of_ours(
    flow: StartFlow, caplog: pytest.LogCaptureFixture
) -> None:
    """Handlers are not cancelled here, as one is not that has just got its answer."""
    caplog.set_level("INFO", logger="hermes.server")
    served = await flow([])
    runner = web.AppRunner(served.gateway.adapter.application(), handler_cancellation=False)
    await runner.setup()
    await web.TCPSite(runner, "127.0.0.1", 0).start()
    url = f"http://127.0.0.1:{runner.addresses[0][1]}{MESSAGES}"
    async with RawProvider([EVENTS, b"data: 1\n\n"], waits=True) as provider:
        headers, _ = _issue(served, origin=provider.origin)
        asking = asyncio.ensure_future(served.http.post(url, json=_body(), headers=headers))
        await eventually(lambda: bool(provider.requests))
        asking.cancel()
        await eventually(lambda: not transports_of(runner))
        provider.go_on.release()
        provider.go_on.release()
        await eventually(lambda: any(record.msg == "request" for record in caplog.records))
    await runner.cleanup()

    assert [record for record in caplog.records if record.levelname == "ERROR"] == []


@pytest.mark.parametrize("dialect", ["anthropic", "responses"])
async def test_hanging_up_before_the_count_does_not_make_an_answer_free(
    flow: StartFlow, dialect: str
) -> None:
    served = await flow([Broken(Text(pieces=["word "] * 50), how="eof")])
    headers, job = _issue(served, dialect)

    await served.text(ASKED[dialect], _body(), headers=headers)

    assert job.usage.is_estimated
    assert job.usage.output_tokens == 50
    assert job.usage.input_tokens > 0


async def test_a_job_that_does_not_read_holds_its_provider_up(flow: StartFlow) -> None:
    """Or the answer would pile up in the gateway."""
    served = await flow([])
    piece, count = b"x" * 1024 * 1024, 256
    async with RawProvider([EVENTS, *[piece] * count]) as provider:
        headers, _ = _issue(served, origin=provider.origin)
        async with served.http.post(
            served.gateway.url + MESSAGES, json=_body(), headers=headers
        ) as answer:
            await answer.content.readany()
            with pytest.raises(TimeoutError):
                await asyncio.wait_for(provider.done.wait(), 1)
            assert provider.sent < count * len(piece) // 4
            async with asyncio.timeout(30):
                rest = [data async for data in answer.content.iter_any()]
            assert sum(map(len, rest)) > count * len(piece) * 3 // 4


# --- what is not granted --------------------------------------------------------------------


@pytest.mark.parametrize("dialect", ["anthropic", "responses"])
async def test_the_token_of_a_job_that_is_over_is_refused(flow: StartFlow, dialect: str) -> None:
    served = await flow([])
    headers, job = _issue(served, dialect)
    served.gateway.adapter.seams.job_tokens.revoke(job.grant.job_id)

    status, said = await _refused(served, headers, ASKED[dialect])

    assert status == 401
    assert said["error"]["type"] == "authentication_error"
    assert said.get("type") == ("error" if dialect == "anthropic" else None)


@pytest.mark.parametrize(
    ("dialect", "status", "kind"),
    [("anthropic", 402, "billing_error"), ("responses", 400, "invalid_request_error")],
)
async def test_a_job_at_its_cap_is_refused_so_that_its_cli_gives_up(
    flow: StartFlow, dialect: str, status: int, kind: str
) -> None:
    served = await flow([Text("one two three")])
    headers, job = _issue(served, dialect, caps=RelayCaps(output_tokens=3))

    await served.text(ASKED[dialect], _body(), headers=headers)
    async with served.http.post(
        served.gateway.url + ASKED[dialect], json=_body(), headers=headers
    ) as answer:
        said = await answer.json()

    assert (answer.status, said["error"]["type"]) == (status, kind)
    assert "3 output tokens" in said["error"]["message"]
    assert answer.headers["x-should-retry"] == "false"
    assert (job.requests, served.provider.requests_seen) == (1, 1)


async def test_a_model_that_was_not_granted_is_refused(flow: StartFlow) -> None:
    served = await flow([Text("hello")])
    headers, _ = _issue(served, models=frozenset({"m-1"}))

    status, said = await _refused(served, headers, body=_body(model="m-2"))
    assert (status, said["error"]["type"]) == (403, "permission_error")
    assert served.provider.requests_seen == 0

    assert "hello" in await served.text(MESSAGES, _body(), headers=headers)


async def test_a_token_is_good_for_its_own_dialect_only(flow: StartFlow) -> None:
    served = await flow([])
    headers, _ = _issue(served, "anthropic")

    status, _ = await _refused(served, headers, RESPONSES)

    assert status == 403


@pytest.mark.parametrize("name", ["X-Forwarded-For", "Forwarded"])
async def test_a_token_is_good_on_this_machine_only(flow: StartFlow, name: str) -> None:
    served = await flow([])
    headers, _ = _issue(served)

    status, said = await _refused(served, headers | {name: "for=203.0.113.7"})

    assert (status, said["error"]["type"]) == (403, "permission_error")


async def test_a_token_opens_no_other_door(flow: StartFlow) -> None:
    served = await flow([])
    headers, _ = _issue(served)

    for method, path in (("GET", "/v1/models"), ("POST", "/v1/chat/completions")):
        status, _ = await served.answer(method, path, headers=headers)
        assert status == 401


@pytest.mark.parametrize("path", [MESSAGES, MESSAGES + "/count_tokens"])
async def test_a_key_of_the_gateways_is_told_where_to_go_instead(
    flow: StartFlow, path: str
) -> None:
    served = await flow([])

    status, said = await _refused(served, {"Authorization": f"Bearer {KEY}"}, path)
    assert (status, said["error"]["code"]) == (403, "jobs_only")
    assert "/v1/chat/completions" in said["error"]["message"]

    status, _ = await _refused(served, {"Authorization": "Bearer wrong"}, path)
    assert status == 401


@pytest.mark.parametrize("body", [b"", b"{", b"[]", b'{"model": 1}'])
async def test_a_body_without_a_model_is_not_passed_on(flow: StartFlow, body: bytes) -> None:
    served = await flow([])
    headers, _ = _issue(served)

    status, said = await served.answer("POST", MESSAGES, data=body, headers=headers)

    assert (status, said["error"]["type"]) == (400, "invalid_request_error")


async def test_a_body_over_the_limit_is_refused_in_the_dialects_own_words(
    flow: StartFlow,
) -> None:
    served = await flow([], max_body_bytes=10_000)
    headers, _ = _issue(served)

    status, said = await _refused(served, headers, body=_body(filling="x" * 20_000))

    assert (status, said["error"]["type"]) == (413, "request_too_large")


async def test_a_provider_address_that_is_none_is_told(flow: StartFlow) -> None:
    served = await flow([])
    headers, job = _issue(served)
    job.grant = replace(job.grant, upstream=_upstream("nowhere", "anthropic"))

    status, said = await _refused(served, headers)

    assert (status, said["error"]["type"]) == (502, "api_error")
