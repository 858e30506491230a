"""How a job of Claude Code ended. The exit code and the last result both have a say.

A `result` may be called `success` and be an error, a process may end with 0 after an error, and
versions up to 2.1.197 may end before all they printed has arrived.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, replace

from hermes.backends.drivers.endings import code_of_status, crashed, stopped
from hermes.backends.drivers.foreign_json import Json, at, text
from hermes.backends.drivers.reconciling import rest
from hermes.backends.saying import Ending, EndKind, Exit
from hermes.core.usage import Usage

_LIMITS = {"error_max_turns": "max_turns", "error_max_budget_usd": "budget_exhausted"}

_NAMED_ERRORS = {
    "authentication_failed": "authentication",
    "billing_error": "budget_exhausted",
    "invalid_request": "bad_request",
    "model_not_found": "bad_request",
    "overloaded": "overloaded",
    "rate_limit": "rate_limited",
    "server_error": "overloaded",
}
"""The CLI's names for what went wrong, beside a message of its own."""

_UNKNOWN_SESSION = "No conversation found"
_OVERFLOWS = ("prompt is too long", "context limit", "context window")


@dataclass(frozen=True, slots=True, kw_only=True)
class Heard:
    """What the lines of a process came to."""

    result: Json | None
    """The last."""
    text: str
    """What the reader has of the last message."""
    stop_reason: str
    error: str
    """The CLI's name for what went wrong last; empty: nothing, or it did not say."""
    noise: str
    """The last line that was no JSON."""
    retry_after: float | None
    usage: Usage
    session_id: str | None
    has_schema: bool
    is_interrupted: bool


def ending_of(heard: Heard, exit_: Exit) -> Ending:
    ending = _ending(heard, exit_)
    if ending.kind is not EndKind.ANSWERED:
        ending = replace(ending, text=heard.text)
    is_known = ending.code != "cli_session_unknown"
    return replace(ending, usage=heard.usage, session_id=heard.session_id if is_known else None)


def _ending(heard: Heard, exit_: Exit) -> Ending:
    if (by_us := stopped(exit_)) is not None:
        return by_us
    if heard.is_interrupted:
        return Ending(kind=EndKind.STOPPED)
    if heard.result is None:
        return _without_result(heard, exit_)
    if heard.result.get("is_error"):
        return _error(heard, heard.result)
    if exit_.code:  # None: it was given up after its answer, and the answer counts
        return _known_words(exit_.stderr) or crashed(exit_)
    return _answered(heard, heard.result)


def _without_result(heard: Heard, exit_: Exit) -> Ending:
    if not exit_.last_line_is_whole:
        return _failed(
            "cli_output_truncated",
            "The CLI's output broke off in the middle of a line; try again, or update the CLI.",
        )
    if exit_.code != 0:
        return _known_words(exit_.stderr) or crashed(_with_noise(exit_, heard.noise))
    if heard.noise:
        return _failed("cli_garbage", f"The CLI printed no result, but: {heard.noise}")
    return _failed("cli_crashed", "The CLI ended without a result; try again.")


def _with_noise(exit_: Exit, noise: str) -> Exit:
    """Some errors are printed where answers should be."""
    return exit_ if exit_.stderr.strip() else replace(exit_, stderr=noise)


def _error(heard: Heard, result: Json) -> Ending:
    message = _message(result)
    code = _LIMITS.get(text(result, "subtype"))
    if code is not None:
        return Ending(kind=EndKind.TRUNCATED, error=message, code=code)
    if text(result, "stop_reason") == "refusal":
        return Ending(kind=EndKind.REFUSED, error=message)
    if heard.stop_reason == "max_tokens":
        return Ending(kind=EndKind.TRUNCATED, error=message)
    return _known_words(message) or _provider_failure(heard, result, message)


def _provider_failure(heard: Heard, result: Json, message: str) -> Ending:
    code = _code(heard, result)
    is_worth_waiting = code in ("rate_limited", "overloaded")
    return _failed(code, message, retry_after=heard.retry_after if is_worth_waiting else None)


def _code(heard: Heard, result: Json) -> str:
    status = result.get("api_error_status")
    if isinstance(status, int) and status >= 400:
        return code_of_status(status)
    if text(result, "subtype") == "error_during_execution":
        return "cli_crashed"
    # Without a status the provider was not reached, or was lost in the middle of its answer.
    return _NAMED_ERRORS.get(heard.error, "network")


def _known_words(message: str) -> Ending | None:
    if _UNKNOWN_SESSION in message:
        words = "The CLI does not know this conversation any more; begin a new one."
        return _failed("cli_session_unknown", words)
    if any(words in message.lower() for words in _OVERFLOWS):
        return _failed("context_overflow", message.strip())
    return None


def _message(result: Json) -> str:
    """The CLI's own words."""
    errors = result.get("errors")
    listed = "; ".join(map(str, errors)) if isinstance(errors, list) else ""
    return text(result, "result").strip() or listed or "The CLI reported an error; try again."


def _answered(heard: Heard, result: Json) -> Ending:
    if heard.has_schema:
        return _answered_with_value(result)
    last = text(result, "result")
    # The result has only the last block of the last message; a message may have gone on in
    # several, and the reader has them all.
    if heard.text.strip().endswith(last.strip()):
        return Ending(kind=EndKind.ANSWERED, text=heard.text)
    return Ending(kind=EndKind.ANSWERED, text=last, unsaid=rest(heard.text, last))


def _answered_with_value(result: Json) -> Ending:
    value = at(result, "structured_output")
    if value is None:
        return _failed(
            "cli_garbage", "The model did not answer in the form that was asked for; try again."
        )
    written = json.dumps(value, ensure_ascii=False)
    return Ending(kind=EndKind.ANSWERED, text=written, unsaid=written)


def _failed(code: str, error: str, *, retry_after: float | None = None) -> Ending:
    return Ending(kind=EndKind.FAILED, code=code, error=error, retry_after=retry_after)
