"""Why a server cannot be reached, in words for the operator.

Looks at exceptions by what they are to the system, so that it needs no SDK.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from hermes.settings.mcp_settings import McpServerSettings
from hermes.settings.redaction import mask

LONGEST = 300


def trouble(
    settings: McpServerSettings,
    error: BaseException | None,
    *,
    statuses: Sequence[int] = (),
    last_words: str = "",
) -> str:
    """One line, without secrets. `error` is None when the server simply went away."""
    said = f"{_reason(settings, error, statuses)}{_quoted(last_words)}"
    return mask(" ".join(said.split()), settings.secrets)[:LONGEST]


def _reason(
    settings: McpServerSettings, error: BaseException | None, statuses: Sequence[int]
) -> str:
    first = None if error is None else next(_leaves(error), error)
    if isinstance(first, FileNotFoundError):
        missing = first.filename or settings.command
        return f"{str(missing)!r} does not exist; install it, or correct command and cwd"
    if isinstance(first, PermissionError):
        return f"{settings.command!r} may not be run ({first.strerror})"
    if statuses:
        return _by_status(statuses[-1])
    if isinstance(first, TimeoutError):
        seconds = settings.connect_timeout_seconds
        return f"it did not answer within {seconds:g} seconds (connect_timeout_seconds)"
    if first is None:
        return "it ended the connection"
    if settings.url and type(first).__name__ in _NOT_THERE:
        return "nothing answers at its url"
    return str(first).partition("\n")[0] or type(first).__name__


_NOT_THERE = ("ConnectError", "ConnectTimeout", "ReadError", "RemoteProtocolError")
"""What the SDK's HTTP client calls it."""


def _by_status(status: int) -> str:
    if status in (401, 403):
        return (
            f"it refuses the credentials (HTTP {status}); check token_env, headers_env or headers"
        )
    if status in (404, 405):
        return f"there is no MCP server at its url (HTTP {status})"
    return f"it answers with HTTP {status}"


def _quoted(last_words: str) -> str:
    return f'; its last words: "{last_words}"' if last_words else ""


def _leaves(error: BaseException) -> Iterator[BaseException]:
    """Task groups wrap what went wrong, each once more."""
    if isinstance(error, BaseExceptionGroup):
        for inner in error.exceptions:
            yield from _leaves(inner)
    else:
        yield error
