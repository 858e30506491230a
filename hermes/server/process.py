"""The life of a gateway process on its event loop: listen, report, drain on a signal, close."""

from __future__ import annotations

import asyncio
import logging
import signal
from collections.abc import Awaitable, Callable
from contextlib import suppress
from dataclasses import dataclass
from functools import partial

from aiohttp import web

from hermes.core.errors import SettingsError
from hermes.runs.turns import RunningTurns
from hermes.server.stalled import StallWatch, transports_of
from hermes.settings.model import ListenerSettings

log = logging.getLogger(__name__)

SIGNALS = (signal.SIGTERM, signal.SIGINT)
STATUS_SECONDS = 2.0
CLOSE_SECONDS = 3.0
BACKLOG = 1024


@dataclass(frozen=True, slots=True, kw_only=True)
class Service:
    """What is served, and who wants to know how it goes."""

    application: web.Application
    listener: ListenerSettings
    running: RunningTurns
    on_ready: Callable[[str], None]
    """Called once with the URL when requests are answered."""
    report: Callable[[str, int], Awaitable[None]]
    """Called with the state (running, draining, stopped) and the number of running turns."""
    close: Callable[[], Awaitable[None]]
    stalled_write_seconds: float
    """A client that reads nothing for so long is cut off."""


async def serve(service: Service) -> None:
    """Serve until SIGTERM or SIGINT; running turns get their time, then everything is closed."""
    runner = web.AppRunner(
        service.application,
        access_log=None,
        # What is not HTTP at all is answered by the framework, and is nobody's trace to read.
        logger=_silent(),
        # A client that leaves cancels its handler at once, so that its turn can be stopped.
        handler_cancellation=True,
        shutdown_timeout=CLOSE_SECONDS,
        # Longer than the pools of common clients and proxies keep a connection.
        keepalive_timeout=90.0,
    )
    await runner.setup()
    stop = _stop_signals()
    stall_watch = StallWatch(partial(transports_of, runner), service.stalled_write_seconds)
    stall_watch.start()
    try:
        url = await _listen(runner, service.listener)
        await service.report("running", 0)
        service.on_ready(url)
        await _watch(service, stop)
        await _drain(service)
    finally:
        stall_watch.stop()
        await runner.cleanup()
        await service.report("stopped", 0)
        await service.close()


def _silent() -> logging.Logger:
    logger = logging.getLogger("hermes.server.protocol")
    logger.setLevel(logging.CRITICAL)
    return logger


def _stop_signals() -> asyncio.Event:
    stop = asyncio.Event()
    for number in SIGNALS:
        asyncio.get_running_loop().add_signal_handler(number, stop.set)
    return stop


async def _listen(runner: web.AppRunner, listener: ListenerSettings) -> str:
    site = web.TCPSite(runner, listener.host, listener.port, backlog=BACKLOG)
    try:
        await site.start()
    except OSError as error:
        found = f"{listener.host}:{listener.port}"
        allowed = f"an address and port that are free here ({error.strerror or error})"
        raise SettingsError("server.host and server.port", found, allowed) from error
    address = runner.addresses[0]
    host = f"[{address[0]}]" if ":" in address[0] else address[0]
    return f"http://{host}:{address[1]}"


async def _watch(service: Service, stop: asyncio.Event) -> None:
    """Keep the written status true until somebody asks us to stop."""
    reported = 0
    while not stop.is_set():
        with suppress(TimeoutError):
            await asyncio.wait_for(stop.wait(), STATUS_SECONDS)
        if len(service.running) != reported:
            reported = len(service.running)
            await service.report("running", reported)


async def _drain(service: Service) -> None:
    log.info("draining", extra={"turns": len(service.running)})
    # The second signal does not wait for anybody; whoever reads "draining" may send it.
    for number in SIGNALS:
        asyncio.get_running_loop().add_signal_handler(number, service.running.hurry)
    service.running.refuse_new()  # before anybody reads that it is so
    await service.report("draining", len(service.running))
    await service.running.drain(service.listener.drain_seconds)
