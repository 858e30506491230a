"""`hermes bridge`: the `claude` CLI behind OpenAI's API, as a process of its own."""

from __future__ import annotations

import importlib
import os
import sys
from types import ModuleType

import click

from hermes.backends.bridge.settings import BridgeSettings, read_settings, read_token
from hermes.core.errors import HermesError
from hermes.settings.logs import configure_logging
from hermes.settings.model import LogSettings
from hermes.settings.secrecy import hide_process_environment

CLOSED = (
    "API_BEARER_TOKEN is not set, and without it the bridge would let nobody in. Choose a secret "
    'that callers have to send, for instance: export API_BEARER_TOKEN="$(openssl rand -hex 32)"'
)


@click.command()
@click.option("--host", default="127.0.0.1", show_default=True, help="Address to listen on.")
@click.option(
    "--port",
    type=click.IntRange(0, 65535),
    default=8643,
    show_default=True,
    help="Port to listen on; 0 picks a free one.",
)
def bridge(host: str, port: int) -> None:
    """Serve the `claude` CLI to OpenAI clients, until SIGTERM or Ctrl-C.

    Callers must send the token of API_BEARER_TOKEN. The CLI works in WORKSPACE_DIR. These and
    all other settings are environment variables, see docs/bridge.md.
    """
    token = read_token(os.environ)
    if not token:
        raise HermesError(CLOSED)
    settings = read_settings(os.environ)
    serving = _serving()
    configure_logging(LogSettings(), sys.stderr, secrets=[token])
    hide_process_environment()
    serving.serve(host, port, lambda url: click.echo(banner(settings, url)))


def banner(settings: BridgeSettings, url: str) -> str:
    """What a person needs to know to make the first request."""
    return "\n".join(
        [
            "The bridge is ready.",
            "",
            f"  Base URL:  {url}/v1",
            f"  CLI:       {' '.join(settings.command)}",
            f"  Workspace: {settings.workspace}",
            f"  At once:   {settings.max_concurrency}, and {settings.max_queue_depth} may wait",
            "",
            "Try it:",
            f"  curl {url}/v1/chat/completions \\",
            '    -H "Authorization: Bearer $API_BEARER_TOKEN" \\',
            '    -H "Content-Type: application/json" \\',
            """    -d '{"model": "haiku", "messages": [{"role": "user", "content": "Hello!"}]}'""",
            "",
        ]
    )


def _serving() -> ModuleType:
    """What needs the extra, and says so if it is not there."""
    try:
        return importlib.import_module("app.serving")
    except ModuleNotFoundError as missing:
        raise HermesError(str(missing)) from missing
