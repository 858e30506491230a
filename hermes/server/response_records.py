"""Responses as they are answered and stored."""

from __future__ import annotations

import time
from collections.abc import Sequence
from typing import Any

from hermes.core.ports import ResponseRecords
from hermes.core.turn import Outcome, TurnResult
from hermes.server.seams import NewRecord, Seams
from hermes.wire.responses import (
    ResponseHead,
    ended_response,
    output_items,
    prior_count,
    turn_messages,
)
from hermes.wire.tool_forms import Preview, ResponsesForm
from hermes.wire.turn_errors import turn_error

CONVERSATION_PREFIX = "conv_"
"""What the ids of conversations begin with that were made with POST /v1/conversations."""


def finished_response(
    head: ResponseHead,
    result: TurnResult,
    record: NewRecord,
    *,
    form: ResponsesForm,
    preview: Preview,
    ended_at: float | None = None,
) -> dict[str, Any]:
    """The response object of a finished turn; a failed turn is an error, not an answer."""
    if result.outcome is Outcome.FAILED:
        raise turn_error(result)
    prior = prior_count(record.given_history, record.opening, result)
    output = output_items(result, response_id=head.id, prior=prior, form=form, preview=preview)
    moment = time.time() if ended_at is None else ended_at
    return ended_response(head, result, output=output, ended_at=int(moment))


async def save(
    seams: Seams, response: dict[str, Any], result: TurnResult, record: NewRecord
) -> None:
    """Store the response with this turn's messages, linked to the chain it continues."""
    if not record.store:
        return
    turn = turn_messages(record.given_history, record.opening, result)
    entry = {
        "response": response,
        "conversation_history": [*record.whole_history, *turn],
        "instructions": record.instructions,
        "session_id": result.session_id or record.session_id,
        "input_items": list(record.input_items),
    }

    def put() -> None:
        responses = seams.responses()
        responses.put(response["id"], entry, continues=record.continues, inherited=record.inherited)
        if record.conversation:
            _add_to_conversation(responses, record.conversation, response, record.input_items)

    await seams.storage.run(put)


def _add_to_conversation(
    responses: ResponseRecords,
    conversation: str,
    response: dict[str, Any],
    input_items: Sequence[dict[str, Any]],
) -> None:
    """A name points to its last response at once; a conversation's items are those of its turns."""
    if not conversation.startswith(CONVERSATION_PREFIX):
        responses.set_conversation(conversation, response["id"])
    elif response["status"] != "in_progress":
        items = [*input_items, *response["output"]]
        responses.conversations.add_turn(conversation, items, response["id"])
