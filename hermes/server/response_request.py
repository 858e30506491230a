"""From the body of a Responses request to a turn that can be run: what it asks, what it continues.

Every way to make a response (whole, streamed, in the background, over a WebSocket) begins here.
"""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import dataclass, replace
from itertools import dropwhile
from typing import Any

from hermes.core.errors import NotFound
from hermes.core.ids import new_id
from hermes.core.messages import Message
from hermes.core.ports import ConversationHead, ResponseRecords
from hermes.core.turn import TurnCall, TurnParameters
from hermes.server.attachments import settle_attachments, settle_response
from hermes.server.auth import Caller
from hermes.server.question import Question
from hermes.server.response_records import CONVERSATION_PREFIX
from hermes.server.routing import named_model, refuse_unseen_images, route_model
from hermes.server.seams import NewRecord, Seams
from hermes.server.turns import session_headers, stored_history
from hermes.wire.compaction import unseal
from hermes.wire.conversation import refuse_stray_results
from hermes.wire.kept_items import kept_items
from hermes.wire.response_input import (
    NOTHING_OUTSIDE,
    Outside,
    has_compaction,
    messages_of,
    referenced_ids,
)
from hermes.wire.responses import ResponseHead, ResponsesRequest, parse_responses
from hermes.wire.tool_forms import Dialect

TRUNCATED_HISTORY = 100


@dataclass(frozen=True, slots=True, kw_only=True)
class Chain:
    """What a request continues: the turns before it."""

    previous_id: str | None = None
    """The response it continues, as the client is told."""
    stored_id: str | None = None
    """The stored response whose transcript `history` is."""
    history: tuple[Message, ...] = ()
    instructions: str | None = None
    prompt: str | None = None
    """System messages among the items of a conversation."""
    session_id: str | None = None


NOTHING_BEFORE = Chain()


@dataclass(frozen=True, slots=True, kw_only=True)
class Prepared:
    """A request that was understood: its turn, and the response that will come of it."""

    asked: ResponsesRequest
    call: TurnCall
    head: ResponseHead
    record: NewRecord
    dialect: Dialect
    headers: Mapping[str, str]
    """Which session and model answer."""

    owner: str
    """Whose key asked."""

    @property
    def shows_reasoning(self) -> bool:
        return self.dialect.shows_reasoning(asked=self.asked.echo.asks_for_reasoning)


async def prepare(
    seams: Seams, question: Question, remembered: Mapping[str, Chain] | None = None
) -> Prepared:
    """`remembered` has responses that are not stored but may be continued by this caller."""
    caller, body = question.caller, question.body
    parsed = parse_responses(body, await outside(seams, body.get("input")))
    asked = await settle_response(parsed, seams)
    chain = await find_chain(
        seams, (asked.previous_response_id, asked.conversation), caller, remembered or {}
    )
    routed = route_model(seams, asked.model)
    call = _turn_call(asked, caller, chain, alias=routed.alias)
    call = replace(call, parameters=_for_key(seams, call.parameters, caller.owner))
    refuse_unseen_images(seams, routed.alias, [*call.history, *call.opening], param="input")
    return Prepared(
        asked=asked,
        call=call,
        headers={
            **session_headers(call.session_id, call.session_key),
            **routed.headers,
        },
        head=_head(seams, asked, chain),
        record=_new_record(asked, call, chain),
        dialect=question.dialect,
        owner=caller.owner,
    )


async def outside(seams: Seams, value: Any) -> Outside:
    """What the items of an input point to, from the store; most point to nothing."""
    item_ids = referenced_ids(value)
    if not item_ids and not has_compaction(value):
        return NOTHING_OUTSIDE

    def look_up() -> Outside:
        records = seams.responses()
        items = records.find_items(item_ids) if item_ids else {}
        return Outside(items=items, open_compaction=_opener(records))

    return await seams.storage.run(look_up)


def _opener(records: ResponseRecords) -> Any:
    key = records.signing_key()
    return lambda sealed, param: unseal(sealed, key, param)


async def find_chain(
    seams: Seams,
    continued: tuple[str | None, str | None],
    caller: Caller,
    remembered: Mapping[str, Chain],
) -> Chain:
    """What a request continues: a response, a conversation, or a stored session."""
    previous_id, name = continued
    if previous_id and previous_id in remembered:
        return remembered[previous_id]
    if previous_id:
        return await seams.storage.run(lambda: _previous(seams.responses(), previous_id))
    if name and name.startswith(CONVERSATION_PREFIX):
        chain = await seams.storage.run(lambda: conversation_chain(seams.responses(), name))
        return chain if chain.stored_id else await _settled(seams, chain)
    named = (
        await seams.storage.run(lambda: _named(seams.responses(), name)) if name else NOTHING_BEFORE
    )
    if named is NOTHING_BEFORE and caller.session_id is not None:
        history = await stored_history(seams, caller.session_id)
        return Chain(history=tuple(history), session_id=caller.session_id)
    return named


async def _settled(seams: Seams, chain: Chain) -> Chain:
    """A transcript was settled when its turn was run; items are as clients wrote them."""
    return replace(chain, history=tuple(await settle_attachments(list(chain.history), seams)))


def _previous(records: ResponseRecords, previous_id: str) -> Chain:
    record = records.get(previous_id)
    if record is None:
        raise unknown_previous(previous_id)
    return _chain_of(previous_id, record)


def _named(records: ResponseRecords, name: str) -> Chain:
    """A name nobody used yet, or one whose last response was dropped, starts afresh."""
    previous_id = records.get_conversation(name)
    record = records.get(previous_id) if previous_id else None
    return NOTHING_BEFORE if record is None else _chain_of(previous_id, record)


def _chain_of(previous_id: str | None, record: Mapping[str, Any]) -> Chain:
    return Chain(
        previous_id=previous_id,
        stored_id=previous_id,
        history=tuple(record.get("conversation_history") or ()),
        instructions=record.get("instructions"),
        session_id=record.get("session_id"),
    )


def conversation_chain(records: ResponseRecords, conversation_id: str) -> Chain:
    """What was said in a conversation: by its last response's transcript, else by its items.

    The transcript is preferred because it is shared and has what only the agent knows of its turns.
    """
    head = existing_conversation(records, conversation_id)
    messages = messages_of(
        records.conversations.items(conversation_id),
        Outside(open_compaction=_opener(records)),
        param="conversation",
    )
    prompts = [str(message["content"]) for message in messages if message["role"] == "system"]
    last = records.get(head.response_id) if head.response_id else None
    history = (
        [message for message in messages if message["role"] != "system"]
        if last is None
        else last.get("conversation_history") or ()
    )
    return Chain(
        stored_id=None if last is None else head.response_id,
        history=tuple(history),
        prompt="\n\n".join(prompts) or None,
        session_id=conversation_id,
    )


def existing_conversation(records: ResponseRecords, conversation_id: str) -> ConversationHead:
    head = records.conversations.get(conversation_id)
    if head is None:
        raise NotFound(
            f"No conversation has the id '{conversation_id[:100]}'; make one with "
            "POST /v1/conversations.",
            code="conversation_not_found",
            param="conversation",
        )
    return head


def unknown_previous(previous_id: str) -> NotFound:
    return NotFound(
        f"Previous response with id '{previous_id[:100]}' not found.",
        code="previous_response_not_found",
        param="previous_response_id",
    )


def _turn_call(
    asked: ResponsesRequest, caller: Caller, chain: Chain, *, alias: str | None
) -> TurnCall:
    history = [*chain.history, *asked.history]
    refuse_stray_results(history, asked.parameters.tool_results, param="input")
    if asked.truncation == "auto":
        history = _last_of(history)
    prompts = [chain.prompt, asked.system_prompt(chain.instructions)]
    said = [prompt for prompt in prompts if prompt is not None]
    return TurnCall(
        user_message=asked.user_message,
        history=history,
        system_prompt="\n\n".join(said) if said else None,
        session_id=caller.session_id or chain.session_id or new_id("session-"),
        session_key=caller.session_key,
        parameters=replace(asked.parameters, alias=alias),
    )


def _last_of(history: list[Message]) -> list[Message]:
    """The end of a long history. What a tool said is nothing without the call before it."""
    last = history[-TRUNCATED_HISTORY:]
    return list(dropwhile(lambda message: message["role"] == "tool", last))


def _for_key(seams: Seams, parameters: TurnParameters, owner: str) -> TurnParameters:
    """What may be done, and what has to be asked about, depends on who asks."""
    grants = seams.runs.grants.of(owner)
    return replace(parameters, owner=owner, can_ask=True, grants=grants)


def _lasting_instructions(asked: ResponsesRequest, chain: Chain) -> str | None:
    return asked.instructions if asked.instructions is not None else chain.instructions


def _new_record(asked: ResponsesRequest, call: TurnCall, chain: Chain) -> NewRecord:
    return NewRecord(
        store=asked.store,
        opening=call.opening,
        given_history=call.history,
        whole_history=[*chain.history, *asked.history],
        instructions=_lasting_instructions(asked, chain),
        conversation=asked.conversation,
        session_id=call.session_id,
        continues=chain.stored_id,
        inherited=len(chain.history) if chain.stored_id else 0,
        input_items=kept_items(asked.items) if asked.store else (),
    )


def _head(seams: Seams, asked: ResponsesRequest, chain: Chain) -> ResponseHead:
    return ResponseHead(
        id=new_id("resp_"),
        created_at=int(time.time()),
        model=named_model(seams, asked.model),
        previous_response_id=chain.previous_id,
        instructions=_lasting_instructions(asked, chain),
        conversation=asked.conversation,
        echo=asked.echo,
    )
