"""Examines where the gateway listens: the address, the port, and who may come in."""

from __future__ import annotations

import errno
import socket
from pathlib import Path

from hermes.core.errors import AlreadyRunning
from hermes.settings.home_lock import HomeLock
from hermes.settings.model import ListenerSettings
from hermes.settings.named_keys import MAIN
from hermes.settings.paths import lock_file
from hermes_cli.doctor_finding import Finding, ok, problem, warning

SHORTEST_KEY = 16
FEWEST_CHARACTERS = 8
_NEW_KEY = "make one with: openssl rand -hex 32"


def address(listener: ListenerSettings) -> Finding:
    """What the configured host means for who can reach the gateway."""
    where = f"{listener.host}:{listener.port}"
    if listener.is_loopback:
        return ok("Address", f"{where}: only programs on this machine can connect")
    everywhere = listener.host in ("0.0.0.0", "::")  # noqa: S104  compared with, not bound to
    reach = "every network this machine is in" if everywhere else "its network"
    return ok("Address", f"{where}: reachable from {reach}; put TLS in front of it")


def key(listener: ListenerSettings) -> Finding:
    """Whether the key is good enough for who can try to guess it. Never shows it."""
    title = "Key"
    if listener.is_loopback:
        required = f"required{_names(listener)}"
        return ok(
            title, required if listener.requires_key else "not required on this machine alone"
        )
    if not listener.requires_key:
        return problem(
            title,
            "none, although others can connect: the gateway refuses to start",
            f"set API_SERVER_KEY; {_NEW_KEY}",
        )
    simple = [name for name, key in _keys(listener) if _is_simple(key)]
    if simple:
        detail = f"so simple that it can be guessed: {', '.join(simple)}"
        return warning(title, detail, _NEW_KEY)
    return ok(title, f"required, and hard to guess{_names(listener)}")


def _keys(listener: ListenerSettings) -> list[tuple[str, str]]:
    main = [(MAIN, listener.key)] if listener.key else []
    return [*main, *((named.name, named.key) for named in listener.keys)]


def _names(listener: ListenerSettings) -> str:
    """Only where there are several."""
    if not listener.keys:
        return ""
    return f" (keys: {', '.join(name for name, _ in _keys(listener))})"


def _is_simple(key: str) -> bool:
    return len(key) < SHORTEST_KEY or len(set(key)) < FEWEST_CHARACTERS


def port(listener: ListenerSettings, home: Path) -> Finding:
    """Whether the port can be listened on; a gateway of this home is welcome to have it."""
    title = "Port"
    holder = _holder(home)
    if holder is not None:
        return ok(title, holder)
    if listener.port == 0:
        return ok(title, "the system chooses a free one")
    try:
        _try_to_bind(listener.host, listener.port)
    except OSError as error:
        return problem(title, *_explanation(error, listener))
    return ok(title, f"{listener.port} is free")


def _holder(home: Path) -> str | None:
    """In words, the process that serves this home; None when there is none."""
    path = lock_file(home)
    if not path.exists():
        return None
    try:
        with HomeLock(path):
            return None
    except AlreadyRunning as running:
        return str(running).partition(";")[0]
    except OSError:
        # What is wrong with the folder is another examination's finding.
        return None


def _try_to_bind(host: str, number: int) -> None:
    found = socket.getaddrinfo(host.strip("[]"), number, type=socket.SOCK_STREAM)
    family, kind, protocol, _, where = found[0]
    with socket.socket(family, kind, protocol) as tried:
        tried.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        tried.bind(where)
        # Only listening tells: two sockets may be bound to one port, but not both listen.
        tried.listen(1)


def _explanation(error: OSError, listener: ListenerSettings) -> tuple[str, str]:
    where = f"{listener.host}:{listener.port}"
    if isinstance(error, socket.gaierror):
        return f"{listener.host} is not a name of this machine", "set API_SERVER_HOST=127.0.0.1"
    if error.errno == errno.EADDRINUSE:
        fix = f"stop that program (ss -ltnp 'sport = :{listener.port}' names it) or set "
        return f"{where} is taken by another program", fix + "API_SERVER_PORT to another port"
    if error.errno == errno.EACCES:
        return f"{where} is reserved for the administrator", "set API_SERVER_PORT above 1023"
    if error.errno == errno.EADDRNOTAVAIL:
        return f"{listener.host} is no address of this machine", "set API_SERVER_HOST=127.0.0.1"
    return f"{where} cannot be used ({error.strerror})", "set API_SERVER_HOST and API_SERVER_PORT"
