"""From a request to a plan: one thing to say, or the tools to use, one after the other."""

from __future__ import annotations

import re

from hermes.providers.demo import answers
from hermes.providers.demo.conversation import Conversation
from hermes.providers.demo.intents import INTENTS
from hermes.providers.demo.moves import Move, Say, Use

_LONGEST_REQUEST = 2_000
"""Nobody phrases a wish in more characters; it also bounds the time the phrases can take."""

_POLITE_BEGINNING = re.compile(
    r"(?:(?:hi|hello|hey|hermes|please|ok|okay|now|so|great|thanks"
    r"|(?:can|could|would|will)\s+you|i(?:\s+want|'d\s+like|\s+would\s+like)\s+you\s+to)\b[\s,.!:]*)+",
    re.IGNORECASE,
)
_NEXT_STEP = re.compile(
    r"[,;.]?\s(?:and\s+then|then|and\s+afterwards|and(?=\s+(?:read|show|list|run|search)\b))\s",
    re.IGNORECASE,
)
_PRONOUN = re.compile(r"\b(?:it|that\s+file|the\s+file)\b(?:\s+(?:back|again))?", re.IGNORECASE)


def plan(conversation: Conversation) -> tuple[Move, ...]:
    """One move that says something, or the tool uses the request asks for, in order."""
    request = conversation.request
    if len(request) > _LONGEST_REQUEST:
        return (Say(answers.not_understood(request)),)
    steps = _steps(conversation)
    if len(steps) > 1:
        return steps
    return (_understand(request, conversation) or Say(answers.not_understood(request)),)


def _steps(conversation: Conversation) -> tuple[Use, ...]:
    """The steps of "do this and then that", or nothing when not all of them are tool uses."""
    steps: list[Use] = []
    for part in _NEXT_STEP.split(conversation.request):
        request = part
        if steps and "path" in steps[-1].arguments:
            request = _PRONOUN.sub(lambda _: f"`{steps[-1].arguments['path']}`", part)
        move = _understand(request, conversation)
        if not isinstance(move, Use):
            return ()
        steps.append(move)
    return tuple(steps)


def _understand(request: str, conversation: Conversation) -> Move | None:
    """What the first fitting phrase leads to, with or without the request's polite beginning."""
    request = request.strip()
    polite = _POLITE_BEGINNING.match(request)
    rest = request[polite.end() :] if polite else ""
    for wording in (rest, request) if rest else (request,):
        for intent in INTENTS:
            match = intent.match(wording)
            if match and (move := intent.move(match, conversation)):
                return move
    return None
