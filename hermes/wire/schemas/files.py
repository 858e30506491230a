"""Uploaded files."""

from __future__ import annotations

from hermes.wire.files import ANCHOR, LEAST_SECONDS, MAX_LIMIT, MOST_SECONDS, PURPOSES
from hermes.wire.schemas.builders import (
    boolean,
    constant,
    integer,
    list_of,
    one_of,
    or_null,
    record,
    ref,
    string,
    written_integer,
)
from hermes.wire.schemas.description import (
    Answer,
    Body,
    Description,
    answers_json,
    path,
    query,
)
from hermes.wire.schemas.errors import KEYED, WITH_BODY
from hermes.wire.schemas.headers import IDEMPOTENCY_KEY, REPLAYED

AREA = "Files"

BYTES = "application/octet-stream"
FORM = "multipart/form-data"

_STORE = 503
_ID = path("file_id", "The id of a file.")
_BINARY = {"contentMediaType": BYTES}
"""Without a type: these are bytes, and no JSON."""

SCHEMAS = {
    "File": record(
        {
            "id": string(shortest=1),
            "object": constant("file"),
            "bytes": integer(0),
            "created_at": integer(0),
            "expires_at": or_null(integer(0)),
            "filename": string(shortest=1),
            "purpose": one_of(*PURPOSES),
            "status": constant("processed"),
        }
    ),
    "FileForm": record(
        {"file": _BINARY, "purpose": one_of(*PURPOSES)},
        {
            "expires_after[anchor]": constant(ANCHOR),
            "expires_after[seconds]": integer(LEAST_SECONDS, MOST_SECONDS),
        },
    ),
}

DESCRIPTIONS = {
    "files": Description(
        summary="One page of files, the newest first",
        area=AREA,
        parameters=(
            query("limit", "How many at most; all if absent.", written_integer(1, MAX_LIMIT)),
            query("after", "The id of the last file of the page before.", string()),
            query("order", "By the time of the upload; desc if absent.", one_of("asc", "desc")),
            query("purpose", "Only files with this purpose.", one_of(*PURPOSES)),
        ),
        answers=answers_json(
            record(
                {
                    "object": constant("list"),
                    "data": list_of(ref("File")),
                    "first_id": or_null(string()),
                    "last_id": or_null(string()),
                    "has_more": boolean(),
                }
            ),
            "The page.",
        ),
        errors=(400, 404, _STORE),
    ),
    "file_create": Description(
        summary="Upload a file",
        area=AREA,
        parameters=(IDEMPOTENCY_KEY,),
        body=Body(schema=ref("FileForm"), content_type=FORM),
        answers=answers_json(ref("File"), "The file.", headers=REPLAYED),
        errors=(*WITH_BODY, *KEYED),
    ),
    "file": Description(
        summary="What is known of a file",
        area=AREA,
        parameters=(_ID,),
        answers=answers_json(ref("File"), "The file."),
        errors=(404, _STORE),
    ),
    "file_content": Description(
        summary="The bytes of a file",
        area=AREA,
        parameters=(_ID,),
        answers={200: Answer(about="As they were uploaded.", contents={BYTES: _BINARY})},
        errors=(404, _STORE),
    ),
    "file_delete": Description(
        summary="Delete a file",
        area=AREA,
        parameters=(_ID,),
        answers=answers_json(
            record({"id": string(), "object": constant("file"), "deleted": constant(True)}),
            "It is gone.",
        ),
        errors=(404, _STORE),
    ),
}
