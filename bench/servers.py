"""Who takes part: the upstream, the bare relay and the gateway, and how each is started."""

from __future__ import annotations

import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from bench.processes import ChildFailed, Launch, Server, free_port, running


def upstream() -> Launch:
    port = free_port()
    command = [sys.executable, "-m", "bench.upstream", "--port", str(port)]
    return Launch("upstream", command, port, {}, probe="/v1/models")


def relay(upstream_url: str) -> Launch:
    port = free_port()
    arguments = ["--port", str(port), "--upstream", upstream_url]
    return Launch("relay", [sys.executable, "-m", "bench.relay", *arguments], port, {})


def gateway(upstream_url: str, model: str, home: Path) -> Launch:
    """The gateway as a user gets it: only the provider, the port and the home folder are set."""
    port = free_port()
    environment = {
        "HERMES_HOME": str(home),
        "HERMES_MODEL": model,
        "API_SERVER_HOST": "127.0.0.1",
        "API_SERVER_PORT": str(port),
        "OPENAI_BASE_URL": upstream_url,
        "OPENAI_API_KEY": "bench",
    }
    return Launch("gateway", [str(hermes()), "serve"], port, environment)


def hermes() -> Path:
    script = Path(sys.executable).with_name("hermes")
    if not script.exists():
        raise ChildFailed(f"{script} is missing: run `make install` and bench with that Python")
    return script


@contextmanager
def seated(kind: str, upstream_url: str, model: str) -> Iterator[Server]:
    """A fresh server, `relay` or `gateway`, which has an empty home folder."""
    with tempfile.TemporaryDirectory(prefix="hermes-bench-") as home:
        if kind == "relay":
            launch = relay(upstream_url)
        else:
            launch = gateway(upstream_url, model, Path(home))
        with running(launch) as server:
            yield server
