"""Our side of the talk with Claude Code: in both directions, or one prompt and its answer."""

from __future__ import annotations

import base64
from collections.abc import Sequence
from typing import Any

from hermes.backends.drivers.claude_lines import ClaudeLines
from hermes.backends.drivers.claude_tools import permission_asked
from hermes.backends.drivers.foreign_json import Json, as_line, inner, object_of, text
from hermes.backends.jobs import Image, Question, Setup
from hermes.backends.saying import CloseInput, Ending, Event, Exit, Step, Told, Write
from hermes.core.cli_agents import Profile

_DENIED = "Nobody can be asked to allow this. Do without it."


class ClaudePeer:
    """Speaks the CLI's protocol of JSON lines: permissions, images, interruption."""

    def __init__(self, setup: Setup) -> None:
        self._setup = setup
        self._lines = _lines_of(setup)
        self._asked: dict[str, Json] = {}
        """By request, what the CLI would do if it is allowed to."""
        self._is_interrupted = False

    def greet(self) -> Sequence[Step]:
        """A question with a short answer, which shows that the process is ready.

        Not yet `initialize`: that fixes the system prompt, and is just as quick later.
        """
        return (_request("ready", subtype="mcp_status"),)

    def ask(self, question: Question) -> Sequence[Step]:
        content = [*map(_image, question.images), {"type": "text", "text": _as_text(question.text)}]
        message = {"role": "user", "content": content}
        prompt = question.system_prompt or self._setup.system_prompt
        start = _request("start", subtype="initialize", **self._told_at_start(prompt))
        return (start, Write(as_line({"type": "user", "message": message})))

    def read(self, line: bytes) -> Sequence[Event | Step]:
        value = object_of(line)
        if value is None:
            return self._lines.read(line)
        match value.get("type"):
            case "control_request":
                return self._requested(text(value, "request_id"), inner(value, "request"))
            case "control_cancel_request":
                self._asked.pop(text(value, "request_id"), None)
                return ()
            case "control_response":
                return _answered(inner(value, "response"))
            case _:
                return self._lines.read_object(value)

    def answer(self, question_id: str, *, is_allowed: bool, message: str = "") -> Sequence[Step]:
        arguments = self._asked.pop(question_id, None)
        if arguments is None:
            return ()
        if is_allowed:
            return (_response(question_id, behavior="allow", updatedInput=arguments),)
        return (_response(question_id, behavior="deny", message=message or "It was not allowed."),)

    def interrupt(self) -> Sequence[Step]:
        self._is_interrupted = True
        return (_request("stop", subtype="interrupt"),)

    def dismiss(self) -> Sequence[Step]:
        return (CloseInput(),)

    def finish(self, exit_: Exit) -> Ending:
        return self._lines.finish(exit_, is_interrupted=self._is_interrupted)

    def _told_at_start(self, prompt: str | None) -> dict[str, Any]:
        told: dict[str, Any] = {}
        if replaces_prompt(self._setup):
            told["systemPrompt"] = prompt or ""
        elif prompt:
            told["appendSystemPrompt"] = prompt
        if self._setup.answer_schema is not None:
            told["jsonSchema"] = self._setup.answer_schema
        return told

    def _requested(self, request_id: str, request: Json) -> Sequence[Event | Step]:
        if request.get("subtype") != "can_use_tool":
            return (_refusal(request_id),)
        if not self._setup.can_ask:
            return (_response(request_id, behavior="deny", message=_DENIED),)
        asked = permission_asked(request_id, request)
        self._asked[request_id] = asked.arguments
        self._lines.expect_denial(asked.call_id)
        return (asked,)


class OneShotPeer:
    """Gives the prompt and reads until the process ends."""

    def __init__(self, setup: Setup) -> None:
        self._lines = _lines_of(setup)

    def greet(self) -> Sequence[Step]:
        return ()

    def ask(self, question: Question) -> Sequence[Step]:
        return (Write(_as_text(question.text).encode(errors="replace")), CloseInput())

    def read(self, line: bytes) -> Sequence[Event | Step]:
        return self._lines.read(line)

    def answer(self, question_id: str, *, is_allowed: bool, message: str = "") -> Sequence[Step]:
        return ()

    def interrupt(self) -> Sequence[Step]:
        return ()

    def dismiss(self) -> Sequence[Step]:
        return ()

    def finish(self, exit_: Exit) -> Ending:
        return self._lines.finish(exit_)


def _lines_of(setup: Setup) -> ClaudeLines:
    return ClaudeLines(
        has_schema=setup.answer_schema is not None, keeps_session=setup.session is not None
    )


def replaces_prompt(setup: Setup) -> bool:
    """Whether the CLI's own system prompt, all about tools and files, is left out."""
    return setup.profile is Profile.CHAT


def _as_text(prompt: str) -> str:
    """A prompt that begins with a slash would be a command to the CLI; a space makes it text."""
    return f" {prompt}" if prompt.startswith("/") else prompt


def _image(image: Image) -> dict[str, Any]:
    data = base64.b64encode(image.data).decode()
    source = {"type": "base64", "media_type": image.media_type, "data": data}
    return {"type": "image", "source": source}


def _request(request_id: str, **request: Any) -> Write:
    line = {"type": "control_request", "request_id": request_id, "request": request}
    return Write(as_line(line))


def _response(request_id: str, **decision: Any) -> Write:
    response = {"subtype": "success", "request_id": request_id, "response": decision}
    return Write(as_line({"type": "control_response", "response": response}))


def _refusal(request_id: str) -> Write:
    response = {"subtype": "error", "request_id": request_id, "error": "not supported"}
    return Write(as_line({"type": "control_response", "response": response}))


def _answered(response: Json) -> Sequence[Event]:
    if response.get("subtype") != "error" or response.get("request_id") == "ready":
        return ()
    return (Told("cli_warning", f"The CLI refused a request: {text(response, 'error')}"),)
