"""`hermes mcp`: the agent as an MCP server on standard input and output.

It speaks for a gateway: the one that runs on this home, the one it is told of, or else one that it
starts itself, for as long as its client is there.
"""

from __future__ import annotations

import asyncio
import signal
import sys
from dataclasses import replace

import aiohttp
import click

import gateway.run
from hermes.core.errors import AlreadyRunning, HermesError
from hermes.mcp import sdk
from hermes.server.loops import new_event_loop
from hermes.settings.home_lock import HomeLock, announced_url
from hermes.settings.logs import configure_logging
from hermes.settings.model import LogSettings, Settings
from hermes.settings.paths import ensure_private_dir, lock_file
from hermes.settings.secrecy import hide_process_environment
from hermes_cli.gateway_process import run_gateway
from hermes_cli.standard_streams import claimed_streams

CHECK_SECONDS = 10.0


@click.command()
@click.option("--url", help="Speak for the gateway at this URL, with the key of API_SERVER_KEY.")
@click.option("--model", help="The provider's model to use, like HERMES_MODEL.")
@click.option("--workspace", type=click.Path(file_okay=False), help="Folder the tools work in.")
def mcp(url: str | None, model: str | None, workspace: str | None) -> None:
    """Serve the agent to an MCP client, over stdin and stdout.

    For clients that start their servers themselves. If a gateway runs on this home, its agent
    answers; otherwise one is started, on a free port of this machine, until the client leaves.
    """
    if not sdk.is_installed():
        raise HermesError(sdk.MISSING)
    here = {"listener.host": "127.0.0.1", "listener.port": 0}
    settings = gateway.run.settings_source.pin(
        {**here, "agent.model": model, "agent.workspace": workspace}
    )
    configure_logging(_log_settings(settings), sys.stderr, secrets=settings.secrets)
    hide_process_environment()
    with asyncio.Runner(loop_factory=new_event_loop) as runner:
        runner.run(_relay(url, settings) if url else _relay_here(settings))


async def _relay_here(settings: Settings) -> None:
    ensure_private_dir(settings.home)
    path = lock_file(settings.home)
    try:
        with HomeLock(path) as lock:
            await _serve_and_relay(settings, lock)
    except AlreadyRunning:
        url = announced_url(path)
        if not url:
            raise
        await _relay(url, settings)


async def _serve_and_relay(settings: Settings, lock: HomeLock) -> None:
    relaying: list[asyncio.Task[None]] = []
    failures: list[BaseException] = []

    def on_ready(url: str, _model_name: str) -> None:
        lock.announce(url)
        task = asyncio.get_running_loop().create_task(_relay(url, settings))
        relaying.append(task)
        # The gateway ends as it always does: running turns get their time, then all is closed.
        task.add_done_callback(lambda _task: signal.raise_signal(signal.SIGTERM))

    def on_end() -> None:
        """Only what went wrong before counts: a relay whose gateway is closed can but fail."""
        ended = (task for task in relaying if task.done() and not task.cancelled())
        failures.extend(error for task in ended if (error := task.exception()) is not None)

    await run_gateway(settings, on_ready, on_end)
    for task in relaying:
        task.cancel()
        await asyncio.wait([task])
        if not task.cancelled():
            task.exception()  # looked at, so that nobody is told it was not
    if failures:
        raise failures[0]


async def _relay(url: str, settings: Settings) -> None:
    headers = _headers(settings)
    await _check(url, headers)
    relay = (await asyncio.to_thread(sdk.load, "hermes.mcp.relay")).relay
    stdin, stdout = await claimed_streams()
    try:
        await relay(f"{url.rstrip('/')}/mcp", headers, stdin, stdout)
    except Exception as error:  # the SDK wraps what the network raises
        raise HermesError(f"The gateway at {url} went away; start it again.") from error
    finally:
        stdout.close()


def _headers(settings: Settings) -> dict[str, str]:
    listener = settings.listener
    key = listener.key or next((named.key for named in listener.keys), "")
    return {"Authorization": f"Bearer {key}"} if key else {}


async def _check(url: str, headers: dict[str, str]) -> None:
    """A client would be told next to nothing of a refusal, so it is found out before."""
    timeout = aiohttp.ClientTimeout(total=CHECK_SECONDS)
    try:
        async with (
            aiohttp.ClientSession(timeout=timeout) as http,
            http.get(f"{url.rstrip('/')}/v1/capabilities", headers=headers) as answer,
        ):
            status = answer.status
    except (TimeoutError, aiohttp.ClientError, ValueError) as error:
        raise HermesError(f"No gateway answers at {url}; start it, or correct --url.") from error
    if status == 401:
        raise HermesError(f"The gateway at {url} refuses the key; set API_SERVER_KEY to its key.")
    if status != 200:
        raise HermesError(f"There is no gateway at {url}: it answers with HTTP {status}.")


def _log_settings(settings: Settings) -> LogSettings:
    """What goes wrong only, unless more was asked for: clients show stderr to people."""
    if "log.level" in settings.sources:
        return settings.log
    return replace(settings.log, level="WARNING")
