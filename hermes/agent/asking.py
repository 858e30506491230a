"""One call to the model, streamed: retried while nothing was shown, kept when something was.

The rules: a lost connection is tried again as long as no text has been passed on. Once text has
been passed on it is never repeated and never thrown away: the reply then carries what there is
and the reason why it is not whole.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

from hermes.agent.codex import create_stream, failed_response, stream_codex
from hermes.agent.seams import CallSeams
from hermes.core.errors import ConnectionLost, Interrupted
from hermes.core.turn import Usage
from hermes.providers.failures import (
    Failure,
    classify,
    is_transient_stream_failure,
    says_streaming_unsupported,
)
from hermes.providers.reply import Reply, ReplyBuilder
from hermes.providers.streams import consume

RECEIVING = "receiving stream response"
BROKE_OFF = "The provider broke off before its answer was complete."


def stream_reply(
    seams: CallSeams,
    api_kwargs: Mapping[str, Any],
    on_first_delta: Callable[[], None] | None = None,
) -> Reply:
    """Ask the model and return its whole reply; deltas are passed on as they arrive.

    Raises the provider's own error when no text was passed on; afterwards never raises.
    """
    attempts_left = seams.retries()
    delivery = _Delivery(seams, on_first_delta)
    while True:
        builder = delivery.builder()
        client = seams.open_client()
        clock = _Clock(seams)
        try:
            final = _read(seams, client, api_kwargs, builder, delivery)
            seams.dialect().finish(final, builder)
            if final is None and not builder.is_finished:
                raise ConnectionLost(BROKE_OFF)
            return clock.answered(builder.build())
        except Interrupted:
            clock.stopped()
            return replace(builder.build(), tool_calls=(), error="interrupted")
        except Exception as error:
            failure = clock.failed(error)
            if builder.has_text:
                return _what_there_is(seams, builder, failure)
            if says_streaming_unsupported(error):
                seams.disable_streaming()
                raise
            if attempts_left == 0 or not is_transient_stream_failure(error):
                raise
            attempts_left -= 1
            seams.reopened(failure)
        finally:
            seams.close_client(client)


def whole_reply(seams: CallSeams, api_kwargs: Mapping[str, Any]) -> Reply:
    """Ask for the reply in one piece; its text is passed on in one piece too."""
    client = seams.open_client()
    builder = _Delivery(seams).builder()
    clock = _Clock(seams)
    try:
        seams.dialect().read_whole(seams.dialect().create(client, api_kwargs), builder)
        return clock.answered(builder.build())
    except Interrupted:
        clock.stopped()
        raise
    except Exception as error:
        failure = clock.failed(error)
        if builder.has_text:
            return _what_there_is(seams, builder, failure)
        # A proxy may have lost patience with the silence; a stream would have kept it awake.
        seams.whole_call_failed()
        raise
    finally:
        seams.close_client(client)


def codex_response(seams: CallSeams, api_kwargs: Mapping[str, Any], client: Any) -> Any:
    """One Responses stream as an entry point of its own: deltas are passed on as they arrive."""
    delivery = _Delivery(seams)
    client = client or seams.open_client()
    return _read_codex(seams, client, api_kwargs, delivery.builder(), delivery)


def codex_created_response(seams: CallSeams, api_kwargs: Mapping[str, Any], client: Any) -> Any:
    """The fallback of the above as an entry point of its own.

    When it breaks off after text, the response it returns has that text and says that it failed.
    """
    builder = _Delivery(seams).builder()
    on_event, scope = _reading(seams, builder), seams.stop().scope
    client = client or seams.open_client()
    try:
        final = create_stream(client, api_kwargs, on_event, scope=scope)
    except Exception as error:
        if not builder.has_text:
            raise
        return failed_response(builder.text, classify(error).message)
    is_lost = final is None and builder.has_text
    return failed_response(builder.text, BROKE_OFF) if is_lost else final


def _read(
    seams: CallSeams,
    client: Any,
    api_kwargs: Mapping[str, Any],
    builder: ReplyBuilder,
    delivery: _Delivery,
) -> Any:
    dialect = seams.dialect()
    if dialect.api_mode == "codex_responses":
        return _read_codex(seams, client, api_kwargs, builder, delivery)
    return consume(
        dialect.open(client, api_kwargs),
        _reading(seams, builder),
        on_text=_reading_text(seams, builder),
        cancel=seams.stop().scope,
    )


def _read_codex(
    seams: CallSeams,
    client: Any,
    api_kwargs: Mapping[str, Any],
    builder: ReplyBuilder,
    delivery: _Delivery,
) -> Any:
    def fallback() -> Any:
        # It passes its own deltas on; what the reply still gathers from its final object must
        # not be heard twice.
        delivery.is_muted = True
        return seams.codex_fallback(api_kwargs, client)

    return stream_codex(
        client,
        api_kwargs,
        _reading(seams, builder),
        scope=seams.stop().scope,
        has_text=lambda: builder.has_text,
        forget=lambda: builder.replace_tool_calls(()),
        fallback=fallback,
    )


def _reading(seams: CallSeams, builder: ReplyBuilder) -> Callable[[Any], None]:
    """What is done with every event of a stream, whichever client it comes from."""
    feed, touch, is_interrupted = seams.dialect().feed, seams.touch(), seams.is_interrupted

    def on_event(event: Any) -> None:
        touch(RECEIVING)
        if is_interrupted():
            raise Interrupted("The turn was interrupted.")
        feed(event, builder)

    return on_event


def _reading_text(seams: CallSeams, builder: ReplyBuilder) -> Callable[[str], None]:
    """The same for text that our own client has already cut out of its events."""
    touch, is_interrupted, add_text = seams.touch(), seams.is_interrupted, builder.add_text

    def on_text(piece: str) -> None:
        touch(RECEIVING)
        if is_interrupted():
            raise Interrupted("The turn was interrupted.")
        add_text(piece)

    return on_text


def _what_there_is(seams: CallSeams, builder: ReplyBuilder, failure: Failure) -> Reply:
    """The stream broke after text was shown: keep the text, and say what was lost."""
    warning = ""
    if builder.tool_names:
        lost = ", ".join(dict.fromkeys(builder.tool_names))
        warning = f"\n\n⚠ Stream stalled mid tool-call ({lost}); the action was not executed."
        seams.on_text()(warning)
    reply = builder.build()
    text = (reply.text or "") + warning
    return replace(reply, text=text, tool_calls=(), error=failure.message)


class _Clock:
    """Begins with a request, and reports how it went."""

    def __init__(self, seams: CallSeams) -> None:
        self._report = seams.called
        self._started = time.monotonic()

    def answered(self, reply: Reply) -> Reply:
        self._tell("ok", reply.usage)
        return reply

    def stopped(self) -> None:
        self._tell("interrupted")

    def failed(self, error: Exception) -> Failure:
        failure = classify(error)
        self._tell(failure.kind.value)
        return failure

    def _tell(self, outcome: str, usage: Usage | None = None) -> None:
        self._report(outcome, time.monotonic() - self._started, usage)


class _Delivery:
    """Passes what arrives on to the agent's callbacks, and tells once that something has."""

    def __init__(self, seams: CallSeams, on_first: Callable[[], None] | None = None) -> None:
        self._on_text = seams.on_text()
        self._on_reasoning = seams.on_reasoning()
        self._on_first = on_first
        self._has_think_tags = seams.dialect().api_mode == "chat_completions"
        self.is_muted = False

    def builder(self) -> ReplyBuilder:
        """For one attempt; what mutes it ends with it."""
        self.is_muted = False
        return ReplyBuilder(
            on_text=self._text,
            on_reasoning=self._reasoning,
            has_think_tags=self._has_think_tags,
        )

    def _text(self, piece: str) -> None:
        if self._on_first is not None:
            self._tell_first()
        if not self.is_muted:
            self._on_text(piece)

    def _reasoning(self, piece: str) -> None:
        if self._on_first is not None:
            self._tell_first()
        if not self.is_muted:
            self._on_reasoning(piece)

    def _tell_first(self) -> None:
        on_first, self._on_first = self._on_first, None
        if on_first is not None:
            on_first()
