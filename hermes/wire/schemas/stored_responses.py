"""Responses after they were made, or while: fetched, followed, listed, cancelled and deleted.

And what is made of long inputs: their length, and a short form of them.
"""

from __future__ import annotations

from hermes.wire.schemas.builders import (
    any_of,
    boolean,
    constant,
    integer,
    list_of,
    record,
    ref,
    request,
    string,
    tagged,
    written_integer,
)
from hermes.wire.schemas.description import (
    EVENTS,
    JSON,
    Answer,
    Body,
    Description,
    answers_json,
    path,
    query,
)
from hermes.wire.schemas.errors import TURN, WITH_BODY
from hermes.wire.schemas.headers import IDEMPOTENCY_KEY, REPLAYED, SESSION_ID, SESSION_KEY
from hermes.wire.schemas.kept_items import INCLUDE, PAGE
from hermes.wire.schemas.response_request import CONVERSATION
from hermes.wire.schemas.responses import AREA

_NAME = string(shortest=1)
_ID = path("response_id", "The id of a stored response.")
_LAST_NUMBER = 2**53

_WHOLE_INPUT = {
    "input": any_of(string(), list_of(ref("ResponseInputItem"))),
    "previous_response_id": string(),
    "conversation": CONVERSATION,
    "instructions": string(),
}

SCHEMAS = {
    "InputTokensRequest": request(optional={**_WHOLE_INPUT, "tools": list_of(ref("ResponseTool"))}),
    "CompactRequest": request({"model": _NAME}, _WHOLE_INPUT),
    "Compaction": record(
        {
            "id": _NAME,
            "object": constant("response.compaction"),
            "created_at": integer(0),
            "output": list_of(
                tagged("compaction", {"id": _NAME, "encrypted_content": _NAME}), fewest=1
            ),
            "usage": ref("ResponseUsage"),
        }
    ),
}

DESCRIPTIONS = {
    "response": Description(
        summary="A stored response, or its events once more",
        area=AREA,
        parameters=(
            _ID,
            INCLUDE,
            query("stream", "`true` for its events, live while it is being made.", boolean()),
            query(
                "starting_after",
                "Leave out the events up to this number.",
                written_integer(0, _LAST_NUMBER),
            ),
        ),
        answers={
            200: Answer(
                about="The response as it is now; with `stream=true` its events.",
                contents={JSON: ref("Response"), EVENTS: ref("ResponseEvent")},
                has_end_mark=True,
            )
        },
        errors=(400, 404),
    ),
    "response_delete": Description(
        summary="Delete a stored response; one that is being made stops",
        area=AREA,
        parameters=(_ID,),
        answers=answers_json(
            record({"id": string(), "object": constant("response"), "deleted": constant(True)}),
            "It is gone.",
        ),
        errors=(404,),
    ),
    "response_input_items": Description(
        summary="What a response was asked, item by item",
        area=AREA,
        parameters=(_ID, *PAGE, INCLUDE),
        answers=answers_json(ref("ItemList"), "The page."),
        errors=(400, 404),
    ),
    "response_cancel": Description(
        summary="Stop a response in the background",
        area=AREA,
        parameters=(_ID,),
        answers=answers_json(ref("Response"), "The response as it ended."),
        errors=(400, 404),
    ),
    "response_input_tokens": Description(
        summary="About how many tokens an input has",
        area=AREA,
        parameters=(SESSION_ID, SESSION_KEY),
        body=Body(schema=ref("InputTokensRequest")),
        answers=answers_json(
            record({"object": constant("response.input_tokens"), "input_tokens": integer(0)}),
            "An estimate, without the agent's own prompt and tools.",
        ),
        errors=(*WITH_BODY, 404),
    ),
    "response_compact": Description(
        summary="Make a short item that stands for a long input",
        area=AREA,
        parameters=(SESSION_ID, SESSION_KEY, IDEMPOTENCY_KEY),
        body=Body(schema=ref("CompactRequest")),
        answers=answers_json(
            ref("Compaction"), "The item, for the input of later responses.", headers=REPLAYED
        ),
        errors=(*TURN, 404),
    ),
    "responses_websocket": Description(
        summary="A WebSocket for turn after turn",
        area=AREA,
        answers={
            101: Answer(
                about="Each message `{type: response.create, ...}` is a request, answered with "
                "the events of a stream.",
                contents={},
            )
        },
        errors=(400,),
    ),
}
