"""Our side of the talk with an ACP agent: one session, one prompt in it, permissions. Pure."""

from __future__ import annotations

import base64
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from hermes.backends.drivers import acp_opening
from hermes.backends.drivers.acp_opening import Call
from hermes.backends.drivers.acp_presets import Preset
from hermes.backends.drivers.acp_updates import Updates
from hermes.backends.drivers.acp_usage import usage_of_turn
from hermes.backends.drivers.endings import crashed, failed, stopped
from hermes.backends.drivers.foreign_json import Json, inner, items, text
from hermes.backends.drivers.json_rpc import (
    Answered,
    Called,
    Connection,
    Notified,
    Refused,
    Unreadable,
)
from hermes.backends.jobs import Image, Question, Setup
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
    Write,
)
from hermes.core.cli_agents import Profile
from hermes.core.usage import NO_USAGE

_AUTHENTICATION_REQUIRED = -32000

_NOT_A_COMMAND = "\u200b"
"""Before a slash it makes text of a command. Agents strip the spaces that can be seen."""

_ENDINGS = {
    "end_turn": Ending(kind=EndKind.ANSWERED),
    "max_tokens": Ending(kind=EndKind.TRUNCATED),
    "max_turn_requests": Ending(kind=EndKind.TRUNCATED, code="max_turns"),
    "refusal": Ending(kind=EndKind.REFUSED),
    "cancelled": Ending(kind=EndKind.STOPPED),
}

_ALLOWING = ("allow_once", "allow_always")
_DENYING = ("reject_once", "reject_always")
"""The kinds of options for a permission, best first: what is once decided is decided once."""


class AcpPeer:
    """Made for one process of an agent."""

    def __init__(self, setup: Setup, folder: Path, preset: Preset) -> None:
        self._setup = setup
        self._folder = folder
        self._preset = preset
        self._connection = Connection()
        self._updates = Updates()
        self._agent: Json = {}
        """What the agent said of itself."""
        self._session_id = setup.session.id if setup.session else None
        self._is_open = False
        self._has_history = False
        self._question: Question | None = None
        """Asked before the session was open."""
        self._asked: dict[str, Called] = {}
        """The permissions that wait for somebody, by the name we gave them."""
        self._usage = NO_USAGE
        self._result: Ending | None = None

    def greet(self) -> Sequence[Step]:
        return [self._connection.call("initialize", acp_opening.GREETING)]

    def ask(self, question: Question) -> Sequence[Step]:
        if self._result is not None:
            return [CloseInput()]
        if not self._is_open:
            self._question = question
            return []
        if question.images and not acp_opening.takes_images(self._agent):
            self._result = failed("The agent takes no images.", code="bad_request")
            return [CloseInput()]
        params = {"sessionId": self._session_id, "prompt": self._prompt(question)}
        return [self._connection.call("session/prompt", params)]

    def read(self, line: bytes) -> Sequence[Event | Step]:
        match self._connection.read(line):
            case Answered(method, result):
                return self._on_answer(method, result)
            case Refused() as refusal:
                return self._on_refusal(refusal)
            case Called(method="session/request_permission") as call:
                return self._on_request(call)
            case Called() as call:
                return [self._connection.refuse(call), Told("unknown_line", call.method)]
            case Notified("session/update", params):
                return self._on_update(params)
            case Notified(method, _):
                return [Told("unknown_line", method)]
            case Unreadable(unread):
                return [Told("unknown_line", unread[:200])]

    def answer(self, question_id: str, *, is_allowed: bool, message: str = "") -> Sequence[Step]:
        """ACP has no place for `message`."""
        call = self._asked.pop(question_id, None)
        return [] if call is None else [self._decide(call, is_allowed=is_allowed)]

    def interrupt(self) -> Sequence[Step]:
        self._question = None
        if not self._is_open:
            return []
        cancel = self._connection.notify("session/cancel", {"sessionId": self._session_id})
        # The protocol wants the questions of a cancelled prompt answered.
        cancelled = [
            self._connection.answer(call.id, _outcome(None)) for call in self._asked.values()
        ]
        self._asked.clear()
        return [cancel, *cancelled]

    def dismiss(self) -> Sequence[Step]:
        return [CloseInput()]

    def finish(self, exit_: Exit) -> Ending:
        self._updates.end_message()
        is_kept = self._setup.session is not None and self._is_open
        return replace(
            self._ending(exit_),
            text=self._updates.answer,
            usage=self._usage,
            session_id=self._session_id if is_kept else None,
        )

    def _ending(self, exit_: Exit) -> Ending:
        if self._result is not None and self._result.kind is EndKind.ANSWERED:
            # A process that had to be ended after its answer is no failure; a crash is.
            return crashed(exit_) if (exit_.code or 0) > 0 else self._result
        return stopped(exit_) or self._result or crashed(exit_)

    def _prompt(self, question: Question) -> list[dict[str, Any]]:
        said, session = question.text, self._setup.session
        is_new = session is None or not session.is_resumed
        system_prompt = question.system_prompt or self._setup.system_prompt
        if system_prompt and is_new:
            said = f"{system_prompt}\n\n{said}"
        if said.lstrip().startswith("/"):
            said = _NOT_A_COMMAND + said
        return [{"type": "text", "text": said}, *map(_picture, question.images)]

    def _on_answer(self, method: str, result: Json) -> Sequence[Event | Step]:
        match method:
            case "initialize":
                self._agent = result
                return self._go_on(acp_opening.session_call(self._setup, self._folder, result))
            case "session/new" | "session/load":
                return self._on_session(result)
            case "session/set_config_option" | "session/set_model":
                return self._open()
            case "session/prompt":
                return self._on_end(result)
            case _:
                return []

    def _on_session(self, result: Json) -> Sequence[Event | Step]:
        self._session_id = text(result, "sessionId") or self._session_id
        session = self._setup.session
        if session is not None and session.is_resumed and not self._has_history:
            # Some open a new one under the id of one that they do not know.
            message = "The agent does not know the session any more."
            return self._go_on(failed(message, code="cli_session_unknown"))
        if self._preset.is_told_the_model:
            return self._open()
        choice = acp_opening.model_call(self._setup, self._session_id, result)
        return self._go_on(choice) if choice is not None else self._open()

    def _go_on(self, step: Call | Ending) -> Sequence[Event | Step]:
        if isinstance(step, Ending):
            self._result = step
            return [Concluded()]
        return [self._connection.call(step.method, step.params)]

    def _open(self) -> Sequence[Event | Step]:
        self._is_open = True
        version = text(self._agent, "agentInfo", "version") or None
        question, self._question = self._question, None
        started = Started(self._session_id, self._setup.model, version)
        return [started, *(self.ask(question) if question else ())]

    def _on_refusal(self, refusal: Refused) -> Sequence[Event | Step]:
        return self._go_on(self._failure(refusal))

    def _failure(self, refusal: Refused) -> Ending:
        if refusal.code == _AUTHENTICATION_REQUIRED:
            message = f"The agent is not logged in: {self._preset.kind.login_help}."
            return failed(message, code="authentication")
        details = text(refusal.data, "details") or text(refusal.data)
        message = f"{refusal.message}: {details}" if details else refusal.message
        is_unknown = refusal.method == "session/load"
        return failed(message, code="cli_session_unknown" if is_unknown else None)

    def _on_update(self, params: Json) -> Sequence[Event]:
        update = inner(params, "update")
        if self._is_open:
            return self._updates.hear(update)
        # A session that is taken up again tells its history first.
        self._has_history |= text(update, "sessionUpdate").endswith("_message_chunk")
        return []

    def _on_end(self, result: Json) -> Sequence[Event]:
        self._usage = self._updates.usage
        if self._usage is NO_USAGE:
            self._usage = usage_of_turn(result, used_tools=self._updates.used_tools)
        ended = self._updates.end()
        reason = text(result, "stopReason")
        self._result = _ENDINGS.get(reason, _ENDINGS["end_turn"])
        if self._result.kind is EndKind.ANSWERED and not self._updates.answer:
            self._result = failed("The agent ended its turn without an answer; try again.")
        return [*ended, Concluded()]

    def _on_request(self, call: Called) -> Sequence[Event | Step]:
        question, before = self._updates.ask(str(call.id), inner(call.params, "toolCall"))
        if self._is_free(inner(call.params, "toolCall")):
            return [*before, self._decide(call, is_allowed=True)]
        if self._setup.profile is Profile.EDIT and self._setup.can_ask:
            self._asked[question.id] = call
            return [*before, question]
        denied = Told("cli_denied", f"{question.reason}: {question.shown}")
        return [*before, self._decide(call, is_allowed=False), denied]

    def _is_free(self, call: Json) -> bool:
        """Whether the profile allows it, so that nobody has to be asked."""
        is_confined_edit = self._preset.confines_edits and text(call, "kind") == "edit"
        is_allowed_edit = self._setup.profile is Profile.EDIT and is_confined_edit
        return self._setup.profile is Profile.FULL or is_allowed_edit

    def _decide(self, call: Called, *, is_allowed: bool) -> Write:
        options = {
            text(one, "kind"): text(one, "optionId") for one in items(call.params, "options")
        }
        kinds = _ALLOWING if is_allowed else _DENYING
        chosen = next((options[kind] for kind in kinds if kind in options), None)
        return self._connection.answer(call.id, _outcome(chosen))


def _outcome(option: str | None) -> Mapping[str, Any]:
    if option is None:
        return {"outcome": {"outcome": "cancelled"}}
    return {"outcome": {"outcome": "selected", "optionId": option}}


def _picture(image: Image) -> dict[str, Any]:
    data = base64.b64encode(image.data).decode()
    return {"type": "image", "mimeType": image.media_type, "data": data}
