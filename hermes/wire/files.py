"""The file routes: their forms and queries read, and their answers written."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from hermes.core.errors import InvalidRequest
from hermes.core.uploads import FilePage, UploadedFile
from hermes.wire.lenient import choice, required_text
from hermes.wire.queries import whole_number

PURPOSES = ("assistants", "batch", "evals", "fine-tune", "user_data", "vision")
MAX_LIMIT = 10_000
MAX_NAME = 255

ANCHOR = "created_at"
LEAST_SECONDS = 3600
MOST_SECONDS = 30 * 86_400


@dataclass(frozen=True, slots=True)
class UploadForm:
    """What an upload says about its file."""

    purpose: str
    expires_after: int | None
    """Seconds; None leaves it to the operator."""


def parse_form(fields: Mapping[str, str]) -> UploadForm:
    """The fields of the form beside the file, under their names."""
    required_text(fields, "purpose", param="purpose")
    return UploadForm(
        purpose=choice(fields, "purpose", PURPOSES, default=""), expires_after=_expiry(fields)
    )


def _expiry(fields: Mapping[str, str]) -> int | None:
    anchor, seconds = fields.get("expires_after[anchor]"), fields.get("expires_after[seconds]")
    if anchor is None and seconds is None:
        return None
    if anchor != ANCHOR:
        raise InvalidRequest(
            f"'expires_after[anchor]' must be '{ANCHOR}'.",
            param="expires_after[anchor]",
            code="invalid_value",
        )
    name = "expires_after[seconds]"
    required_text(fields, name, param=name)
    return whole_number(fields, name, LEAST_SECONDS, low=LEAST_SECONDS, high=MOST_SECONDS)


def parse_list(query: Mapping[str, str]) -> FilePage:
    return FilePage(
        limit=whole_number(query, "limit", MAX_LIMIT, low=1, high=MAX_LIMIT),
        after=query.get("after") or None,
        is_ascending=choice(query, "order", ("asc", "desc"), default="desc") == "asc",
        purpose=choice(query, "purpose", PURPOSES, default="") or None,
    )


def shown_name(raw: str) -> str:
    """A file's name as plain data on one line: never a path, never half a character."""
    clean = raw.encode(errors="replace").decode()
    last = clean.replace("\\", "/").rstrip("/").rpartition("/")[2]
    name = "".join(letter if letter.isprintable() else "_" for letter in last)
    if not name or len(name) > MAX_NAME:
        raise InvalidRequest(
            f"A file needs a name of 1 to {MAX_NAME} characters.",
            param="filename",
            code="invalid_value",
        )
    return name


def file_object(file: UploadedFile) -> dict[str, Any]:
    return {
        "id": file.id,
        "object": "file",
        "bytes": file.bytes,
        "created_at": file.created_at,
        "expires_at": file.expires_at,
        "filename": file.filename,
        "purpose": file.purpose,
        "status": "processed",
    }


def file_list(files: Sequence[UploadedFile], *, has_more: bool) -> dict[str, Any]:
    return {
        "object": "list",
        "data": [file_object(file) for file in files],
        "first_id": files[0].id if files else None,
        "last_id": files[-1].id if files else None,
        "has_more": has_more,
    }


def file_deleted(file_id: str) -> dict[str, Any]:
    return {"id": file_id, "object": "file", "deleted": True}
