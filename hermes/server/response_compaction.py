"""Long inputs: how long one is, and a short form that stands for it."""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from aiohttp import web

from hermes.core.errors import InvalidRequest
from hermes.core.ids import new_id
from hermes.core.messages import Message
from hermes.core.tokens import estimate_tokens
from hermes.core.turn import TurnCall, TurnParameters, TurnResult
from hermes.server.answers import json_answer
from hermes.server.attachments import settle_attachments
from hermes.server.kept_answers import created_once
from hermes.server.response_request import find_chain, outside
from hermes.server.routing import route_model
from hermes.server.seams import Seams
from hermes.server.turns import read_body, run_to_end
from hermes.wire.compaction import compaction_object, seal, shortened
from hermes.wire.lenient import required_text, text
from hermes.wire.response_input import messages_of, read_items
from hermes.wire.response_tools import read_tools
from hermes.wire.responses import read_continued, response_usage
from hermes.wire.turn_errors import turn_error

REQUEST = (
    "Summarise the conversation above for somebody who will carry it on without having read it. "
    "Keep every fact, name, number, decision, file, open question and wish that may matter later; "
    "leave out greetings and repetition. Write the summary only."
)
"""What the plain model is asked at the end of a conversation that is to become short."""


@dataclass(frozen=True, slots=True, kw_only=True)
class _WholeInput:
    """All that a model would be told, in whatever order it comes."""

    messages: list[Message]
    prompt: str | None


async def count_input_tokens(request: web.Request, seams: Seams) -> web.StreamResponse:
    """An estimate (`hermes.core.tokens`), without the agent's own prompt and tools."""
    body = await read_body(request)
    tools = read_tools(body.get("tools"))
    whole = await _whole_input(request, seams, body)
    counted = estimate_tokens(whole.messages, prompt=whole.prompt, tools=tools)
    return json_answer({"object": "response.input_tokens", "input_tokens": counted})


@created_once
async def compact(request: web.Request, seams: Seams) -> web.StreamResponse:
    """A compaction item that stands for the whole input; nothing of it is stored."""
    seams.admit_turn()
    body = await read_body(request)
    routed = route_model(seams, required_text(body, "model", param="model"))
    whole = await _whole_input(request, seams, body)
    if not whole.messages:
        raise InvalidRequest(
            "Nothing to compact: send 'input', 'previous_response_id' or both.",
            param="input",
            code="missing_required_parameter",
        )

    result = await _summary(seams, whole, routed.alias)
    key = await seams.storage.run(lambda: seams.responses().signing_key())
    compaction = compaction_object(
        compaction_id=new_id("resp_"),
        item_id=new_id("cmp_"),
        created_at=int(time.time()),
        sealed=seal(shortened(whole.messages, result.text), key),
        usage=response_usage(result.usage),
    )
    return json_answer(compaction, headers=routed.headers)


async def _whole_input(request: web.Request, seams: Seams, body: Mapping[str, Any]) -> _WholeInput:
    value = body.get("input")
    found = await outside(seams, value)
    # An empty input is none: both routes may be asked about a stored response alone.
    is_absent = value is None or value == "" or value == []
    said = [] if is_absent else messages_of(read_items(value, found), found)
    said = await settle_attachments(said, seams)
    caller = seams.read_caller(request)
    chain = await find_chain(seams, read_continued(body), caller, {})
    prompts = [
        chain.prompt,
        text(body, "instructions"),
        *(str(message["content"]) for message in said if message["role"] == "system"),
    ]
    return _WholeInput(
        messages=[*chain.history, *(message for message in said if message["role"] != "system")],
        prompt="\n\n".join(prompt for prompt in prompts if prompt) or None,
    )


async def _summary(seams: Seams, whole: _WholeInput, alias: str | None) -> TurnResult:
    result = await run_to_end(
        seams,
        TurnCall(
            user_message=REQUEST,
            history=whole.messages,
            system_prompt=whole.prompt,
            session_id=new_id("session-"),
            parameters=TurnParameters(is_plain=True, alias=alias),
        ),
    )
    if not result.is_complete or not result.text.strip():
        raise turn_error(result)
    return result
