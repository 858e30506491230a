"""Web servers on loopback that answer as a test wants, and name servers that say what it wants."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Mapping
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass, field

from aiohttp import web

PNG = b"\x89PNG\r\n\x1a\n" + bytes(100)

Answer = Callable[[web.Request], Awaitable[web.StreamResponse]]


@dataclass(slots=True)
class Site:
    """A web server, and what it was asked."""

    port: int
    requests: list[web.Request] = field(default_factory=list)

    def url(self, host: str = "127.0.0.1", path: str = "/cat.png") -> str:
        return f"http://{host}:{self.port}{path}"


@asynccontextmanager
async def serving(answer: Answer) -> AsyncIterator[Site]:
    site = Site(port=0)

    async def handle(request: web.Request) -> web.StreamResponse:
        site.requests.append(request)
        return await answer(request)

    application = web.Application()
    application.router.add_get("/{path:.*}", handle)
    runner = web.AppRunner(application, access_log=None, handler_cancellation=True)
    await runner.setup()
    await web.TCPSite(runner, "127.0.0.1", 0).start()
    site.port = runner.addresses[0][1]
    try:
        yield site
    finally:
        await runner.cleanup()


@contextmanager
def serving_in_thread(answer: Answer) -> Iterator[int]:
    """The port of a server whose loop is elsewhere, for code that blocks."""
    loop, ports, ready = asyncio.new_event_loop(), list[int](), threading.Event()
    done = asyncio.Event()

    async def serve() -> None:
        async with serving(answer) as site:
            ports.append(site.port)
            ready.set()
            await done.wait()

    thread = threading.Thread(target=lambda: loop.run_until_complete(serve()), daemon=True)
    thread.start()
    assert ready.wait(10)
    try:
        yield ports[0]
    finally:
        loop.call_soon_threadsafe(done.set)
        thread.join()
        loop.close()


def giving(
    data: bytes = PNG,
    media_type: str = "image/png",
    *,
    status: int = 200,
    headers: Mapping[str, str] | None = None,
) -> Answer:
    async def answer(_: web.Request) -> web.StreamResponse:
        return web.Response(body=data, content_type=media_type, status=status, headers=headers)

    return answer


def redirecting(to: str) -> Answer:
    async def answer(_: web.Request) -> web.StreamResponse:
        return web.Response(status=302, headers={"Location": to})

    return answer


class Names:
    """Look-ups with prepared answers, the last of which is repeated."""

    def __init__(self, *answers: list[str]) -> None:
        self.asked: list[str] = []
        self._answers = list(answers)

    async def __call__(self, host: str) -> list[str]:
        self.asked.append(host)
        return self._answers.pop(0) if len(self._answers) > 1 else self._answers[0]
