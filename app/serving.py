"""The bridge as a process: uvicorn around `app.main`, until SIGTERM or Ctrl-C."""

from __future__ import annotations

import contextlib
import logging
import socket
from collections.abc import Callable

from app import main

try:
    import uvicorn
except ModuleNotFoundError as missing:
    need = "The bridge needs uvicorn; install it with: pip install 'hermes-gateway[bridge]'"
    raise ModuleNotFoundError(need, name=missing.name) from missing

GRACE_SECONDS = 5
"""For requests that are being answered when the bridge is stopped; jobs end at once then."""


class _Server(uvicorn.Server):
    def __init__(self, config: uvicorn.Config, on_ready: Callable[[str], None]) -> None:
        super().__init__(config)
        self._on_ready = on_ready

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup(sockets)
        if self.started:
            host, port = self.servers[0].sockets[0].getsockname()[:2]
            self._on_ready(f"http://{f'[{host}]' if ':' in host else host}:{port}")


def serve(host: str, port: int, on_ready: Callable[[str], None]) -> None:
    """Serve the bridge; `on_ready` is told its URL. All runs have ended when this returns."""
    config = uvicorn.Config(
        main.app,
        host=host,
        port=port,
        lifespan="on",
        log_config=None,
        timeout_graceful_shutdown=GRACE_SECONDS,
    )
    # It tells of every step of its start, for people who see no banner.
    logging.getLogger("uvicorn.error").setLevel(logging.WARNING)
    with contextlib.suppress(KeyboardInterrupt):
        _Server(config, on_ready).run()
