"""What Claude Code prints with `--output-format stream-json`, line by line, as events.

Other CLIs print the same lines. A line may be of any kind and any shape; none makes this raise.
"""

from __future__ import annotations

from hermes.backends.drivers.claude_ending import Heard, ending_of
from hermes.backends.drivers.claude_messages import Messages
from hermes.backends.drivers.claude_tools import Tools
from hermes.backends.drivers.claude_usage import UsageCount
from hermes.backends.drivers.foreign_json import Json, count, inner, items, object_of, text
from hermes.backends.saying import (
    Concluded,
    Ending,
    Event,
    Exit,
    MessageEnded,
    Said,
    Started,
    Told,
)

_SYNTHETIC = "<synthetic>"
"""The model of messages that the CLI made up itself: errors, answers to its own commands."""

_QUIET = frozenset(
    {
        "auth_status",
        "control_cancel_request",
        "control_request",
        "control_response",
        "keep_alive",
        "prompt_suggestion",
        "rate_limit_event",
        "tool_progress",
        "tool_use_summary",
    }
)
"""Lines that say nothing about the answer. What goes to and fro is the peer's."""

_NOISE_SHOWN = 500


class ClaudeLines:
    """Reads the lines of one process, and says in the end what they amount to."""

    def __init__(self, *, has_schema: bool = False, keeps_session: bool = False) -> None:
        """`has_schema`: the answer is a value, and the text around it is not said.
        `keeps_session`: the CLI remembers the conversation, so that its id is worth telling."""
        self._has_schema = has_schema
        self._keeps_session = keeps_session
        self._messages = Messages()
        self._tools = Tools()
        self._usage = UsageCount()
        self._result: Json | None = None
        self._session_id: str | None = None
        self._error = ""
        self._retry_after: float | None = None
        self._noise = ""
        self._denied: set[str] = set()

    def read(self, line: bytes) -> list[Event]:
        value = object_of(line)
        if value is not None:
            return self.read_object(value)
        if not line.strip():
            return []
        self._noise = line.decode(errors="replace")[:_NOISE_SHOWN]
        return [_unknown("a line that is not JSON")]

    def read_object(self, value: Json) -> list[Event]:
        match value.get("type"):
            case "stream_event":
                return self._spoken(self._stream_event(value))
            case "assistant":
                return self._spoken(self._assistant(value))
            case "user":
                return self._spoken(self._user(value))
            case "system":
                return self._system(value)
            case "result":
                return self._conclude(value)
            case str() as kind if kind in _QUIET:
                return []
            case _:
                return [_unknown("a line of an unknown kind")]

    def expect_denial(self, call_id: str) -> None:
        """Somebody is asked about this call: if it is denied, they know."""
        self._denied.add(call_id)

    def finish(self, exit_: Exit, *, is_interrupted: bool = False) -> Ending:
        """What came of it. `is_interrupted`: we have asked the CLI to stop."""
        self._messages.end()
        heard = Heard(
            result=self._result,
            text="" if self._has_schema else self._messages.last_text,
            stop_reason=self._messages.stop_reason,
            error=self._error,
            noise=self._noise,
            retry_after=self._retry_after,
            usage=self._usage.total,
            session_id=self._session_id if self._keeps_session else None,
            has_schema=self._has_schema,
            is_interrupted=is_interrupted,
        )
        return ending_of(heard, exit_)

    def _stream_event(self, value: Json) -> list[Event]:
        event, agent = inner(value, "event"), text(value, "parent_tool_use_id") or None
        self._usage.hear(event, agent)
        return self._messages.hear(event) if agent is None else []

    def _assistant(self, value: Json) -> list[Event]:
        message = inner(value, "message")
        if text(message, "model") == _SYNTHETIC:
            self._error = text(value, "error")
            return []
        told = [] if text(value, "parent_tool_use_id") else self._messages.hear_whole(message)
        return [*told, *self._tools.called(message)]

    def _user(self, value: Json) -> list[Event]:
        answers = self._tools.answered(inner(value, "message"))
        is_own = not text(value, "parent_tool_use_id")
        ended = self._messages.hear_tool_result() if answers and is_own else []
        return [*ended, *answers]

    def _system(self, value: Json) -> list[Event]:
        match value.get("subtype"):
            case "init":
                self._session_id = text(value, "session_id") or self._session_id
                version = text(value, "claude_code_version") or None
                return [Started(self._session_id, text(value, "model") or None, version)]
            case "api_retry":
                return [self._retry(value)]
            case "permission_denied":
                self._denied.add(text(value, "tool_use_id"))
                return [Told("cli_denied", text(value, "message"))]
            case "informational":
                return [Told("cli_warning", text(value, "content"))]
            case _:
                # There are many more, and new ones with every version: how busy it is, with what.
                return []

    def _retry(self, value: Json) -> Told:
        self._retry_after = count(value, "retry_delay_ms") / 1000 or None
        status = count(value, "error_status")
        what = f"answered with status {status}" if status else "could not be reached"
        return Told("cli_retry", f"The provider {what}; the CLI tries again.")

    def _conclude(self, value: Json) -> list[Event]:
        events = self._spoken(self._messages.end())
        self._result = value
        self._usage.add_result(value)
        self._session_id = text(value, "session_id") or self._session_id
        return [*events, *self._denials(value), Concluded()]

    def _denials(self, value: Json) -> list[Event]:
        """What was denied and no line of its own has told: older versions only tell it here."""
        news = [
            denial
            for denial in items(value, "permission_denials")
            if text(denial, "tool_use_id") not in self._denied
        ]
        self._denied |= {text(denial, "tool_use_id") for denial in news}
        return [Told("cli_denied", f"{text(denial, 'tool_name')} was denied.") for denial in news]

    def _spoken(self, events: list[Event]) -> list[Event]:
        if not self._has_schema:
            return events
        return [event for event in events if not isinstance(event, Said | MessageEnded)]


def _unknown(what: str) -> Told:
    return Told("unknown_line", f"The CLI printed {what}.")
