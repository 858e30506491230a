"""What a turn's model calls used: counted, estimated where nobody counted, and held to limits."""

from __future__ import annotations

import json

from hermes.agent.keeping import keep
from hermes.agent.seams import AgentSeams
from hermes.agent.turn_state import TurnState
from hermes.core.events import Notice, TextDelta
from hermes.core.messages import assistant
from hermes.core.tokens import estimate_tokens
from hermes.core.turn import Outcome, TurnResult
from hermes.core.usage import Usage
from hermes.providers.base import Prompt
from hermes.providers.reply import Reply
from hermes.runs.allowance import CODE, Exhausted
from hermes.settings.model import ProviderSettings

UNKNOWN_COST = (
    "Nobody knows what {model} costs, so a limit on cost cannot be held for it. Put its price "
    "under `prices` in config.yaml, or limit tokens instead."
)


def count(seams: AgentSeams, turn: TurnState, used: Usage) -> None:
    """Add it to the turn and to its agent."""
    turn.usage += used
    seams.count(used)


def count_reply(seams: AgentSeams, turn: TurnState, reply: Reply, prompt: Prompt | None) -> None:
    """The same for what a reply took; the ledger has it from now on."""
    reported = reply.usage
    if prompt is not None and (reported is None or not reported.total_tokens):
        reported = estimated(prompt, reply)
    used = seams.priced(reported or Usage(), None)
    count(seams, turn, used)
    seams.allowance.add(used)
    if used.is_unpriced and seams.allowance.has_cost_limit and not turn.has_unknown_cost:
        turn.has_unknown_cost = True
        seams.emit(Notice("cost_unknown", UNKNOWN_COST.format(model=seams.model())))


def count_aside(
    seams: AgentSeams, turn: TurnState, usage: Usage, seller: ProviderSettings | None
) -> None:
    """What a call took that the turn made on the side, perhaps of another provider."""
    used = seams.priced(usage, seller)
    turn.aside_tokens += used.output_tokens
    count(seams, turn, used)
    seams.allowance.add(used)


def estimated(prompt: Prompt, reply: Reply) -> Usage:
    """For a provider that counts nothing, and for an answer that broke off before it did."""
    read = estimate_tokens(prompt.messages, prompt=prompt.system, tools=prompt.tools)
    said = [assistant(f"{reply.reasoning or ''}{reply.text or ''}")]
    calls = json.dumps([call.arguments for call in reply.tool_calls]) if reply.tool_calls else None
    written = estimate_tokens(said, prompt=calls)
    return Usage(
        input_tokens=read,
        output_tokens=written,
        total_tokens=read + written,
        is_estimated=True,
    )


def stopped_by_budget(seams: AgentSeams, turn: TurnState, spent: Exhausted) -> TurnResult:
    """The work so far is kept; with a higher limit the next message goes on with it."""
    seams.emit(Notice(CODE, spent.message))
    note = f"I stopped before I was done. {spent.message}"
    seams.emit(TextDelta(note))
    keep(seams, turn, assistant(note))
    text = "\n\n".join([*turn.said, note])
    return turn.ended(Outcome.TRUNCATED, text, spent.message, failure=spent.failure)


def refused(seams: AgentSeams, turn: TurnState, spent: Exhausted) -> TurnResult:
    """Nothing was done: the limit was reached before the turn began."""
    seams.emit(Notice(CODE, spent.message))
    return turn.ended(Outcome.FAILED, error=spent.message, failure=spent.failure)
