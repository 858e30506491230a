"""POST /v1/chat/completions: from memory where nothing is to be kept, else as a kept run."""

from __future__ import annotations

import time
from collections.abc import Mapping
from functools import partial

from aiohttp import web

from hermes.core.ids import new_id
from hermes.core.turn import Outcome, TurnCall
from hermes.runs.passing import PassingRun
from hermes.runs.turns import LiveTurn, start_into
from hermes.server import kept_chat
from hermes.server.asking import pending_answer
from hermes.server.attachments import settle_chat
from hermes.server.chat_turn import memory_call, plain_call, stored_session
from hermes.server.chat_work import KIND
from hermes.server.deeds import keep_when_over
from hermes.server.dialects import with_reasoning
from hermes.server.honesty import ignored_headers
from hermes.server.kept_chat import ChatAsked
from hermes.server.open_webui import is_task
from hermes.server.question import question_of
from hermes.server.routing import named_model, route_model
from hermes.server.seams import ChatStream, Seams
from hermes.server.submitting import has_key
from hermes.server.turns import read_body, run_to_end, session_headers, stream_headers
from hermes.wire.chat import ChatHead, ChatRequest, parse_chat
from hermes.wire.run_policies import RUN_ID_HEADER, read_policies


async def create(request: web.Request, seams: Seams) -> web.StreamResponse:
    seams.admit_turn()
    body = await read_body(request)
    asked = await settle_chat(parse_chat(body), seams)
    question = question_of(request, seams, body)
    caller = question.caller
    routed = route_model(seams, asked.model)
    chat = ChatAsked(
        question=question,
        asked=asked,
        head=_head(seams, asked),
        policies=read_policies(request.headers),
        routed=routed,
    )
    if is_task(request.headers, asked):
        call = plain_call(asked, caller.owner, alias=routed.alias)
        return await _from_memory(request, seams, chat, call)
    session_id = await stored_session(seams, asked, caller, routed.alias)
    answer = await pending_answer(
        seams, caller.owner, asked.user_message, history=asked.history, session_id=session_id
    )
    if answer is not None and answer.decision is not None:
        return await kept_chat.go_on(request, seams, chat, answer)
    if session_id is not None or _is_to_be_kept(request, seams, chat):
        return await kept_chat.begin(request, seams, chat, session_id)
    call = memory_call(seams, asked, caller, alias=routed.alias)
    return await _from_memory(request, seams, chat, call)


def _is_to_be_kept(request: web.Request, seams: Seams, chat: ChatAsked) -> bool:
    """Whether the answer matters beyond this connection."""
    policy = chat.policies.disconnect or seams.run_settings.disconnect_chat
    return chat.asked.parameters.store or policy.grace != 0 or has_key(request)


async def _from_memory(
    request: web.Request, seams: Seams, chat: ChatAsked, call: TurnCall
) -> web.StreamResponse:
    """Nothing is stored, and a client that leaves ends it all."""
    owner = chat.question.caller.owner
    await seams.accounting.refuse_spent(owner, None, seams.storage)
    with seams.gate.entered(owner):
        run = seams.passing.begin(KIND, owner, chat.head.model, chat.head.id)
        keep_when_over(seams, run, call, lambda: kept_chat.new_chat_run(seams, chat, None))
        said = {
            **chat.routed.headers,
            **ignored_headers(request, seams, call.parameters, chat.asked.parameters.ignored),
            RUN_ID_HEADER: run.id,
        }
        if chat.asked.stream:
            return await _streamed(request, seams, chat, call, run, said)
        return await _whole(seams, chat, call, run, said)


async def _streamed(
    request: web.Request,
    seams: Seams,
    chat: ChatAsked,
    call: TurnCall,
    run: PassingRun,
    said: Mapping[str, str],
) -> web.StreamResponse:
    headers = {**session_headers(call.session_id, call.session_key), **said}
    task = start_into(run.feed, run.agent_ref, seams.run_turn, call)
    run.task = task
    stream = ChatStream(
        head=chat.head,
        turn=LiveTurn(run.feed, task, run.agent_ref),
        include_usage=chat.asked.include_usage,
        headers=stream_headers(request, seams, headers),
        dialect=chat.question.dialect,
        keep_asking=partial(kept_chat.keep_paused, seams, chat, call, run),
    )
    try:
        return await seams.write_chat(request, stream)
    finally:
        run.end()


async def _whole(
    seams: Seams, chat: ChatAsked, call: TurnCall, run: PassingRun, said: Mapping[str, str]
) -> web.StreamResponse:
    shows_reasoning = chat.question.dialect.shows_reasoning()
    try:
        run.feed.is_quiet = True
        result = await run_to_end(
            seams, with_reasoning(call) if shows_reasoning else call, run.agent_ref, run.feed
        )
        run.result = result
    finally:
        run.end()
    if result.outcome is Outcome.ASKING:
        await kept_chat.keep_paused(seams, chat, call, run, result)
    return kept_chat.whole_answer(chat, result, call.session_id, said)


def _head(seams: Seams, asked: ChatRequest) -> ChatHead:
    return ChatHead(
        id=new_id("chatcmpl-"),
        model=named_model(seams, asked.model),
        created=int(time.time()),
    )
