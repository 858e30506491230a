"""What is said in a turn, kept: the model's replies, and what people say while it works."""

from __future__ import annotations

from collections.abc import Sequence

from hermes.agent.seams import AgentSeams
from hermes.agent.turn_state import TurnState
from hermes.core import messages
from hermes.core.events import SegmentEnd, Steered
from hermes.core.messages import Message
from hermes.core.run_link import RunLink, Steer
from hermes.providers.reply import Reply


def keep_reply(seams: AgentSeams, turn: TurnState, reply: Reply) -> None:
    if not reply.text and not reply.tool_calls:
        return
    calls = [call.as_message_part() for call in reply.tool_calls]
    message = messages.assistant(reply.text, calls)
    if reply.replay is not None:
        message["replay"] = reply.replay
    if reply.reasoning and seams.parameters.keeps_reasoning:
        message["reasoning"] = reply.reasoning
    if reply.text:
        turn.said.append(reply.text)
    keep(seams, turn, message)


def keep(seams: AgentSeams, turn: TurnState, message: Message) -> None:
    turn.messages.append(message)
    seams.record(message, turn.usage)


def hear(seams: AgentSeams, turn: TurnState, steers: Sequence[Steer]) -> None:
    """Let the model know what was said to it while it worked."""
    for steer in steers:
        seams.emit(Steered(steer.id, steer.text))
        keep(seams, turn, messages.user(steer.text))


def is_steered(seams: AgentSeams, turn: TurnState, link: RunLink) -> bool:
    """Whether somebody has said something that this answer is no answer to."""
    steers = link.end_steering()
    if steers:
        seams.emit(SegmentEnd())
        hear(seams, turn, steers)
    return bool(steers)
