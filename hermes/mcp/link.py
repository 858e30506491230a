"""The link to one server: kept up, mended when it breaks, and used by any number of calls.

All of it runs on the event loop of `hermes.mcp.servers`.
"""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Callable
from contextlib import AbstractAsyncContextManager, suppress
from dataclasses import dataclass, replace
from pathlib import Path
from random import SystemRandom
from typing import TYPE_CHECKING

from hermes.core.remote_tools import (
    RemoteAnswer,
    RemoteCall,
    RemoteTool,
    ServerState,
    ServerStatus,
)
from hermes.mcp.last_words import LastWords
from hermes.mcp.offering import Call, offered
from hermes.mcp.outcomes import CallFailed, Lost, NotSent, TookTooLong
from hermes.mcp.results import answer_of
from hermes.mcp.troubles import trouble
from hermes.settings.mcp_settings import McpServerSettings

if TYPE_CHECKING:
    from hermes.mcp.connection import Connection, Occasion

log = logging.getLogger(__name__)

LONGEST_PAUSE = 60.0
STEADY_SECONDS = 30.0
"""After so long a connection counts as good, and the next pause is a short one again."""
PATIENCE_SECONDS = 10.0
"""How long a call waits for a server that is away."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Wiring:
    """What a link is given by whoever keeps it."""

    connect: Callable[[Occasion], AbstractAsyncContextManager[Connection]]
    occasion: type[Occasion]
    environment: dict[str, str]
    folder: Path
    call: Callable[[ServerLink, str, RemoteCall], RemoteAnswer]
    """How tools reach this loop from the threads they run in."""
    on_change: Callable[[], None]
    """The tools of a link are not what they were."""
    first_pause: float


class ServerLink:
    def __init__(self, settings: McpServerSettings, wiring: Wiring) -> None:
        self.settings = settings
        self.state = ServerState(name=settings.name, status=ServerStatus.CONNECTING)
        self.tools: tuple[RemoteTool, ...] = ()
        """The last known ones: they stay while a server is away, and say so when they are used."""
        self.tried = asyncio.Event()
        """Set once it is known whether the server can be reached."""
        self._wiring = wiring
        self._connection: Connection | None = None
        self._is_up = asyncio.Event()
        self._is_broken = asyncio.Event()
        self._is_stale = asyncio.Event()
        self._is_wanted = asyncio.Event()
        self._failures = 0

    # --- keeping it up ------------------------------------------------------------------------

    async def keep(self) -> None:
        """Until it is cancelled."""
        while True:
            began = time.monotonic()
            error, occasion = await self._attempt()
            if time.monotonic() - began > STEADY_SECONDS:
                self._failures = 0
            self._failures += 1
            self._is_away(
                trouble(
                    self.settings,
                    error,
                    statuses=occasion.statuses,
                    last_words=occasion.words.line,
                )
            )
            await self._pause()

    async def _attempt(self) -> tuple[BaseException | None, Occasion]:
        """Connect and stay connected for as long as it lasts."""
        self._is_broken.clear()
        occasion = self._wiring.occasion(
            settings=self.settings,
            environment=self._wiring.environment,
            folder=self._wiring.folder,
            # Some servers of the older protocol give up when they are asked for the newer one.
            mode="auto" if self._failures % 2 == 0 else "legacy",
            on_change=self._is_stale.set,
            on_end=self._is_broken.set,
            words=LastWords(self.settings.name),
            statuses=[],
        )
        try:
            await self._connected(occasion)
        except Exception as error:  # noqa: BLE001  the SDK, and through it anybody's server
            return error, occasion
        return None, occasion

    async def _connected(self, occasion: Occasion) -> None:
        async with asyncio.timeout(self.settings.connect_timeout_seconds) as patience:
            async with self._wiring.connect(occasion) as connection:
                await self._list(connection)
                patience.reschedule(None)
                self._connection = connection
                self._is_up.set()
                try:
                    await self._serve(connection)
                finally:
                    self._connection = None
                    self._is_up.clear()

    async def _serve(self, connection: Connection) -> None:
        followed = asyncio.create_task(connection.follow_changes(self._is_stale.set))
        relisted = asyncio.create_task(self._keep_list(connection))
        try:
            await self._is_broken.wait()
        finally:
            for task in (followed, relisted):
                task.cancel()
            await asyncio.gather(followed, relisted, return_exceptions=True)

    async def _keep_list(self, connection: Connection) -> None:
        while True:
            await self._is_stale.wait()
            self._is_stale.clear()
            try:
                async with asyncio.timeout(self.settings.connect_timeout_seconds):
                    await self._list(connection)
            except Exception as error:  # noqa: BLE001  the SDK, and through it anybody's server
                log.warning(
                    "the tools of an MCP server could not be listed again",
                    extra={"server": self.settings.name, "why": trouble(self.settings, error)},
                )

    async def _list(self, connection: Connection) -> None:
        self._is_stale.clear()
        listed = offered(self.settings, await connection.tools(), self._call())
        self.tools = self.tools if listed == self.tools else listed
        self._tell(ServerStatus.CONNECTED)
        log.info(
            "MCP server connected",
            extra={"server": self.settings.name, "tools": len(self.tools)},
        )

    def _call(self) -> Call:
        return lambda name, wish: self._wiring.call(self, name, wish)

    def _is_away(self, problem: str) -> None:
        if self.state.problem != problem:
            log.warning(
                "MCP server not reachable", extra={"server": self.settings.name, "why": problem}
            )
        self._tell(ServerStatus.UNREACHABLE, problem)

    def _tell(self, status: ServerStatus, problem: str = "") -> None:
        self.state = replace(self.state, status=status, problem=problem, tools=len(self.tools))
        self.tried.set()
        self._wiring.on_change()

    async def _pause(self) -> None:
        """Longer each time; shorter when somebody wants to make a call."""
        self._is_wanted.clear()
        longest = min(self._wiring.first_pause * 2.0 ** (self._failures - 1), LONGEST_PAUSE)
        # Not all at once after a network outage; no cryptography needed.
        jitter = SystemRandom().uniform(0.5, 1.0)
        await asyncio.sleep(self._wiring.first_pause * jitter)
        with suppress(TimeoutError):
            async with asyncio.timeout((longest - self._wiring.first_pause) * jitter):
                await self._is_wanted.wait()

    # --- using it -----------------------------------------------------------------------------

    async def answer(self, name: str, wish: RemoteCall) -> RemoteAnswer:
        """Never raises. A call that the server has not seen is made once more."""
        try:
            return await self._asked(name, wish)
        except NotSent:
            self._is_broken.set()
        try:
            return await self._asked(name, wish)
        except NotSent:
            return self._problem("cannot be reached now, so this was not done. Try it later.")

    async def _asked(self, name: str, wish: RemoteCall) -> RemoteAnswer:
        connection = await self._current()
        if connection is None:
            why = f" ({self.state.problem})" if self.state.problem else ""
            return self._problem(
                f"cannot be reached now{why}, so this was not done. Do it another way, or tell "
                "the user."
            )
        try:
            return answer_of(
                await connection.call(
                    name,
                    wish.arguments,
                    timeout=self.settings.timeout_seconds,
                    report=wish.report,
                )
            )
        except NotSent:
            raise
        except CallFailed as failed:
            return self._failed(failed)

    def _failed(self, failed: CallFailed) -> RemoteAnswer:
        if isinstance(failed, TookTooLong):
            return self._problem(
                f"gave no answer within {self.settings.timeout_seconds:g} seconds and was told to "
                "stop; what it did so far is unknown. Check the state before you try again."
            )
        if isinstance(failed, Lost):
            return self._problem(
                "broke off in the middle of the call; what it did so far is unknown. Check the "
                "state before you try again."
            )
        return self._problem(f"refused the call: {failed}")

    def _problem(self, said: str) -> RemoteAnswer:
        return RemoteAnswer(text=f"The MCP server {self.settings.name} {said}", is_problem=True)

    async def _current(self) -> Connection | None:
        """The connection, if need be after waiting for it a while."""
        if self._connection is not None and not self._is_broken.is_set():
            return self._connection
        self._is_wanted.set()
        patience = min(self.settings.connect_timeout_seconds, PATIENCE_SECONDS)
        with suppress(TimeoutError):
            async with asyncio.timeout(patience):
                while self._connection is None or self._is_broken.is_set():
                    self._is_up.clear()
                    await self._is_up.wait()
        return self._connection
