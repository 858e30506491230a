"""The agent as an MCP tool: a run that is begun, followed to its end or to a question, and told.

Knows runs, not the protocol.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from typing import Any

from hermes.core.events import Event, Notice, RunQueued, ToolStarted, TurnEnded, TurnPaused
from hermes.core.ids import new_id
from hermes.core.runs import CANCEL, DETACH, Run, RunStatus
from hermes.runs.live_logs import Following
from hermes.runs.live_run import LiveRun
from hermes.server.auth import Caller
from hermes.server.question import Question
from hermes.server.routing import named_model, route_model
from hermes.server.run_objects import decide_run, existing_run, shown_run
from hermes.server.run_work import KIND, RunWork, run_question
from hermes.server.seams import Seams
from hermes.server.submitting import new_run
from hermes.wire.lenient import required_text, text
from hermes.wire.run_policies import AS_CONFIGURED
from hermes.wire.run_requests import parse_approval, parse_run
from hermes.wire.tool_forms import CONTRACT_DIALECT

Report = Callable[[str], Awaitable[None]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Wish:
    """A tool call of a client."""

    seams: Seams
    caller: Caller
    arguments: Mapping[str, Any]
    report: Report
    """Tells the client what happens meanwhile."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Told:
    text: str
    data: Mapping[str, Any]
    """The same for programs."""
    is_error: bool = False


async def run(wish: Wish) -> Told:
    """Begin a run in a session and follow it. Whoever stops listening stops it."""
    seams, owner = wish.seams, wish.caller.owner
    seams.admit_turn()
    question = Question(body=_body(wish.arguments), caller=wish.caller, dialect=CONTRACT_DIALECT)
    asked = parse_run(question.body)
    route_model(seams, asked.model)  # a model that is refused is refused before anything is kept
    new = new_run(
        kind=KIND,
        owner=owner,
        kept=run_question(question),
        model=named_model(seams, asked.model),
        policies=AS_CONFIGURED,
        seams=seams,
        disconnect=CANCEL,
        session_id=asked.session_id,
        timeout=asked.timeout,
    )
    begun = await seams.runs.submit(new, RunWork(seams=seams, question=question))
    if begun.live is not None:
        await _follow(wish, begun.live, begun.after)
    return await told(seams, await existing_run(seams, begun.run.id, owner))


async def approve(wish: Wish) -> Told:
    """Decide about what a run waits for, and follow it from there."""
    seams, owner = wish.seams, wish.caller.owner
    answer = parse_approval(wish.arguments)
    found = await existing_run(
        seams, required_text(wish.arguments, "run_id", param="run_id"), owner
    )
    live = await decide_run(seams, found, answer)
    if live is not None:
        await _follow(wish, live, live.after)
    return await told(seams, await existing_run(seams, found.id, owner))


async def status(wish: Wish) -> Told:
    run_id = required_text(wish.arguments, "run_id", param="run_id")
    return await told(wish.seams, await existing_run(wish.seams, run_id, wish.caller.owner))


async def told(seams: Seams, found: Run) -> Told:
    """How it stands with a run."""
    shown = await shown_run(seams, found)
    kept = ("id", "status", "session_id", "model", "output", "error", "usage", "approvals")
    data = {"run_id" if name == "id" else name: shown[name] for name in kept if name in shown}
    failed = (RunStatus.FAILED, RunStatus.CANCELLED, RunStatus.INTERRUPTED)
    return Told(text=_words(shown), data=data, is_error=found.status in failed)


def _body(arguments: Mapping[str, Any]) -> dict[str, Any]:
    """As `POST /v1/runs` would be asked. Without a session a new one begins."""
    body = {
        "input": required_text(arguments, "message", param="message"),
        "session_id": text(arguments, "session_id") or new_id("session-"),
        "model": text(arguments, "model"),
        "instructions": text(arguments, "instructions"),
        "timeout": arguments.get("timeout"),
    }
    return {name: value for name, value in body.items() if value is not None}


def _words(shown: Mapping[str, Any]) -> str:
    match shown["status"]:
        case "completed":
            return str(shown["output"] or "")
        case "waiting_for_approval":
            wanted = "\n".join(
                f"- {each['tool']}: {each['command']} (it {each['reason']})"
                for each in shown["approvals"]
            )
            return (
                f"Run {shown['id']} waits for approval of:\n{wanted}\nAsk the user, then call "
                "`approve` with the run_id and their decision: once, session, always or deny."
            )
        case "failed" | "cancelled" | "interrupted" as ended:
            said = (shown["error"] or {}).get("message") or ""
            return " ".join(filter(None, [f"The run {ended}.", said, shown["output"]]))
        case status:
            return f"Run {shown['id']} is {status}."


async def _follow(wish: Wish, live: LiveRun, after: int) -> None:
    """To the end of this leg, telling of it; a call that is cancelled has left."""
    following = wish.seams.runs.follow(live.id, after=after)
    live.joined()
    policy = live.run.disconnect
    try:
        await _tell(wish, following)
        policy = DETACH
    finally:
        following.close()
        live.left(policy)


async def _tell(wish: Wish, following: Following) -> None:
    while True:
        for each in await following.take():
            if isinstance(each.event, TurnEnded | TurnPaused):
                return
            line = _line(wish.seams, each.event)
            if line is not None:
                await wish.report(line)


def _line(seams: Seams, event: Event) -> str | None:
    match event:
        case ToolStarted(name=name, arguments=arguments):
            return f"{name}: {seams.tool_preview(name, arguments)}"
        case Notice(message=message):
            return message
        case RunQueued(place=place):
            return f"Waiting for {place} others."
        case _:
            return None
