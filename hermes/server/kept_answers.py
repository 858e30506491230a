"""Idempotency keys of requests that create something else than a run.

The first answer is kept in the store of runs, beside the runs' own keys. A repeated request gets
it again byte for byte, also after a restart; one that comes meanwhile waits for it.
"""

from __future__ import annotations

import functools
import hashlib
import logging
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import TypeVar

from aiohttp import web

from hermes.core.errors import ApiError, IdempotencyConflict, Unavailable
from hermes.core.run_ports import KeptAnswer, RunStore
from hermes.server.dispatch import Handler
from hermes.server.idempotency import idempotency_key
from hermes.server.seams import Seams
from hermes.server.turns import read_bytes

log = logging.getLogger(__name__)

T = TypeVar("T")

REPLAYED_HEADER = "Idempotency-Replayed"


@dataclass(frozen=True, slots=True, kw_only=True)
class KeyedRequest:
    """A request that must not be carried out twice."""

    owner: str
    scope: str
    """Method and path: what is created, and in which session."""
    key: str
    fingerprint: str
    """Of what was sent: anything else under the same key is a mistake."""


def created_once(handler: Handler) -> Handler:
    """For a handler that creates something: with an `Idempotency-Key` it does so once."""

    @functools.wraps(handler)
    async def create(request: web.Request, seams: Seams) -> web.StreamResponse:
        key = idempotency_key(request.headers)
        if key is None:
            return await handler(request, seams)
        sent = request.query_string.encode() + b"\n" + await read_bytes(request)
        fingerprint = hashlib.sha256(sent).hexdigest()
        asked = keyed_request(request, seams, key, fingerprint)
        return await answer_once(seams, asked, lambda: handler(request, seams))

    return create


def keyed_request(request: web.Request, seams: Seams, key: str, fingerprint: str) -> KeyedRequest:
    return KeyedRequest(
        owner=seams.read_caller(request).owner,
        scope=f"{request.method} {request.path}",
        key=key,
        fingerprint=fingerprint,
    )


async def answer_once(
    seams: Seams, asked: KeyedRequest, compute: Callable[[], Awaitable[web.StreamResponse]]
) -> web.Response:
    """The answer of `compute`, or the one that the same request got before.

    Refusals are raised, so they are never kept, and the request may be made again.
    """
    is_first = False

    async def find_or_make() -> KeptAnswer:
        nonlocal is_first
        kept = await _find(seams, asked)
        if kept is not None:
            return kept
        is_first = True
        made = _taken_apart(await compute())
        await _keep(seams, asked, made)
        return made

    name = f"{asked.owner}\n{asked.scope}\n{asked.key}"
    if seams.idempotency.is_taken(name, asked.fingerprint):
        raise IdempotencyConflict
    answer: KeptAnswer = await seams.idempotency.get_or_set(name, asked.fingerprint, find_or_make)
    said = {} if is_first else {REPLAYED_HEADER: "true"}
    return web.Response(body=answer.body, status=answer.status, headers={**answer.headers, **said})


def _taken_apart(answer: web.StreamResponse) -> KeptAnswer:
    assert isinstance(answer, web.Response)
    assert isinstance(answer.body, bytes)
    return KeptAnswer(status=answer.status, headers=dict(answer.headers), body=answer.body)


async def _find(seams: Seams, asked: KeyedRequest) -> KeptAnswer | None:
    try:
        return await _in_store(
            seams,
            lambda store: store.kept_answer(asked.owner, asked.scope, asked.key, asked.fingerprint),
        )
    except ApiError:
        raise
    except Exception as error:  # an embedder's store may raise anything
        log.exception("kept answers not available")
        raise Unavailable(
            "Whether this request was made before cannot be looked up; the gateway's log says why. "
            "Try again, or leave the Idempotency-Key out.",
            code="run_store_unavailable",
            headers={"Retry-After": "5"},
        ) from error


async def _keep(seams: Seams, asked: KeyedRequest, answer: KeptAnswer) -> None:
    try:
        await _in_store(
            seams,
            lambda store: store.keep_answer(
                asked.owner, asked.scope, asked.key, asked.fingerprint, answer
            ),
        )
    except Exception:  # an embedder's store may raise anything
        # It is created: an error now would only make the client create it again.
        log.exception("answer not kept")


async def _in_store(seams: Seams, job: Callable[[RunStore], T]) -> T:
    return await seams.storage.run(lambda: job(seams.runs_store()))
