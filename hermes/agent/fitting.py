"""Keeps what a model is told within its window, and decides what becomes of what does not fit.

The turn's own messages, and the transcript, stay whole: only what is told changes.
"""

from __future__ import annotations

from dataclasses import replace

from hermes.agent.context import ContextSeams
from hermes.agent.seams import AgentSeams
from hermes.agent.shortening import Room, Shortening
from hermes.agent.turn_state import TurnState
from hermes.core.errors import ProviderError
from hermes.core.tokens import estimate_tokens, message_tokens
from hermes.core.turn import Usage
from hermes.providers.base import Prompt
from hermes.providers.windows import stated_window, window_of

OVERFLOW = "context_overflow"

_HARDER = 0.6
"""What is left of a prompt that a provider has refused."""


def fitted(seams: AgentSeams, turn: TurnState, prompt: Prompt) -> Prompt:
    """The prompt, with less of what is old in it if it would come near the window.

    Raises `ProviderError` when it is known that it cannot fit.
    """
    context, telling = seams.context, turn.telling
    if context is None:
        return prompt
    telling.prompt, telling.estimate = prompt, 0
    if telling.most_tokens is None and context.surely_fits(prompt):
        return prompt
    room = _room(seams, context, turn, prompt)
    telling.estimate = context.around(prompt) + estimate_tokens(prompt.messages)
    if telling.estimate > room.limit:
        prompt = _shorter(seams, context, turn, prompt, room)
    if telling.estimate > room.window and context.contexts.knows_window(context.provider()):
        telling.prompt = None  # it was not sent, so nobody has refused it
        raise ProviderError(_too_long(turn, prompt, room), code=OVERFLOW)
    telling.prompt = prompt
    return prompt


def made_room(seams: AgentSeams, turn: TurnState, refusal: str) -> bool:
    """After a provider refused the prompt as too long: whether it has become shorter."""
    context, telling = seams.context, turn.telling
    prompt = telling.prompt
    if context is None or prompt is None:
        return False
    stated = stated_window(refusal)
    if stated is not None:
        context.contexts.learn_window(context.provider(), stated)
    size = context.around(prompt) + estimate_tokens(prompt.messages)
    telling.most_tokens = int(size * _HARDER)
    _shorter(seams, context, turn, prompt, _room(seams, context, turn, prompt))
    return telling.estimate < size


def learnt(seams: AgentSeams, turn: TurnState, usage: Usage) -> None:
    """A prompt was taken: what it came to tells how well we count."""
    if seams.context is not None and turn.telling.estimate:
        seams.context.contexts.learn_ratio(
            seams.context.provider(), estimated=turn.telling.estimate, counted=usage.input_tokens
        )


def explained(seams: AgentSeams, turn: TurnState, error: ProviderError) -> ProviderError:
    """The refusal of a prompt that could not be made to fit, with what can be done about it."""
    context = seams.context
    if context is None or error.code != OVERFLOW or turn.telling.most_tokens is None:
        return error
    window, model = context.contexts.window(context.provider()), seams.model()
    return ProviderError(
        f"The conversation is too long for {model}, whose window is taken to be {window} tokens, "
        "and cannot be made any shorter. Send less at once, begin a new session, or use a model "
        f"with a larger window. {error}",
        status_code=error.status_code,
        code=OVERFLOW,
    )


def _shorter(
    seams: AgentSeams, context: ContextSeams, turn: TurnState, prompt: Prompt, room: Room
) -> Prompt:
    told = Shortening(seams, context, turn, room).run()
    return replace(prompt, messages=[*told, *turn.corrections])


def _too_long(turn: TurnState, prompt: Prompt, room: Room) -> str:
    longest = max(map(message_tokens, prompt.messages), default=0)
    return (
        f"The request is too long for {prompt.model}: about {turn.telling.estimate} tokens, of "
        f"which the longest message has {longest} and system prompt and tools {room.fixed}, and "
        f"the window has {room.window}. Send less at once, or use a model with a larger window; "
        "context.window and context_window say how large it is."
    )


def _room(seams: AgentSeams, context: ContextSeams, turn: TurnState, prompt: Prompt) -> Room:
    contexts, asked = context.contexts, context.provider()
    window = contexts.window(asked)
    answer = min(prompt.sampling.max_tokens or 0, window_of(prompt.model).most_output)
    limit = max(min(int(window * contexts.rules().compress_at), window - answer), window // 4)
    wished = seams.parameters.compact_threshold
    ratio = contexts.ratio(asked)
    ours = int((limit if wished is None else min(limit, wished)) / ratio)
    refused = turn.telling.most_tokens
    return Room(
        window=int(window / ratio),
        limit=ours if refused is None else min(ours, refused),
        fixed=context.around(prompt) + estimate_tokens(turn.corrections),
    )
