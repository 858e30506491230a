"""How a job ended, as far as it is the same for every CLI: stopped by us, crashed, refused."""

from __future__ import annotations

import re

from hermes.backends.saying import Ending, EndKind, Exit, StopReason

STDERR_LIMIT = 2000

_CUT_OFF = "The CLI's output broke off in the middle of a line; try again, or update the CLI."

_STATUS = re.compile(r"\b(?:status|code|http|error)\W{1,4}([45]\d\d)\b|\b([45]\d\d) [A-Z]", re.I)

_WORDS = (
    ("context_overflow", ("context window", "context length", "context_length", "too long")),
    ("rate_limited", ("rate limit", "rate_limit", "too many requests", "quota")),
    ("authentication", ("unauthorized", "authentication", "api key", "log in", "login")),
    ("overloaded", ("overloaded", "high demand", "unavailable")),
    ("network", ("disconnected", "connection", "network", "timed out", "econnrefused", "fetch")),
)
"""What to look for where a CLI tells its failures in words alone; the first that fits."""


def stopped(exit_: Exit) -> Ending | None:
    """The ending of a job that we put an end to; None: we did not."""
    if exit_.stopped is None:
        return None
    if not exit_.stopped.is_fault:
        return Ending(kind=EndKind.STOPPED)
    was_too_much = exit_.stopped is StopReason.TOO_MUCH
    code = "cli_output_truncated" if was_too_much else "cli_timeout"
    return Ending(kind=EndKind.FAILED, error=exit_.stopped.value, code=code)


def crashed(exit_: Exit) -> Ending:
    """The ending of a job whose process went without saying what came of it."""
    if exit_.code == 0 and not exit_.last_line_is_whole:
        return failed(_CUT_OFF, code="cli_output_truncated")
    ending, said = _exited(exit_.code), exit_.stderr.strip()[-STDERR_LIMIT:]
    error = f"{ending}: {said}" if said else f"{ending} and did not say why; try again."
    return failed(error, code=code_of_words(said) or "cli_crashed")


def failed(error: str, *, code: str | None = None) -> Ending:
    """A failure in the CLI's own words, which may name a status of its provider's."""
    return Ending(kind=EndKind.FAILED, error=error, code=code or code_of_words(error))


def code_of_words(message: str) -> str | None:
    found = _STATUS.search(message)
    if found:
        return code_of_status(int(found[1] or found[2]))
    low = message.lower()
    return next((code for code, words in _WORDS if any(word in low for word in words)), None)


def code_of_status(status: int) -> str:
    """What an HTTP status of the CLI's provider means."""
    match status:
        case 401 | 403:
            return "authentication"
        case 402:
            return "budget_exhausted"
        case 413:
            return "context_overflow"
        case 429:
            return "rate_limited"
        case _:
            return "bad_request" if status < 500 else "overloaded"


def _exited(code: int | None) -> str:
    if code is None:
        return "The CLI did not end by itself"
    return f"The CLI was ended by signal {-code}" if code < 0 else f"The CLI ended with code {code}"
