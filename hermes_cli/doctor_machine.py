"""Examines what is installed on this machine: Python, the shell, ripgrep, optional packages."""

from __future__ import annotations

import importlib.util
import platform
import sqlite3
from collections.abc import Callable, Iterator
from contextlib import closing

from hermes.settings.model import Settings
from hermes.store.session_index import has_fts5
from hermes_cli.doctor_finding import Finding, ok, problem, warning

OLDEST_PYTHON = (3, 11)

Which = Callable[[str], str | None]
HasModule = Callable[[str], bool]


def has_module(name: str) -> bool:
    """Whether it could be imported; it is not."""
    return importlib.util.find_spec(name) is not None


def python_version(version: tuple[int, ...]) -> Finding:
    found = f"{platform.python_implementation()} {'.'.join(map(str, version[:3]))}"
    if version[:2] >= OLDEST_PYTHON:
        return ok("Python", found)
    wanted = ".".join(map(str, OLDEST_PYTHON))
    return problem("Python", f"{found} is too old", f"install Python {wanted} or newer")


def shell(which: Which) -> Finding:
    if which("bash"):
        return ok("Shell", f"{which('bash')} runs the terminal tool's commands")
    if which("sh"):
        detail = f"{which('sh')} runs the terminal tool's commands, as there is no bash"
        return warning("Shell", detail, "install bash: models write commands for it")
    return problem("Shell", "there is neither bash nor sh", "install bash for the terminal tool")


def ripgrep(which: Which) -> Finding:
    if which("rg"):
        return ok("Search", f"{which('rg')} searches files")
    return warning(
        "Search",
        "without ripgrep, searching files is slower",
        "install ripgrep (the command rg) to speed it up",
    )


def can_search() -> bool:
    with closing(sqlite3.connect(":memory:")) as connection:
        return has_fts5(connection)


def sqlite_search(*, has_index: bool) -> Finding:
    """Whether sessions can be searched."""
    if has_index:
        return ok("SQLite", f"{sqlite3.sqlite_version}, with full-text search")
    return warning(
        "SQLite",
        f"{sqlite3.sqlite_version} has no FTS5: sessions cannot be searched",
        "use a Python whose SQLite was built with FTS5",
    )


def extras(has: HasModule) -> Iterator[Finding]:
    """Optional packages; missing ones are worth a hint, not a warning."""
    for title, modules, extra in (
        ("CLI-agent bridge", ("starlette", "uvicorn"), "bridge"),
        ("Vendor SDKs", ("openai", "anthropic"), "sdk"),
        ("Web pages", ("trafilatura",), "web"),
        ("MCP", ("mcp",), "mcp"),
    ):
        missing = [name for name in modules if not has(name)]
        if missing:
            detail = f"optional; {' and '.join(missing)} not installed"
            yield ok(title, detail, f"if you need it: pip install 'hermes-gateway[{extra}]'")
        else:
            yield ok(title, f"{' and '.join(modules)} installed")


def sdk_transport(settings: Settings, has: HasModule) -> Finding | None:
    """A configured SDK must be there; None when none is configured."""
    provider = settings.agent.provider
    if provider.transport != "sdk" or provider.provider == "demo":
        return None
    wanted = "anthropic" if provider.api_mode == "anthropic_messages" else "openai"
    if has(wanted):
        return ok("Transport", f"the {wanted} SDK talks to the provider")
    return problem(
        "Transport",
        f"`transport: sdk` is set, but {wanted} is not installed",
        "pip install 'hermes-gateway[sdk]', or remove `transport` from config.yaml",
    )
