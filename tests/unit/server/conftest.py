"""A served application over fake seams, and a client for it."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import AsyncExitStack
from pathlib import Path
from typing import Any, Protocol

import pytest
from aiohttp.test_utils import TestClient, TestServer

from hermes.server.application import build_application
from hermes.server.seams import Seams
from hermes.settings.model import ListenerSettings
from tests.unit.server.fakes import FakeTurns, fake_seams


class Serve(Protocol):
    async def __call__(
        self, turns: FakeTurns | None = None, *, key: str = "", **changes: Any
    ) -> TestClient[Any, Any]:
        """Serve every route; `changes` replace seams."""


@pytest.fixture
async def serve(tmp_path: Path) -> AsyncIterator[Serve]:
    async with AsyncExitStack() as stack:

        async def start(
            turns: FakeTurns | None = None, *, key: str = "", **changes: Any
        ) -> TestClient[Any, Any]:
            seams = fake_seams(tmp_path, turns or FakeTurns(), key=key, **changes)
            stack.callback(seams.storage.close)
            for store in _stores(seams):
                if hasattr(store, "close"):
                    stack.callback(store.close)
            listener = ListenerSettings(key=key, max_body_bytes=10_000)
            server = TestServer(build_application(seams, listener), handler_cancellation=True)
            headers = {"Authorization": f"Bearer {key}"} if key else {}
            return await stack.enter_async_context(TestClient(server, headers=headers))

        yield start


def _stores(seams: Seams) -> list[Any]:
    return [
        seams.sessions(),
        seams.responses(),
        seams.chats(),
        seams.runs_store(),
        seams.memories(),
    ]
