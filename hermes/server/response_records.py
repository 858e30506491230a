"""Responses as they are answered and stored."""

from __future__ import annotations

import time
from typing import Any

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


def finished_response(
    head: ResponseHead,
    result: TurnResult,
    record: NewRecord,
    *,
    form: ResponsesForm,
    preview: Preview,
) -> dict[str, Any]:
    """The response object of a finished turn; a failed turn is an error, not an answer."""
    if result.outcome is Outcome.FAILED:
        raise turn_error(result)
    prior = prior_count(record.given_history, record.opening, result)
    output = output_items(result, prior=prior, form=form, preview=preview)
    return ended_response(head, result, output=output, ended_at=int(time.time()))


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
    }

    def put() -> None:
        responses = seams.responses()
        responses.put(response["id"], entry, continues=record.continues, inherited=record.inherited)
        if record.conversation:
            responses.set_conversation(record.conversation, response["id"])

    await seams.storage.run(put)
