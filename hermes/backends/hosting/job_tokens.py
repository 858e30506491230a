"""Tokens with which the processes of a job reach their provider through the gateway.

A token dies with its job, and what it may be used for is capped, so that it does not matter who
in the job's tree of processes reads it: the provider's real key stays here. Everything here is
touched on the event loop only.
"""

from __future__ import annotations

import hashlib
import secrets
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Literal

from hermes.core.prices import Price, priced
from hermes.core.usage import NO_USAGE, Usage

PREFIX = "hgw-job-"
"""What every token begins with, so that it is known from a key without being looked up."""

RelayDialect = Literal["anthropic", "responses"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Upstream:
    """The provider a job really talks to."""

    base_url: str
    """With or without the final `/v1`."""
    key: str = field(repr=False)
    key_header: Literal["x-api-key", "authorization"]
    """`authorization` carries it as a bearer token."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RelayCaps:
    """How much a job may use; None: as much as it wants.

    They are looked at before each request, so that the last one may exceed what is measured by
    its end. What a model costs that has no price counts as nothing.
    """

    requests: int | None = None
    tokens: int | None = None
    """Read and written."""
    output_tokens: int | None = None
    cost_usd: float | None = None


NO_CAPS = RelayCaps()


def _unknown(_model: str) -> Price | None:
    return None


@dataclass(frozen=True, slots=True, kw_only=True)
class RelayGrant:
    """What a job may ask of its provider."""

    job_id: str
    dialect: RelayDialect
    upstream: Upstream
    models: frozenset[str] | None = None
    """Those it may ask for, by the provider's names; None: any."""
    caps: RelayCaps = NO_CAPS
    price_of: Callable[[str], Price | None] = _unknown
    """What a model costs, by the provider's name for it."""


class RelayedJob:
    """What a job may use, and what it has used."""

    def __init__(self, grant: RelayGrant) -> None:
        self.grant = grant
        self.requests = 0
        """How many were passed on."""
        self.usage: Usage = NO_USAGE

    @property
    def reached(self) -> str | None:
        """The cap that has been reached, in words; None: it may go on."""
        caps, cost = self.grant.caps, self.usage.cost_usd or 0.0
        if caps.requests is not None and self.requests >= caps.requests:
            return f"{caps.requests} requests"
        if caps.tokens is not None and self.usage.total_tokens >= caps.tokens:
            return f"{caps.tokens} tokens"
        if caps.output_tokens is not None and self.usage.output_tokens >= caps.output_tokens:
            return f"{caps.output_tokens} output tokens"
        if caps.cost_usd is not None and cost >= caps.cost_usd:
            return f"{caps.cost_usd:g} USD"
        return None

    def may_ask(self, model: str) -> bool:
        return self.grant.models is None or model in self.grant.models

    def count_request(self) -> None:
        self.requests += 1

    def count_usage(self, model: str, usage: Usage) -> None:
        """Add what one request took. A cost that the provider told itself is kept."""
        is_priced = usage.cost_usd is not None
        self.usage += usage if is_priced else priced(usage, self.grant.price_of(model))


class JobTokens:
    """The tokens that are alive, by their hashes: whoever reads the table finds none to use."""

    def __init__(self) -> None:
        self._jobs: dict[bytes, RelayedJob] = {}

    def issue(self, grant: RelayGrant) -> str:
        """A new token for this job, good until `revoke`."""
        token = PREFIX + secrets.token_urlsafe(32)
        self._jobs[_hash(token)] = RelayedJob(grant)
        return token

    def find(self, token: str) -> RelayedJob | None:
        return self._jobs.get(_hash(token))

    def revoke(self, job_id: str) -> None:
        """The job is over; its tokens are nobody's from now on."""
        self._jobs = {
            hashed: job for hashed, job in self._jobs.items() if job.grant.job_id != job_id
        }


def _hash(token: str) -> bytes:
    return hashlib.sha256(token.encode(errors="surrogatepass")).digest()
