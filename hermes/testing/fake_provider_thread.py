"""The fake provider in a thread of its own, for tests that have no event loop."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Coroutine
from types import TracebackType
from typing import Any, Self

from hermes.testing.fake_provider import FakeProvider
from hermes.testing.scripted import Model

_GRACE = 5.0


class FakeProviderThread:
    """A `with` block in which `base_url` answers. May be used from any thread."""

    def __init__(self, model: Model, *, port: int = 0) -> None:
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(
            target=self._loop.run_forever, name="fake-provider", daemon=True
        )
        self._provider = FakeProvider(model, port=port)

    def __enter__(self) -> Self:
        self._thread.start()
        try:
            self._run(self._provider.__aenter__(), _GRACE)
        except BaseException:
            self._stop()
            raise
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        try:
            self._run(self._provider.__aexit__(kind, error, trace), _GRACE)
        finally:
            self._stop()

    @property
    def origin(self) -> str:
        return self._provider.origin

    @property
    def base_url(self) -> str:
        return self._provider.base_url

    @property
    def requests_seen(self) -> int:
        return self._provider.requests_seen

    @property
    def disconnects(self) -> int:
        return self._provider.disconnects

    @property
    def open_connections(self) -> int:
        return self._provider.open_connections

    @property
    def connections_made(self) -> int:
        return self._provider.connections_made

    def wait_for_requests(self, count: int = 1, within: float = 5.0) -> None:
        """Return once `count` requests have arrived, or raise `TimeoutError`."""
        self._run(self._provider.wait_for_requests(count, within), within + _GRACE)

    def wait_for_disconnects(self, count: int = 1, within: float = 1.0) -> None:
        """Return once `count` clients have left, or raise `TimeoutError`."""
        self._run(self._provider.wait_for_disconnects(count, within), within + _GRACE)

    def _run(self, work: Coroutine[Any, Any, Any], timeout: float) -> Any:
        return asyncio.run_coroutine_threadsafe(work, self._loop).result(timeout)

    def _stop(self) -> None:
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join(_GRACE)
        self._loop.close()
