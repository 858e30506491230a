"""Our side of `codex exec --json`: the prompt by stdin, a line for every item. Pure.

It tells whole messages only, and a turn that Codex tries again repeats them.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from hermes.backends.drivers import codex_failures, codex_items
from hermes.backends.drivers.codex_messages import Messages
from hermes.backends.drivers.codex_usage import ThreadUsage, of_exec
from hermes.backends.drivers.endings import crashed, failed, stopped
from hermes.backends.drivers.foreign_json import Json, inner, object_of, text
from hermes.backends.jobs import Question, Setup
from hermes.backends.saying import (
    CloseInput,
    Concluded,
    Ending,
    EndKind,
    Event,
    Exit,
    MessageEnded,
    Said,
    Started,
    Step,
    Thought,
    Told,
    ToolCalled,
    Write,
)
from hermes.core.usage import NO_USAGE

_RETRY = "Reconnecting"


class ExecPeer:
    """Made for one process of `codex exec --json`."""

    def __init__(self, setup: Setup) -> None:
        self._setup = setup
        self._messages = Messages()
        self._usage = ThreadUsage(setup.session.used_before if setup.session else NO_USAGE)
        self._thread_id: str | None = None
        self._answer = ""
        self._is_complete = False
        self._failure: Ending | None = None
        self._calls: set[str] = set()
        """The tool calls under way."""

    def greet(self) -> Sequence[Step]:
        return []

    def ask(self, question: Question) -> Sequence[Step]:
        return [Write(question.text.encode(errors="replace")), CloseInput()]

    def read(self, line: bytes) -> Sequence[Event | Step]:
        message = object_of(line)
        if message is None:
            return [Told("unknown_line", line.decode(errors="replace")[:200])]
        match text(message, "type"):
            case "thread.started":
                self._thread_id = text(message, "thread_id") or None
                return [Started(self._thread_id, self._setup.model)]
            case "turn.started" | "item.updated":
                return []
            case "item.started":
                return self._start(inner(message, "item"))
            case "item.completed":
                return self._complete(inner(message, "item"))
            case "turn.completed":
                self._usage.reach(of_exec(inner(message, "usage")))
                self._is_complete = True
                return [Concluded()]
            case "turn.failed":
                self._failure = codex_failures.ending_of(inner(message, "error"))
                return [Concluded()]
            case "error":
                return self._stumble(text(message, "message"))
            case unknown:
                return [Told("unknown_line", unknown)]

    def answer(self, question_id: str, *, is_allowed: bool, message: str = "") -> Sequence[Step]:
        return []  # it never asks

    def interrupt(self) -> Sequence[Step]:
        return []

    def dismiss(self) -> Sequence[Step]:
        return []

    def finish(self, exit_: Exit) -> Ending:
        return replace(
            self._ending(exit_),
            text=self._answer,
            usage=self._usage.spent,
            session_usage=self._usage.total,
            session_id=self._thread_id if self._setup.session is not None else None,
        )

    def _ending(self, exit_: Exit) -> Ending:
        if self._is_complete and exit_.code == 0:
            return Ending(kind=EndKind.ANSWERED)
        if (by_us := stopped(exit_)) is not None:
            return by_us
        if self._failure is not None:
            return self._failure
        if codex_failures.is_session_unknown(exit_.stderr):
            return failed(exit_.stderr.strip(), code="cli_session_unknown")
        return crashed(exit_)

    def _start(self, item: Json) -> Sequence[Event]:
        if not codex_items.is_tool(item):
            return []
        self._messages.settle()  # tools are only called by an answer that is complete
        self._calls.add(text(item, "id"))
        return [codex_items.called(item)]

    def _complete(self, item: Json) -> Sequence[Event]:
        match codex_items.kind_of(item):
            case "agent_message":
                return self._on_message(item)
            case "reasoning":
                return [Thought(text(item, "text"))]
            case "error":  # it goes on all the same
                return [Told("cli_warning", text(item, "message"))]
            case _ if codex_items.is_tool(item):
                return self._on_tool(item)
            case _:
                return []

    def _on_message(self, item: Json) -> Sequence[Event]:
        self._answer = text(item, "text")
        rest = self._messages.hear_whole(text(item, "id"), self._answer)
        said: list[Event] = [Said(rest)] if rest else []
        return [*said, MessageEnded(self._answer)]

    def _on_tool(self, item: Json) -> Sequence[Event]:
        call_id = text(item, "id")
        called: list[ToolCalled] = [] if call_id in self._calls else [codex_items.called(item)]
        self._calls.discard(call_id)
        return [*called, codex_items.answered(item)]

    def _stumble(self, message: str) -> Sequence[Event]:
        if not message.startswith(_RETRY):
            # Mostly told again as `turn.failed`, which then counts.
            self._failure = codex_failures.ending_of({"message": message})
            return []
        self._messages.begin_again()
        return [Told("cli_retry", message)]
