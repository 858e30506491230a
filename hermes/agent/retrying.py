"""What the loop does when a model call fails: wait and try again, use the fallback, or give up."""

from __future__ import annotations

import random
from typing import Any

from hermes.agent.seams import AgentSeams
from hermes.core.errors import Interrupted, ProviderError
from hermes.core.events import Notice
from hermes.fibers import blocking
from hermes.providers.failures import Failure, classify, says_streaming_unsupported
from hermes.providers.reply import Reply

TRIES = 3
LONGEST_WAIT = 30.0
FIRST_WAIT = 0.5


def ask_patiently(seams: AgentSeams, api_kwargs: dict[str, Any]) -> Reply:
    """A reply, or `ProviderError` with a message for the user, or `Interrupted`."""
    for attempt in range(1, TRIES + 1):
        try:
            return _not_empty(seams.ask(api_kwargs))
        except Interrupted:
            raise
        except Exception as error:
            if attempt < TRIES and says_streaming_unsupported(error):
                continue  # streaming is switched off by now: the next call is another one
            failure = classify(error)
            if attempt == TRIES or not failure.is_retryable:
                raise ProviderError(
                    failure.message,
                    status_code=failure.status_code,
                    code=failure.kind.value,
                    retry_after=failure.retry_after,
                ) from error
            _wait(seams, failure, attempt)
    raise AssertionError("unreachable: the last attempt returns or raises")


def _not_empty(reply: Reply) -> Reply:
    """An empty answer is garbled, unless the reply itself says why there is nothing."""
    if reply.text or reply.tool_calls or reply.error:
        return reply
    if reply.finish_reason in ("length", "content_filter"):
        return reply
    raise ProviderError("The model returned an empty answer.", code="garbled")


def _wait(seams: AgentSeams, failure: Failure, attempt: int) -> None:
    seconds = failure.retry_after
    if seconds is None:
        seconds = FIRST_WAIT * 2 ** (attempt - 1) * random.uniform(0.75, 1.25)  # noqa: S311
    seconds = min(seconds, LONGEST_WAIT)
    seams.emit(
        Notice("provider_retry", f"{failure.message} Trying again in {seconds:.1f} seconds.")
    )
    if blocking(lambda: seams.stop().wait(seconds)):
        raise Interrupted("The turn was interrupted while waiting for the provider.")
