"""An answer while it is written: what the run says becomes the events of a chat stream."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any

from hermes.backends.bridge.answers import refusal
from hermes.backends.bridge.chat import HEARTBEAT, Completion, failure_event
from hermes.backends.bridge.outcome import Outcome
from hermes.backends.bridge.places import until_done
from hermes.backends.bridge.running import Listener
from hermes.backends.saying import Event, MessageEnded, Said
from hermes.core.errors import ApiError

HEARTBEAT_SECONDS = 15.0
"""Tools may run for long without a word; proxies on the way to the client get impatient."""

Write = Callable[[bytes], Awaitable[None]]


class _Pieces:
    """What was said and is not yet written."""

    def __init__(self) -> None:
        self._texts: list[str] = []
        self._news = asyncio.Event()
        self._is_between_messages = False
        self._has_text = False

    def hear(self, event: Event) -> None:
        match event:
            case Said(text) if text:
                gap = "\n\n" if self._is_between_messages and self._has_text else ""
                self._is_between_messages = False
                self.add(gap + text)
            case MessageEnded():
                self._is_between_messages = True
            case _:
                pass

    def add(self, text: str) -> None:
        if text:
            self._has_text = True
            self._texts.append(text)
            self._news.set()

    async def wait(self) -> None:
        await self._news.wait()

    def take(self) -> str:
        self._news.clear()
        text = "".join(self._texts)
        self._texts.clear()
        return text


async def relay(
    run: Callable[[Listener], Awaitable[Outcome]],
    completion: Completion,
    write: Write,
    *,
    wants_usage: bool,
) -> None:
    """Write the answer as it comes. Raises `ApiError` only while nothing is written.

    When it is cancelled, the run is over before it ends.
    """
    pieces = _Pieces()
    running = asyncio.ensure_future(run(Listener(event=pieces.hear)))
    has_begun = False
    try:
        while await _news(pieces, running):
            text = pieces.take()
            opening = b"" if has_begun else completion.first()
            has_begun = True
            await write(opening + (completion.piece(text) if text else HEARTBEAT))
        outcome = await running
    except ApiError as error:
        if not has_begun:
            raise
        await write(failure_event(refusal(error).body))
        return
    finally:
        running.cancel()
        await until_done(running)
    await write(_end(outcome, pieces, completion, has_begun=has_begun, wants_usage=wants_usage))


async def _news(pieces: _Pieces, running: asyncio.Future[Outcome]) -> bool:
    """Wait for a piece, or long enough; whether the run goes on."""
    waiting = asyncio.ensure_future(pieces.wait())
    either: set[asyncio.Future[Any]] = {waiting, running}
    try:
        await asyncio.wait(either, timeout=HEARTBEAT_SECONDS, return_when=asyncio.FIRST_COMPLETED)
    finally:
        waiting.cancel()
    return not running.done()


def _end(
    outcome: Outcome,
    pieces: _Pieces,
    completion: Completion,
    *,
    has_begun: bool,
    wants_usage: bool,
) -> bytes:
    pieces.add(outcome.ending.unsaid)
    text = pieces.take()
    opening = b"" if has_begun else completion.first()
    rest = completion.piece(text) if text else b""
    return opening + rest + completion.last(outcome, wants_usage=wants_usage)
