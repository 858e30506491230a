"""What was asked, without the connection it came over: enough to answer it in another process."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from aiohttp import web

from hermes.core.runs import Run
from hermes.server.auth import Caller
from hermes.server.seams import Seams
from hermes.wire.tool_forms import ChatForm, Dialect, ReasoningView, ResponsesForm, ToolForms


@dataclass(frozen=True, slots=True, kw_only=True)
class Question:
    """A request as it is answered, now or later."""

    body: Mapping[str, Any]
    caller: Caller
    dialect: Dialect


def question_of(request: web.Request, seams: Seams, body: Mapping[str, Any]) -> Question:
    """Raises `ApiError` for headers that are malformed or not allowed."""
    return Question(
        body=body, caller=seams.read_caller(request), dialect=seams.read_dialect(request)
    )


def kept_question(
    question: Question, head: Mapping[str, Any], *, bulk: frozenset[str]
) -> dict[str, Any]:
    """What a run keeps of its question, and of the answer it makes, as JSON.

    `bulk` names the fields that may be large: they are kept under `request`, and dropped when the
    run is over (see `NewRun.input`). The rest says how the answer is shown.
    """
    caller, dialect = question.caller, question.dialect
    return {
        "head": dict(head),
        "caller": {
            "session_id": caller.session_id,
            "session_key": caller.session_key,
            "chat_id": caller.chat_id,
        },
        "dialect": {
            "responses": dialect.forms.responses.value,
            "chat": dialect.forms.chat.value,
            "reasoning": dialect.reasoning.value,
        },
        "body": {name: value for name, value in question.body.items() if name not in bulk},
        "request": {name: value for name, value in question.body.items() if name in bulk},
    }


def own_messages(run: Run) -> str | None:
    """For a history: the run whose messages are no history to it, as it goes on with them."""
    return run.id if run.attempt > 1 else None


def asked_in(run: Run) -> Question:
    """The question of a run, as far as it is still kept."""
    return read_question(run.input, run.owner)


def read_question(kept: Mapping[str, Any], owner: str) -> Question:
    forms = kept["dialect"]
    return Question(
        body={**kept["body"], **kept.get("request", {})},
        caller=Caller(**kept["caller"], owner=owner),
        dialect=Dialect(
            forms=ToolForms(ResponsesForm(forms["responses"]), ChatForm(forms["chat"])),
            reasoning=ReasoningView(forms["reasoning"]),
        ),
    )
