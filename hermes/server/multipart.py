"""Reads an uploaded form part by part: the file goes where it is told, the fields are collected."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable
from dataclasses import dataclass
from typing import TypeVar

from aiohttp import BodyPartReader, web

from hermes.core.errors import InvalidRequest

CHUNK = 256 * 1024
MOST_FIELDS = 20
MOST_FIELD_BYTES = 4096

_UNENCODED = ("", "7bit", "8bit", "binary")

T = TypeVar("T")

Sink = Callable[[bytes], Awaitable[None]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Form:
    """What stood in the form. Where a field came twice, the last one counts."""

    fields: dict[str, str]
    filename: str | None
    """None when there was no file."""


async def read_form(request: web.Request, file_field: str, sink: Sink) -> Form:
    """Hand the file's bytes to `sink` as they arrive; fields may come before it or after it."""
    fields: dict[str, str] = {}
    filename: str | None = None
    async for part in _parts(request):
        if part.name == file_field:
            filename = _filename(part, filename)
            async for chunk in _chunks(part):
                await sink(chunk)
        elif part.name:
            fields[part.name] = await _field(part)
    return Form(fields=fields, filename=filename)


async def _parts(request: web.Request) -> AsyncIterator[BodyPartReader]:
    if request.content_type != "multipart/form-data":
        raise _malformed("send it as multipart/form-data")
    reader = await _guarded(request.multipart)
    for _ in range(MOST_FIELDS):
        part = await _guarded(reader.next)
        if part is None:
            return
        if not isinstance(part, BodyPartReader):
            raise _malformed("a form inside a form is not possible")
        if part.headers.get("Content-Transfer-Encoding", "").lower() not in _UNENCODED:
            raise _malformed("send its parts as they are, without a Content-Transfer-Encoding")
        yield part
    raise _malformed(f"it has more than {MOST_FIELDS} fields")


async def _chunks(part: BodyPartReader) -> AsyncIterator[bytes]:
    while not part.at_eof():
        chunk = await _guarded(lambda: part.read_chunk(CHUNK))
        if chunk:
            yield chunk


async def _field(part: BodyPartReader) -> str:
    value = b""
    async for chunk in _chunks(part):
        value += chunk
        if len(value) > MOST_FIELD_BYTES:
            raise _malformed(f"a field is longer than {MOST_FIELD_BYTES} bytes")
    return value.decode(errors="replace")


def _filename(part: BodyPartReader, found: str | None) -> str:
    if found is not None:
        raise _malformed(f"it has more than one '{part.name}'")
    if part.filename is None:
        raise _malformed(f"'{part.name}' must be a file with a name, not a plain field")
    return part.filename


async def _guarded(read: Callable[[], Awaitable[T]]) -> T:
    try:
        return await read()
    except web.HTTPException:
        raise
    except Exception as error:  # aiohttp's form reader raises anything for malformed forms
        raise _malformed("its boundaries, headers or length are not right") from error


def _malformed(reason: str) -> InvalidRequest:
    return InvalidRequest(f"The form cannot be read: {reason}.", code="invalid_form")
