"""POST /v1/messages and /v1/responses for the jobs of CLI agents: passed on to their providers.

A job's token says where to, and how much. Bodies, statuses and streams pass as they are; of the
provider's key the job learns nothing.
"""

from __future__ import annotations

import ipaddress
from collections.abc import Mapping
from contextlib import suppress

import aiohttp
import orjson
from aiohttp import web

from hermes.backends.hosting.job_tokens import PREFIX, RelayDialect, RelayedJob, Upstream
from hermes.core.errors import (
    ApiError,
    Forbidden,
    InvalidApiKey,
    InvalidRequest,
    ProviderError,
    ProviderFailed,
)
from hermes.server.answers import error_answer, from_framework, json_answer
from hermes.server.relay_upstream import headers_to_job, headers_to_provider, upstream_url
from hermes.server.relay_usage import AnswerMeter, meter_for
from hermes.server.seams import Seams
from hermes.server.turns import read_bytes
from hermes.wire.relay_errors import CAP_REACHED, anthropic_refusal

COUNTING_PATH = "/v1/messages/count_tokens"
LARGEST_REFUSAL = 1024 * 1024
_MASK = b"[secret]"
_SPEAKS_FOR_OTHERS = ("Forwarded", "X-Forwarded-For")


async def refuse(request: web.Request, _seams: Seams) -> web.StreamResponse:
    """For callers with a key of the gateway's."""
    raise Forbidden(
        f"{request.path} is for the jobs of CLI agents, with the token that each job gets. Use "
        "POST /v1/chat/completions or POST /v1/responses.",
        code="jobs_only",
    )


def job_token(headers: Mapping[str, str]) -> str | None:
    """What the request carries in the form of a job's token, in either of the usual headers."""
    scheme, _, bearer = headers.get("Authorization", "").partition(" ")
    offered = (bearer if scheme.lower() == "bearer" else "", headers.get("x-api-key", ""))
    return next((token.strip() for token in offered if token.strip().startswith(PREFIX)), None)


async def pass_on(
    request: web.Request, seams: Seams, dialect: RelayDialect, token: str
) -> web.StreamResponse:
    """Answer a job with what its provider says, or refuse it in its provider's words."""
    try:
        return await _passed_on(request, seams, _admitted(request, seams, dialect, token))
    except ApiError as error:
        refusal = error
    except web.HTTPException as error:
        refusal = from_framework(error)
    if dialect == "responses":
        return error_answer(refusal)
    status, body = anthropic_refusal(refusal)
    return json_answer(body, status=status, headers=refusal.headers)


def _admitted(request: web.Request, seams: Seams, dialect: RelayDialect, token: str) -> RelayedJob:
    if not is_of_this_machine(request.remote, request.headers):
        raise Forbidden("The token of a job is good on the gateway's own machine only.")
    job = seams.job_tokens.find(token)
    if job is None:
        raise InvalidApiKey("The token's job is over.")
    if job.grant.dialect != dialect:
        raise Forbidden(f"The token of this job is not for {request.path}.")
    return job


def is_of_this_machine(peer: str | None, headers: Mapping[str, str]) -> bool:
    """A proxy on this machine has the right address too, but says that it asks for another."""
    if any(name in headers for name in _SPEAKS_FOR_OTHERS):
        return False
    try:
        address = ipaddress.ip_address(peer or "")
    except ValueError:
        return False
    # On a socket for both families an IPv4 address comes wrapped in an IPv6 one.
    return (getattr(address, "ipv4_mapped", None) or address).is_loopback


async def _passed_on(request: web.Request, seams: Seams, job: RelayedJob) -> web.StreamResponse:
    body = await read_bytes(request)
    model = _model_in(body)
    _refuse_what_is_not_granted(job, model)
    job.count_request()
    answer = await _asked(request, seams, job.grant.upstream, body)
    try:
        if answer.status >= 400:
            return await _refusal(answer, job.grant.upstream.key)
        if request.path == COUNTING_PATH:
            return await _stream(request, answer, None)
        meter = meter_for(job.grant.dialect, answer.content_type, len(body))
        try:
            return await _stream(request, answer, meter)
        finally:
            job.count_usage(model, meter.total())
    finally:
        # Ends what has not arrived yet; what has is at its end already.
        answer.close()


async def _asked(
    request: web.Request, seams: Seams, upstream: Upstream, body: bytes
) -> aiohttp.ClientResponse:
    url = upstream_url(upstream, request.path_qs)
    headers = headers_to_provider(request.headers, upstream)
    try:
        return await seams.upstreams.ask(url, headers, body)
    except ProviderError as error:
        raise ProviderFailed(str(error)) from error


def _model_in(body: bytes) -> str:
    try:
        asked = orjson.loads(body)
    except orjson.JSONDecodeError as error:
        raise InvalidRequest("The body is not JSON.", code="invalid_json") from error
    model = asked.get("model") if isinstance(asked, dict) else None
    if not isinstance(model, str) or not model:
        raise InvalidRequest("'model' is missing.", code="missing_required_parameter")
    return model


def _refuse_what_is_not_granted(job: RelayedJob, model: str) -> None:
    if not job.may_ask(model):
        raise Forbidden(f"This job may not use the model '{model[:100]}'.")
    reached = job.reached
    if reached is not None:
        # Not a 429: that looks as if waiting helped.
        raise InvalidRequest(
            f"This job has used all it may use ({reached}).",
            code=CAP_REACHED,
            headers={"x-should-retry": "false"},
        )


async def _refusal(answer: aiohttp.ClientResponse, key: str) -> web.Response:
    """The provider's refusal. Some repeat the key they did not like."""
    said = b""
    with suppress(aiohttp.ClientError, OSError):
        while len(said) < LARGEST_REFUSAL and (data := await answer.content.readany()):
            said += data
    return web.Response(
        status=answer.status,
        reason=answer.reason,
        headers=headers_to_job(answer.headers),
        body=said.replace(key.encode(), _MASK) if key else said,
    )


async def _stream(
    request: web.Request, answer: aiohttp.ClientResponse, meter: AnswerMeter | None
) -> web.StreamResponse:
    response = web.StreamResponse(
        status=answer.status, reason=answer.reason, headers=headers_to_job(answer.headers)
    )
    try:
        await response.prepare(request)
        while data := await answer.content.readany():
            if meter is not None:
                meter.feed(data)
            await response.write(data)
    except (aiohttp.ClientError, OSError):
        # What the provider did not finish must not look finished to the job.
        if request.transport is not None:
            request.transport.close()
    return response
