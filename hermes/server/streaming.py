"""Writing a turn's events to a client while they happen.

One wake-up takes everything that is ready, one write sends it. When the client goes away the
turn is stopped; whatever way a turn ends, the stream ends with its terminal event.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable, Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from typing import Any, Protocol

from aiohttp import web

from hermes.core.events import Event, Idle, Laws, TextDelta, TurnEnded
from hermes.core.turn import Outcome, TurnResult
from hermes.runs.feed import EventSource, Item
from hermes.runs.turns import LiveTurn, interrupt

log = logging.getLogger(__name__)

CLIENT_LEFT = "SSE client disconnected"

Write = Callable[[bytes], Awaitable[None]]
Hook = Callable[[], Awaitable[object]]

SSE_HEADERS = {
    "Content-Type": "text/event-stream; charset=utf-8",
    "Cache-Control": "no-cache",
    "X-Accel-Buffering": "no",
}


def _nothing() -> None:
    """For a view that holds nothing."""


def _just_now(result: TurnResult) -> tuple[TurnEnded, float | None]:
    """For a turn without a log."""
    return TurnEnded(result), None


class Encoder(Protocol):
    """Turns events into whole SSE frames; empty bytes for what its wire does not show."""

    def encode(self, event: Event, at: float | None = None) -> bytes: ...


@dataclass(frozen=True, slots=True, kw_only=True)
class TurnView:
    """What a writer needs of a running turn."""

    source: EventSource
    task: asyncio.Future[Any]
    read_result: Callable[[Any], TurnResult]
    interrupt: Callable[[str], None]
    leave: Hook | None = None
    """What happens when the reader goes before the end; None: the turn is stopped."""
    close: Callable[[], None] = _nothing
    """The reader is done, whichever way."""
    ending: Callable[[TurnResult], tuple[TurnEnded, float | None]] = _just_now
    """The event that ends the stream, and when it happened, by its log; None: now."""
    is_logged: bool = False
    """Whether events come from a log: each is then shown as it is there, so that whoever reads it
    again sees the same."""


def view_of(turn: LiveTurn) -> TurnView:
    """A turn that was started here, as a writer sees it."""
    return TurnView(
        source=turn.feed,
        task=turn.task,
        read_result=lambda result: result,
        interrupt=lambda reason: interrupt(turn.agent_ref, reason),
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class Stream:
    """How a turn is to be written."""

    encoder: Encoder
    opening: Iterable[bytes]
    keepalive: float
    headers: Mapping[str, str]
    on_opened: Hook | None = None
    before_end: Callable[[TurnResult], Awaitable[None]] | None = None
    """Runs between the last event and the terminal one, so that what the terminal event promises
    (a stored response) is true when the client reads it."""
    on_asking: Callable[[TurnResult], Awaitable[None]] | None = None
    """The same for a turn that ends with a question, and only then."""
    on_left: Hook | None = None


async def write_stream(request: web.Request, view: TurnView, stream: Stream) -> web.StreamResponse:
    """Write a whole turn to the client. A client that leaves stops the turn."""
    response = web.StreamResponse(status=200, headers={**SSE_HEADERS, **stream.headers})
    try:
        await response.prepare(request)
        await write_turn(response.write, view, stream)
    except OSError:
        await left(view, stream)
    except asyncio.CancelledError:
        await left(view, stream)
        raise
    except Exception:
        # The answer has begun: an error envelope would end up in the middle of it.
        log.exception("stream broken off")
        await left(view, stream)
    finally:
        view.close()
    return response


async def write_turn(write: Write, view: TurnView, stream: Stream) -> None:
    """Everything from the opening to the terminal event, to whatever `write` leads to."""
    for frame in stream.opening:
        await write(frame)
    if stream.on_opened is not None:
        await stream.on_opened()
    frames = await pump(
        view.source, stream.encoder, write, stream.keepalive, is_logged=view.is_logged
    )
    if frames and stream.before_end is not None:
        # What is stored at the end may take a moment; the client need not wait for the text.
        await write(frames)
        frames = b""
    result = await result_of(view)
    ending = stream.encoder.encode(*view.ending(result))
    if stream.before_end is not None:
        await stream.before_end(result)
    if stream.on_asking is not None and result.outcome is Outcome.ASKING:
        await stream.on_asking(result)
    await write(frames + ending)


async def left(view: TurnView, stream: Stream) -> None:
    """Stop a turn whose reader is gone, if nobody wants otherwise, and keep what there is."""
    await (abandon(view) if view.leave is None else view.leave())
    if stream.on_left is not None:
        await stream.on_left()


async def pump(
    source: EventSource,
    encoder: Encoder,
    write: Write,
    keepalive: float,
    *,
    is_logged: bool = False,
) -> bytes:
    """Write events until the feed ends; the frames of the last burst are left to the caller."""
    laws = Laws()
    encoded = _each_encoded if is_logged else _encoded
    heartbeat = Heartbeat(source.put, keepalive)
    try:
        while True:
            burst = await source.take()
            frames = encoded(burst, encoder.encode, laws)
            if burst[-1] is None:
                return frames
            if frames:
                await write(frames)
                heartbeat.reset()
    finally:
        heartbeat.stop()


def _each_encoded(burst: list[Item], encode: Callable[[Event], bytes], _laws: Laws) -> bytes:
    """The frames of events from a log, which holds none but lawful ones."""
    return b"".join(encode(item) for item in burst if item is not None)


def _encoded(burst: list[Item], encode: Callable[[Event], bytes], laws: Laws) -> bytes:
    """The frames of everything that happened at once. Text in a row becomes one delta.

    Tokens that arrive together are shown together: nothing is held back, and a stream that is
    faster than its reader costs one frame per burst instead of one per token.
    """
    first = burst[0]
    if len(burst) == 1 and isinstance(first, TextDelta) and first.text:
        return encode(first)  # a stream at the pace of a model: one token, one burst
    frames: list[bytes] = []
    texts: list[str] = []
    for item in burst:
        if isinstance(item, TextDelta):
            texts.append(item.text)
            continue
        frames.append(_encoded_text(texts, encode))
        texts.clear()
        if item is not None and laws.admits(item):
            frames.append(encode(item))
    frames.append(_encoded_text(texts, encode))
    return b"".join(frames)


def _encoded_text(texts: list[str], encode: Callable[[Event], bytes]) -> bytes:
    text = "".join(texts)
    return encode(TextDelta(text)) if text else b""


async def result_of(view: TurnView) -> TurnResult:
    """What came of the turn; an agent that raised is a failed turn, not a broken stream."""
    try:
        return view.read_result(await view.task)
    except Exception as error:  # an agent may raise anything
        log.exception("the agent raised")
        return TurnResult(outcome=Outcome.FAILED, error=str(error) or type(error).__name__)


async def abandon(view: TurnView, reason: str = CLIENT_LEFT) -> None:
    """Stop a turn nobody watches any more; returns when its task has ended."""
    view.interrupt(reason)
    if view.task.done():
        return
    view.task.cancel()
    with suppress(asyncio.CancelledError, Exception):
        await view.task


class Heartbeat:
    """Puts an `Idle` somewhere when nothing was written for a while."""

    def __init__(self, put: Callable[[Event], None], seconds: float) -> None:
        self._put = put
        self._seconds = seconds
        self._loop = asyncio.get_running_loop()
        self._last_write = self._loop.time()
        self._timer = self._loop.call_later(seconds, self._tick)

    def reset(self) -> None:
        # The timer is not moved for every write; it looks here when it fires.
        self._last_write = self._loop.time()

    def stop(self) -> None:
        self._timer.cancel()

    def _tick(self) -> None:
        silent_for = self._loop.time() - self._last_write
        if silent_for >= self._seconds:
            self._put(Idle())
            silent_for = 0.0
        self._timer = self._loop.call_later(self._seconds - silent_for, self._tick)
