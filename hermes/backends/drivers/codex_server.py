"""Our side of the talk with `codex app-server`: one thread, and one turn in it. Pure."""

from __future__ import annotations

import base64
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from hermes.backends.drivers import codex_failures, codex_requests
from hermes.backends.drivers.codex_settings import SANDBOX, may_ask
from hermes.backends.drivers.codex_turn import Turn
from hermes.backends.drivers.endings import crashed, failed, stopped
from hermes.backends.drivers.foreign_json import NOTHING, Json, text
from hermes.backends.drivers.json_rpc import (
    Answered,
    Called,
    Connection,
    Id,
    Notified,
    Refused,
    Unreadable,
)
from hermes.backends.drivers.versions import version_in, written
from hermes.backends.jobs import Image, Places, Question, Setup
from hermes.backends.saying import (
    CloseInput,
    Concluded,
    Ending,
    EndKind,
    Event,
    Exit,
    Started,
    Step,
    Told,
)
from hermes.core.cli_agents import Profile
from hermes.core.usage import NO_USAGE

_CLIENT = {"name": "hermes", "title": "Hermes Gateway", "version": "1"}

_UNWANTED = ("turn/diff/updated", "item/fileChange/outputDelta")
"""They repeat what is told elsewhere, and may be large."""


class AppServerPeer:
    """Made for one process of `codex app-server`."""

    def __init__(self, setup: Setup, places: Places) -> None:
        self._setup = setup
        self._places = places
        self._connection = Connection()
        used_before = setup.session.used_before if setup.session else NO_USAGE
        self._turn = Turn(used_before, str(places.workspace))
        self._version: str | None = None
        self._instructions = setup.system_prompt
        self._question: Question | None = None
        """Asked before there was a thread."""
        self._is_to_interrupt = False
        self._asked: dict[str, Id] = {}
        """The questions that wait for somebody, by the name we gave them."""
        self._failure: Ending | None = None
        """Why there is no turn at all."""

    def greet(self) -> Sequence[Step]:
        capabilities = {
            "experimentalApi": False,
            "requestAttestation": False,
            "optOutNotificationMethods": _UNWANTED,
        }
        params = {"clientInfo": _CLIENT, "capabilities": capabilities}
        return [self._connection.call("initialize", params)]

    def ask(self, question: Question) -> Sequence[Step]:
        if self._failure is not None:
            return [CloseInput()]
        if self._turn.thread_id is None:
            self._question = question
            return []
        if self._lacks_instructions(question):
            return self._open_another(question)
        params: dict[str, Any] = {"threadId": self._turn.thread_id, "input": _input(question)}
        if self._setup.answer_schema is not None:
            params["outputSchema"] = self._setup.answer_schema
        return [self._connection.call("turn/start", params)]

    def read(self, line: bytes) -> Sequence[Event | Step]:
        match self._connection.read(line):
            case Answered(method, result):
                return self._on_answer(method, result)
            case Refused(method, _, message):
                return self._on_refusal(method, message)
            case Called() as call:
                return self._on_call(call)
            case Notified(method, params):
                return self._turn.hear(method, params)
            case Unreadable(unread):
                return [Told("unknown_line", unread[:200])]

    def answer(self, question_id: str, *, is_allowed: bool, message: str = "") -> Sequence[Step]:
        """Codex has no place for `message`: it tells the model that the call was rejected."""
        call_id = self._asked.pop(question_id, None)
        if call_id is None:
            return []
        return [self._connection.answer(call_id, codex_requests.decision(is_allowed=is_allowed))]

    def interrupt(self) -> Sequence[Step]:
        if self._turn.id is None:
            self._is_to_interrupt = True
            self._question = None
            return []
        params = {"threadId": self._turn.thread_id, "turnId": self._turn.id}
        return [self._connection.call("turn/interrupt", params)]

    def dismiss(self) -> Sequence[Step]:
        return [CloseInput()]

    def finish(self, exit_: Exit) -> Ending:
        is_kept = self._setup.session is not None and self._turn.id is not None
        return replace(
            self._ending(exit_),
            text=self._turn.answer,
            usage=self._turn.usage.spent,
            session_usage=self._turn.usage.total,
            session_id=self._turn.thread_id if is_kept else None,
        )

    def _ending(self, exit_: Exit) -> Ending:
        if self._turn.outcome == "completed":
            # A process that had to be ended after its answer is no failure; a crash is.
            return crashed(exit_) if (exit_.code or 0) > 0 else Ending(kind=EndKind.ANSWERED)
        if (by_us := stopped(exit_)) is not None:
            return by_us
        if (failure := self._failure or self._turn.failure) is not None:
            return failure
        if self._turn.outcome == "interrupted":
            return Ending(kind=EndKind.STOPPED)
        return crashed(exit_)

    def _on_answer(self, method: str, result: Json) -> Sequence[Event | Step]:
        match method:
            case "initialize":
                self._version = written(version_in(text(result, "userAgent"))) or None
                return [self._connection.notify("initialized"), self._open_thread()]
            case "thread/start" | "thread/resume":
                return self._on_thread(result)
            case "turn/start":
                self._turn.id = text(result, "turn", "id") or self._turn.id
                return self.interrupt() if self._is_to_interrupt else []
            case _:
                return []

    def _open_thread(self) -> Step:
        session = self._setup.session
        params: dict[str, Any] = {"cwd": str(self._places.workspace)}
        if self._setup.model:
            params["model"] = self._setup.model
        if session is not None and session.is_resumed:
            resumed = {"threadId": session.id, "excludeTurns": True}
            return self._connection.call("thread/resume", {**params, **resumed})
        if self._instructions:
            params["developerInstructions"] = self._instructions
        return self._connection.call("thread/start", {**params, "ephemeral": session is None})

    def _lacks_instructions(self, question: Question) -> bool:
        """Whether the thread was opened before anybody said what the agent is.

        A thread that goes on keeps what it was told first.
        """
        session, wanted = self._setup.session, question.system_prompt
        is_resumed = session is not None and session.is_resumed
        return bool(wanted) and wanted != self._instructions and not is_resumed

    def _open_another(self, question: Question) -> Sequence[Step]:
        """Nothing was said in the thread that is open, and only a new one can be told more."""
        self._instructions = question.system_prompt
        self._turn.thread_id = None
        self._question = question
        return [self._open_thread()]

    def _on_thread(self, result: Json) -> Sequence[Event | Step]:
        is_confined = text(result, "activePermissionProfile", "id") == SANDBOX
        if not is_confined and self._setup.profile is not Profile.FULL:
            return self._fail(
                "This version of Codex did not take the sandbox that it was given; update it "
                "(npm install -g @openai/codex).",
                code="bad_request",
            )
        self._turn.thread_id = text(result, "thread", "id") or None
        started = Started(self._turn.thread_id, text(result, "model") or None, self._version)
        question, self._question = self._question, None
        return [started, *(self.ask(question) if question else ())]

    def _on_refusal(self, method: str, message: str) -> Sequence[Event | Step]:
        if method == "turn/interrupt":
            return []  # it was over already
        is_unknown = method == "thread/resume" and codex_failures.is_session_unknown(message)
        return self._fail(message, code="cli_session_unknown" if is_unknown else None)

    def _fail(self, message: str, *, code: str | None) -> Sequence[Event | Step]:
        self._failure = failed(message, code=code)
        return [Concluded()]

    def _on_call(self, call: Called) -> Sequence[Event | Step]:
        item = self._turn.calls.get(text(call.params, "itemId"), NOTHING)
        question = codex_requests.question(call, item, str(self._places.workspace))
        if question is not None and may_ask(self._setup):
            self._asked[question.id] = call.id
            return [question]
        denial = codex_requests.denial(call)
        if denial is None:
            return [self._connection.refuse(call), Told("unknown_line", call.method)]
        told = Told("cli_denied", question.reason if question else call.method)
        return [self._connection.answer(call.id, denial), told]


def _input(question: Question) -> list[dict[str, Any]]:
    images = [{"type": "image", "url": _data_url(image)} for image in question.images]
    return [{"type": "text", "text": question.text}, *images]


def _data_url(image: Image) -> str:
    return f"data:{image.media_type};base64,{base64.b64encode(image.data).decode()}"
