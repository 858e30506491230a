"""One model call and all that is tried before it is given up, as `remedies.py` has it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from hermes.agent.chain import Seat
from hermes.agent.remedies import NOTICES, TREATMENTS, Remedy, Treatment
from hermes.agent.seams import AgentSeams
from hermes.core.errors import Interrupted, ProviderError
from hermes.core.events import Notice
from hermes.fibers import blocking
from hermes.providers.failures import Failure, classify, says_streaming_unsupported
from hermes.providers.reply import Reply
from hermes.settings.model import ProviderSettings

MOST_WAYS_TO_ASK = 2
"""In a stream and in one piece: a provider that refuses both by these words is not asked again."""


def ask_patiently(
    seams: AgentSeams,
    request: Callable[[], dict[str, Any]],
    on_fallback: Callable[[], None],
    compress: Callable[[Failure], bool] = lambda _failure: False,
) -> Reply:
    """A reply, or `ProviderError` with a message for the user, or `Interrupted`.

    `request` is worded anew for every try: the model, its dialect or the history may be others by
    then. `on_fallback` is called when another provider goes on; `compress` makes what is asked
    smaller, or says that it cannot be.
    """
    seams.chain.begin_call()
    rescue = _Rescue(seams, on_fallback, compress)
    while True:
        try:
            reply = _not_empty(seams.ask(request()))
        except Interrupted:
            raise
        except Exception as error:  # noqa: BLE001  an SDK, an embedder's client, or our own
            rescue.after(error)
            continue
        recovered = seams.chain.answered()
        if recovered is not None:
            seams.emit(recovered)
        return reply


def _not_empty(reply: Reply) -> Reply:
    """An empty answer is garbled, unless the reply itself says why there is nothing."""
    if reply.text or reply.tool_calls or reply.error:
        return reply
    if reply.finish_reason in ("length", "content_filter"):
        return reply
    raise ProviderError("The model returned an empty answer.", code="garbled")


class _Rescue:
    """What has been tried for one call, and what is next."""

    def __init__(
        self,
        seams: AgentSeams,
        on_fallback: Callable[[], None],
        compress: Callable[[Failure], bool],
    ) -> None:
        self._seams = seams
        self._on_fallback = on_fallback
        self._make_smaller = compress
        self._attempt = 1
        """Of the provider and key that are asked now."""
        self._ways_refused = 0
        self._has_compressed = False

    def after(self, error: Exception) -> None:
        """Do what helps against `error`, so that it is worth asking again, or raise."""
        if says_streaming_unsupported(error):
            self._ways_refused += 1
            if self._ways_refused < MOST_WAYS_TO_ASK:
                return  # streaming is switched off by now: the next call is another one
        failure = classify(error)
        treatment = TREATMENTS[failure.kind]
        for remedy in treatment.remedies:
            if self._helps(remedy, failure, treatment):
                return
        self._rest(self._seams.chain.leave(), failure, treatment)
        raise ProviderError(
            failure.message,
            status_code=failure.status_code,
            code=failure.kind.value,
            retry_after=failure.retry_after,
        ) from error

    def _helps(self, remedy: Remedy, failure: Failure, treatment: Treatment) -> bool:
        match remedy:
            case Remedy.RETRY:
                return self._retry(failure, treatment)
            case Remedy.ROTATE:
                return self._rotate(failure, treatment)
            case Remedy.FALL_BACK:
                return self._fall_back(failure, treatment)
            case Remedy.COMPRESS:
                return self._compress(failure)

    def _retry(self, failure: Failure, treatment: Treatment) -> bool:
        chain = self._seams.chain
        if self._attempt > treatment.retries:
            return False
        pause = self._seams.patience.pause(
            self._attempt, failure.retry_after, has_alternative=chain.has_alternative()
        )
        if pause is None:
            return False
        self._attempt += 1
        self._tell(Remedy.RETRY, failure, chain.current, f"Trying again in {pause:.1f} seconds.")
        if blocking(lambda: self._seams.stop().wait(pause)):
            raise Interrupted("The turn was interrupted while waiting for the provider.")
        return True

    def _rotate(self, failure: Failure, treatment: Treatment) -> bool:
        chain = self._seams.chain
        asked, seat = chain.current, chain.leave()
        key = chain.next_key()
        if key is None:
            return False
        self._rest(seat, failure, treatment)
        self._attempt = 1
        self._tell(Remedy.ROTATE, failure, asked, f"Continuing with {key}.")
        return True

    def _fall_back(self, failure: Failure, treatment: Treatment) -> bool:
        chain = self._seams.chain
        asked, seat = chain.current, chain.leave()
        model = chain.next_provider()
        if model is None:
            return False
        self._rest(seat, failure, treatment)
        self._attempt = 1
        self._on_fallback()
        self._tell(Remedy.FALL_BACK, failure, asked, f"Continuing with {model}.")
        return True

    def _compress(self, failure: Failure) -> bool:
        """Whoever makes the conversation shorter tells of it."""
        if self._has_compressed or not self._make_smaller(failure):
            return False
        self._has_compressed = True
        self._count(Remedy.COMPRESS, failure, self._seams.chain.current)
        return True

    def _rest(self, seat: Seat, failure: Failure, treatment: Treatment) -> None:
        self._seams.chain.rest(
            seat, treatment.cool_down, failure.kind.value, retry_after=failure.retry_after
        )

    def _tell(
        self, remedy: Remedy, failure: Failure, asked: ProviderSettings, what_next: str
    ) -> None:
        self._count(remedy, failure, asked)
        self._seams.emit(Notice(NOTICES[remedy], f"{failure.message} {what_next}"))

    def _count(self, remedy: Remedy, failure: Failure, asked: ProviderSettings) -> None:
        self._seams.meter.remedy_tried(
            asked.provider, asked.model, remedy.value, failure.kind.value
        )
