"""The yardstick: the least an aiohttp server can do between a client and a provider.

Forwards the body as it came and the answer byte for byte; it parses, checks and remembers nothing.
"""

from __future__ import annotations

import argparse
from collections.abc import AsyncIterator

import uvloop
from aiohttp import ClientSession, TCPConnector, web

_SESSION = web.AppKey("session", ClientSession)
_TARGET = web.AppKey("target", str)


async def forward(request: web.Request) -> web.StreamResponse:
    body = await request.read()
    headers = {"Content-Type": "application/json", "Authorization": "Bearer bench"}
    target = request.app[_TARGET]
    async with request.app[_SESSION].post(target, data=body, headers=headers) as upstream:
        answer = web.StreamResponse(status=upstream.status)
        answer.content_type = upstream.content_type
        answer.content_length = upstream.content_length
        await answer.prepare(request)
        async for data in upstream.content.iter_any():
            await answer.write(data)
        await answer.write_eof()
    return answer


async def health(request: web.Request) -> web.Response:
    return web.json_response({"status": "ok"})


async def _open_session(app: web.Application) -> AsyncIterator[None]:
    # No limit on connections: a slow stream must never wait for another one to end.
    async with ClientSession(connector=TCPConnector(limit=0)) as session:
        app[_SESSION] = session
        yield


def build(upstream_url: str) -> web.Application:
    app = web.Application()
    app[_TARGET] = f"{upstream_url}/chat/completions"
    app.cleanup_ctx.append(_open_session)
    app.router.add_post("/v1/chat/completions", forward)
    app.router.add_get("/health", health)
    return app


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m bench.relay", description=__doc__)
    parser.add_argument("--port", type=int, required=True)
    parser.add_argument("--upstream", required=True, help="base URL of the provider, with /v1")
    options = parser.parse_args()
    web.run_app(
        build(options.upstream),
        host="127.0.0.1",
        port=options.port,
        access_log=None,
        print=None,
        backlog=1024,
        loop=uvloop.new_event_loop(),
    )


if __name__ == "__main__":
    main()
