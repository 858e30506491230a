"""POST /v1/chat/completions."""

from __future__ import annotations

import time
from functools import partial

from aiohttp import web

from hermes.core.ids import derive_chat_session_id, new_id
from hermes.core.messages import Message
from hermes.core.turn import Outcome, TurnCall, TurnParameters, TurnResult
from hermes.runs.turns import start_turn
from hermes.server.answers import json_answer
from hermes.server.attachments import settle_chat
from hermes.server.auth import Caller
from hermes.server.dialects import with_reasoning
from hermes.server.honesty import ignored_headers
from hermes.server.open_webui import is_task, pinned_session
from hermes.server.routing import refuse_unseen_images, route_model
from hermes.server.seams import ChatStream, Seams
from hermes.server.stored_chats import keep
from hermes.server.turns import (
    once,
    read_body,
    run_to_end,
    session_headers,
    stored_history,
    stream_headers,
)
from hermes.wire.chat import (
    ChatHead,
    ChatRequest,
    completion,
    incomplete_headers,
    parse_chat,
)
from hermes.wire.conversation import refuse_stray_results
from hermes.wire.turn_errors import turn_error


async def create(request: web.Request, seams: Seams) -> web.StreamResponse:
    seams.admit_turn()
    asked = await settle_chat(parse_chat(await read_body(request)), seams)
    caller = seams.read_caller(request)
    dialect = seams.read_dialect(request)
    routed = route_model(seams, asked.model)
    if is_task(request.headers, asked):
        call = _plain_call(asked, alias=routed.alias)
    else:
        call = await _turn_call(seams, asked, caller, alias=routed.alias)
    said = {
        **routed.headers,
        **ignored_headers(request, seams, call.parameters, asked.parameters.ignored),
    }
    if asked.stream:
        headers = {**session_headers(call.session_id, call.session_key), **said}
        head = _head(seams, asked)
        stream = ChatStream(
            head=head,
            turn=start_turn(seams.run_turn, call),
            include_usage=asked.include_usage,
            headers=stream_headers(request, seams, headers),
            dialect=dialect,
            keep=partial(keep, seams, head, asked) if asked.parameters.store else None,
        )
        return await seams.write_chat(request, stream)

    shows_reasoning = dialect.shows_reasoning()
    heard = with_reasoning(call) if shows_reasoning else call

    async def compute() -> tuple[ChatHead, TurnResult]:
        head, result = _head(seams, asked), _usable(await run_to_end(seams, heard))
        if asked.parameters.store:
            await keep(seams, head, asked, result)
        return head, result

    head, result = await once(request, seams, compute)
    answer = completion(head, result, shows_reasoning=shows_reasoning)
    return json_answer(answer, headers={**_answer_headers(result, call), **said})


async def _turn_call(
    seams: Seams, asked: ChatRequest, caller: Caller, *, alias: str | None
) -> TurnCall:
    session_id, history, persist = await _session(seams, asked, caller, alias)
    refuse_stray_results(history, asked.tool_results, param="messages")
    call = TurnCall(
        user_message=asked.user_message,
        history=history,
        system_prompt=asked.system_prompt,
        session_id=session_id,
        session_key=caller.session_key,
        parameters=_turn_parameters(asked, alias, persist=persist),
    )
    refuse_unseen_images(seams, alias, [*history, *call.opening], param="messages")
    return call


async def _session(
    seams: Seams, asked: ChatRequest, caller: Caller, alias: str | None
) -> tuple[str, list[Message], bool]:
    """Whose turn this is, what went before, and whether it is kept.

    A named session brings its stored history; a chat of Open WebUI finds the session it continues.
    Any other chat brings its own history and is not stored: its derived id is shared by everybody
    who opens with the same words, so nothing is ever loaded or kept under it.
    """
    if caller.session_id is not None:
        return caller.session_id, await stored_history(seams, caller.session_id), True
    if caller.chat_id is not None:
        pinned = await pinned_session(seams, caller.chat_id, alias, asked.history)
        if pinned is not None:
            return *pinned, True
    return derive_chat_session_id(asked.system_prompt, asked.first_user_text), asked.history, False


def _plain_call(asked: ChatRequest, *, alias: str | None) -> TurnCall:
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
            is_plain=True,
        ),
    )


def _turn_parameters(asked: ChatRequest, alias: str | None, *, persist: bool) -> TurnParameters:
    wanted = asked.parameters
    return TurnParameters(
        persist=persist,
        tool_results=tuple(asked.tool_results),
        sampling=wanted.sampling,
        answer_format=wanted.answer_format,
        reasoning_effort=wanted.reasoning_effort,
        client_tools=wanted.client_tools,
        alias=alias,
    )


def _head(seams: Seams, asked: ChatRequest) -> ChatHead:
    return ChatHead(
        id=new_id("chatcmpl-"),
        model=asked.model or seams.model_name(),
        created=int(time.time()),
    )


def _usable(result: TurnResult) -> TurnResult:
    if result.outcome is Outcome.FAILED or (not result.is_complete and not result.text):
        raise turn_error(result)
    return result


def _answer_headers(result: TurnResult, call: TurnCall) -> dict[str, str]:
    named = session_headers(result.session_id or call.session_id, call.session_key)
    return named | incomplete_headers(result)
