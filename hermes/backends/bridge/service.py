"""The bridge itself: who may ask, how many at once, and the answer to each case.

Knows no web framework: a door gives it header and body, and sends what comes back.
"""

from __future__ import annotations

import asyncio
import hmac
import logging
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager

from hermes.backends import environment
from hermes.backends.bridge import answers, chat, execute
from hermes.backends.bridge.answers import BridgeAnswer
from hermes.backends.bridge.chat import ChatRequest, Completion
from hermes.backends.bridge.claude import Errand
from hermes.backends.bridge.jobs import Jobs
from hermes.backends.bridge.outcome import Outcome
from hermes.backends.bridge.places import sweep_stale
from hermes.backends.bridge.running import Listener, Seams, run
from hermes.backends.bridge.settings import BridgeSettings, read_settings
from hermes.backends.bridge.streaming import relay
from hermes.backends.bridge.turns import Ticket, TurnedAway, Turns
from hermes.backends.errors import CommandFailed
from hermes.core.errors import SettingsError
from hermes.core.ids import new_id

logger = logging.getLogger(__name__)

MAX_BODY_BYTES = 10 * 1024 * 1024


class Bridge:
    """One for a process. Whatever answers a request may raise `ApiError`."""

    def __init__(self, seams: Callable[[], Seams]) -> None:
        """`seams` is asked anew for every request."""
        self._seams = seams
        self._turns = Turns()
        self._jobs = Jobs()

    def admit(self, authorization: str | None) -> None:
        """Raises `InvalidApiKey` unless the caller sent the configured token."""
        token = self._seams().token.strip()
        if not token:
            detail = "no token is configured: set API_BEARER_TOKEN where the bridge runs"
            raise answers.unauthorized(detail)
        scheme, _, sent = (authorization or "").partition(" ")
        # Bytes, because the comparison refuses text beyond ASCII.
        is_right = hmac.compare_digest(sent.strip().encode(errors="replace"), token.encode())
        if scheme.lower() != "bearer" or not is_right:
            detail = 'send the configured token as "Authorization: Bearer <token>"'
            raise answers.unauthorized(detail)

    def health(self) -> BridgeAnswer:
        told = {
            "status": "ok",
            "busy": self._seams().lock.locked(),
            "active": self._turns.active,
            "queued": self._turns.queued,
            "capacity": self._settings().max_concurrency,
        }
        return BridgeAnswer(200, told)

    def models(self) -> BridgeAnswer:
        return BridgeAnswer(200, chat.model_list())

    def read_chat(self, body: bytes) -> ChatRequest:
        return chat.parse_request(body, can_stream=self._settings().has_streaming)

    async def answer_chat(self, request: ChatRequest) -> BridgeAnswer:
        """When it is cancelled, the run's processes are gone before it ends."""
        completion = _completion(request)
        async with self._chat_turn() as settings:
            outcome = await self._answered(_errand(request, settings), settings, Listener())
        return BridgeAnswer(200, completion.whole(outcome))

    async def stream_chat(
        self, request: ChatRequest, write: Callable[[bytes], Awaitable[None]]
    ) -> None:
        """The same in pieces. Raises `ApiError` only while nothing is written."""
        completion = _completion(request)
        async with self._chat_turn() as settings:
            errand = _errand(request, settings)
            await relay(
                lambda listener: self._answered(errand, settings, listener),
                completion,
                write,
                wants_usage=request.wants_usage,
            )

    async def execute(self, body: bytes) -> BridgeAnswer:
        """Begin a job that goes on after the answer."""
        settings = self._settings()
        request = execute.parse_execute(body, settings)
        try:
            ticket = await self._take(settings)
        except TurnedAway as error:
            has_queue = settings.max_queue_depth > 0
            raise answers.no_job_now(str(error), has_queue=has_queue) from error
        job = self._jobs.begin(
            request,
            ticket,
            lambda job_id, listener: run(job_id, request.errand, settings, self._seams(), listener),
            queue_seconds=settings.queue_timeout_seconds,
        )
        self._jobs.records.add(job, settings.job_ttl_seconds)
        return BridgeAnswer(202, execute.accepted(job))

    def job(self, job_id: str) -> BridgeAnswer:
        found = self._jobs.records.get(job_id, self._settings().job_ttl_seconds)
        if found is None:
            raise answers.unknown_job()
        return BridgeAnswer(200, execute.job_fields(found, self._redacted))

    async def open(self) -> None:
        """Before the first request; what a bridge that was killed left running is ended."""
        await asyncio.to_thread(sweep_stale, self._seams().environ)

    async def close(self) -> None:
        """End all jobs; their processes are gone when it returns."""
        await self._jobs.close()

    @asynccontextmanager
    async def _chat_turn(self) -> AsyncIterator[BridgeSettings]:
        """Our place among the runs, as soon as there is one."""
        settings = self._settings()
        try:
            ticket = await self._take(settings)
        except TurnedAway as error:
            raise answers.busy(str(error)) from error
        try:
            await _turn(ticket, settings.queue_timeout_seconds)
            yield settings
        finally:
            ticket.give_back()

    async def _take(self, settings: BridgeSettings) -> Ticket:
        return await self._turns.take(
            self._seams().lock,
            capacity=settings.max_concurrency,
            depth=settings.max_queue_depth,
        )

    async def _answered(
        self, errand: Errand, settings: BridgeSettings, listener: Listener
    ) -> Outcome:
        try:
            outcome = await run(new_id("job_"), errand, settings, self._seams(), listener)
        except CommandFailed as error:
            raise answers.failed(self._redacted(str(error))) from error
        problem = outcome.problem(time_variable="BRIDGE_TIMEOUT_SECONDS")
        if problem is None:
            return outcome
        detail = self._redacted(problem)
        logger.warning("The CLI failed: %s", detail[-answers.DETAIL_LIMIT :])
        raise answers.failed(detail)

    def _settings(self) -> BridgeSettings:
        try:
            return read_settings(self._seams().environ)
        except SettingsError as error:
            raise answers.failed(self._redacted(str(error))) from error

    def _redacted(self, text: str) -> str:
        return environment.redact(text, self._seams().environ)


async def _turn(ticket: Ticket, seconds: float) -> None:
    try:
        await ticket.turn(seconds)
    except TimeoutError as error:
        raise answers.busy("its turn did not come in time (QUEUE_TIMEOUT_SECONDS)") from error


def _completion(request: ChatRequest) -> Completion:
    return Completion(id=new_id("chatcmpl-"), model=request.model, created=int(time.time()))


def _errand(request: ChatRequest, settings: BridgeSettings) -> Errand:
    return Errand(
        model=request.model,
        prompt=request.prompt,
        max_budget_usd=settings.max_budget_usd,
        timeout_seconds=settings.timeout_seconds,
    )
