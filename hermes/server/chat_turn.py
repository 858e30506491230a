"""From a chat request to the turn it asks for: whose it is, what went before, how it is run."""

from __future__ import annotations

from dataclasses import replace

from hermes.core.ids import derive_chat_session_id
from hermes.core.messages import Message
from hermes.core.turn import TurnCall, TurnParameters
from hermes.server.auth import Caller
from hermes.server.open_webui import pinned_session
from hermes.server.routing import refuse_unseen_images
from hermes.server.seams import Seams
from hermes.wire.chat import ChatRequest
from hermes.wire.conversation import refuse_stray_results


async def stored_session(
    seams: Seams, asked: ChatRequest, caller: Caller, alias: str | None
) -> str | None:
    """The session that keeps this chat; None when its client keeps it itself.

    It is named by the client, or found for a chat of Open WebUI.
    """
    if caller.session_id is not None:
        return caller.session_id
    if caller.chat_id is None:
        return None
    return await pinned_session(seams, caller.chat_id, alias, asked.history)


def memory_call(seams: Seams, asked: ChatRequest, caller: Caller, *, alias: str | None) -> TurnCall:
    """A turn whose client brings the history along.

    Its derived id is shared by everybody who opens with the same words, so nothing is ever loaded
    or kept under it.
    """
    session_id = derive_chat_session_id(asked.system_prompt, asked.first_user_text)
    return _call(seams, asked, caller, session_id, asked.history, alias=alias)


def stored_call(
    seams: Seams,
    asked: ChatRequest,
    caller: Caller,
    session_id: str,
    history: list[Message],
    *,
    alias: str | None,
) -> TurnCall:
    """A turn in a stored session, which has the history."""
    call = _call(seams, asked, caller, session_id, history, alias=alias)
    return replace(call, parameters=replace(call.parameters, persist=True))


def plain_call(asked: ChatRequest, owner: str, *, alias: str | None) -> TurnCall:
    """For the model alone: no agent, no tools, no session."""
    wanted = asked.parameters
    return TurnCall(
        user_message=asked.user_message,
        history=asked.history,
        system_prompt=asked.system_prompt,
        parameters=TurnParameters(
            sampling=wanted.sampling,
            answer_format=wanted.answer_format,
            reasoning_effort=wanted.reasoning_effort,
            alias=alias,
            budget=wanted.budget,
            owner=owner,
            is_plain=True,
        ),
    )


def _call(
    seams: Seams,
    asked: ChatRequest,
    caller: Caller,
    session_id: str,
    history: list[Message],
    *,
    alias: str | None,
) -> TurnCall:
    refuse_stray_results(history, asked.tool_results, param="messages")
    wanted = asked.parameters
    call = TurnCall(
        user_message=asked.user_message,
        history=history,
        system_prompt=asked.system_prompt,
        session_id=session_id,
        session_key=caller.session_key,
        parameters=TurnParameters(
            tool_results=tuple(asked.tool_results),
            sampling=wanted.sampling,
            answer_format=wanted.answer_format,
            reasoning_effort=wanted.reasoning_effort,
            client_tools=wanted.client_tools,
            budget=wanted.budget,
            alias=alias,
            owner=caller.owner,
            can_ask=True,
            grants=seams.runs.grants.of(caller.owner),
        ),
    )
    refuse_unseen_images(seams, alias, [*history, *call.opening], param="messages")
    return call
