"""What every route does to have a turn kept as a run: who asks, under which policies, once."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from typing import Any

from aiohttp import web

from hermes.core.ids import new_id
from hermes.core.runs import CANCEL, DETACH, Disconnect, Idempotency, NewRun, WhenBusy
from hermes.runs.engine import Begun
from hermes.server.auth import SESSION_ID_HEADER, SESSION_KEY_HEADER
from hermes.server.idempotency import KEY_HEADER, idempotency_key
from hermes.server.kept_answers import REPLAYED_HEADER
from hermes.server.seams import Seams
from hermes.wire.run_policies import RUN_ID_HEADER, RunPolicies


def new_run(
    *,
    kind: str,
    owner: str,
    kept: Mapping[str, Any],
    model: str,
    policies: RunPolicies,
    seams: Seams,
    disconnect: Disconnect,
    is_watched: bool = True,
    session_id: str | None = None,
    resource_id: str | None = None,
    metadata: Mapping[str, str] | None = None,
    timeout: float | None = None,
    idempotency: Idempotency | None = None,
) -> NewRun:
    """`disconnect` holds where the request says nothing itself.

    A client that waits for a whole answer cannot come back for it: nothing is gained by going on
    without it. One that has a key means to ask again, whenever that is.
    """
    if idempotency is not None:
        disconnect = DETACH
    elif not is_watched:
        disconnect = CANCEL
    return NewRun(
        id=new_id("run_"),
        kind=kind,
        owner=owner,
        session_id=session_id,
        resource_id=resource_id,
        input={"model": model, **kept},
        metadata=metadata or {},
        disconnect=disconnect if policies.disconnect is None else policies.disconnect,
        when_busy=_when_busy(policies, seams),
        timeout=timeout,
        idempotency=idempotency,
    )


def _when_busy(policies: RunPolicies, seams: Seams) -> WhenBusy:
    return seams.run_settings.when_busy if policies.when_busy is None else policies.when_busy


def has_key(request: web.Request) -> bool:
    return KEY_HEADER in request.headers


async def idempotency_of(request: web.Request) -> Idempotency | None:
    """The key under which this request must be carried out only once, if it has one."""
    key = idempotency_key(request.headers)
    if key is None:
        return None
    return Idempotency(
        key=key,
        scope=_scope(request),
        fingerprint=hashlib.sha256(await request.read()).hexdigest(),
    )


def _scope(request: web.Request) -> str:
    """Where the key counts: this route, in this session."""
    named = [request.headers.get(name, "") for name in (SESSION_ID_HEADER, SESSION_KEY_HEADER)]
    said = "\n".join([request.method, request.path, *named])
    return hashlib.sha256(said.encode(errors="surrogatepass")).hexdigest()


def run_headers(begun: Begun) -> dict[str, str]:
    """What an answer says about the run behind it."""
    headers = {RUN_ID_HEADER: begun.run.id}
    return {**headers, REPLAYED_HEADER: "true"} if begun.is_replayed else headers
