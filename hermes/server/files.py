"""/v1/files: upload, list, get, content and delete."""

from __future__ import annotations

import hashlib
import json
import logging
from collections.abc import Callable
from typing import Protocol, TypeVar
from urllib.parse import quote

from aiohttp import web

from hermes.core.errors import InvalidRequest, NotFound, Unavailable
from hermes.core.uploads import Draft, FilePage, UploadedFile, Uploads
from hermes.server.answers import json_answer
from hermes.server.idempotency import idempotency_key
from hermes.server.kept_answers import answer_once, keyed_request
from hermes.server.multipart import MOST_FIELD_BYTES, MOST_FIELDS, Form, read_form
from hermes.server.seams import Seams
from hermes.wire import files as wire

log = logging.getLogger(__name__)

T = TypeVar("T")


class Digest(Protocol):
    """What `hashlib` makes."""

    def update(self, data: bytes, /) -> None: ...

    def hexdigest(self) -> str: ...


_FORM_BYTES = MOST_FIELDS * MOST_FIELD_BYTES


async def create(request: web.Request, seams: Seams) -> web.StreamResponse:
    key = idempotency_key(request.headers)
    draft = await in_store(seams, lambda store: _begin(store, request.content_length or 0))
    digest = hashlib.sha256() if key is not None else None
    try:
        form = await _receive(request, seams, draft, digest)

        async def keep() -> web.Response:
            return json_answer(wire.file_object(await _keep(seams, draft, form)))

        if key is None or digest is None:
            return await keep()
        # Known only now: a repeated upload has arrived, too, before it is found to be one.
        asked = keyed_request(request, seams, key, _fingerprint(form, digest))
        return await answer_once(seams, asked, keep)
    finally:
        await in_store(seams, lambda store: store.discard(draft))


async def list_files(request: web.Request, seams: Seams) -> web.StreamResponse:
    page = wire.parse_list(request.query)

    def read(store: Uploads) -> tuple[list[UploadedFile], bool]:
        _check_cursor(store, page)
        return store.page(page)

    files, has_more = await in_store(seams, read)
    return json_answer(wire.file_list(files, has_more=has_more))


async def get(request: web.Request, seams: Seams) -> web.StreamResponse:
    file_id = request.match_info["file_id"]
    file = await in_store(seams, lambda store: existing(store, file_id))
    return json_answer(wire.file_object(file))


async def content(request: web.Request, seams: Seams) -> web.StreamResponse:
    file_id = request.match_info["file_id"]

    def find(store: Uploads) -> web.FileResponse:
        file = existing(store, file_id)
        # Somebody else's bytes: a browser must neither show nor run them.
        name = quote(file.filename, safe="")
        headers = {
            "Content-Type": "application/octet-stream",
            "Content-Disposition": f"attachment; filename*=UTF-8''{name}",
        }
        return web.FileResponse(store.path(file), headers=headers)

    return await in_store(seams, find)


async def delete(request: web.Request, seams: Seams) -> web.StreamResponse:
    file_id = request.match_info["file_id"]
    if not await in_store(seams, lambda store: store.delete(file_id)):
        raise unknown(file_id)
    return json_answer(wire.file_deleted(file_id))


def existing(store: Uploads, file_id: str) -> UploadedFile:
    file = store.get(file_id)
    if file is None:
        raise unknown(file_id)
    return file


def unknown(file_id: str, param: str = "file_id") -> NotFound:
    return NotFound(
        f"No file has the id '{file_id[:100]}': it was deleted, has expired or was never "
        "uploaded; POST /v1/files uploads one.",
        code="file_not_found",
        param=param,
    )


def opened(seams: Seams) -> Uploads:
    """The store of uploaded files. May block."""
    store = seams.uploads()
    if store is None:
        raise _unavailable()
    return store


def _unavailable() -> Unavailable:
    return Unavailable(
        "The folder of uploaded files cannot be used; the gateway's log says why.",
        code="file_store_unavailable",
        headers={"Retry-After": "5"},
    )


async def _receive(request: web.Request, seams: Seams, draft: Draft, digest: Digest | None) -> Form:
    def take(chunk: bytes) -> None:
        draft.write(chunk)
        if digest is not None:
            digest.update(chunk)

    async def write(chunk: bytes) -> None:
        await in_store(seams, lambda _store: take(chunk))

    return await read_form(request, "file", write)


def _fingerprint(form: Form, digest: Digest) -> str:
    """Of what the form says: its boundary is another one each time that it is sent."""
    said = json.dumps([form.filename, sorted(form.fields.items()), digest.hexdigest()])
    return hashlib.sha256(said.encode()).hexdigest()


async def _keep(seams: Seams, draft: Draft, form: Form) -> UploadedFile:
    if form.filename is None:
        raise InvalidRequest(
            "'file' is required: send the file in a form field of this name.",
            param="file",
            code="missing_required_parameter",
        )
    asked = wire.parse_form(form.fields)
    name = wire.shown_name(form.filename)
    return await in_store(
        seams,
        lambda store: store.keep(
            draft, filename=name, purpose=asked.purpose, expires_after=asked.expires_after
        ),
    )


def _begin(store: Uploads, announced: int) -> Draft:
    # Said at once where the headers already show it; what arrives is counted anyway.
    if announced > store.max_bytes + _FORM_BYTES:
        raise store.too_large()
    return store.begin()


def _check_cursor(store: Uploads, page: FilePage) -> None:
    if page.after is not None and store.get(page.after) is None:
        raise unknown(page.after, param="after")


async def in_store(seams: Seams, work: Callable[[Uploads], T]) -> T:
    try:
        return await seams.storage.run(lambda: work(opened(seams)))
    except OSError as error:  # a full disk, a folder that is gone
        log.exception("uploaded files not available")
        raise _unavailable() from error
