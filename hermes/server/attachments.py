"""Puts what a request only refers to in its place: text for files, the image for its URL or id.

Afterwards messages hold nothing but text and images, and mean the same tomorrow as today.
"""

from __future__ import annotations

import asyncio
import base64
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from hermes.core.errors import InvalidRequest
from hermes.core.images import data_url, image_type_of
from hermes.core.messages import Content, Message
from hermes.core.uploads import Uploads
from hermes.server.files import existing, in_store, unknown
from hermes.server.seams import Seams
from hermes.wire.chat import ChatRequest
from hermes.wire.content import file_data_base64
from hermes.wire.files import shown_name
from hermes.wire.responses import ResponsesRequest
from hermes.wire.sessions import SessionChat

MOST_REFERENCES = 50
"""How many files and fetched images one request may bring."""

_AT_ONCE = 4

Part = dict[str, Any]


async def settle_chat(asked: ChatRequest, seams: Seams) -> ChatRequest:
    """The request with its attachments in place; the very same one where there are none."""
    said = _Said(asked.history, asked.tool_results, asked.user_message)
    settled = await _settle(said, seams)
    if settled is said:
        return asked
    return replace(
        asked,
        history=settled.history,
        tool_results=settled.tool_results,
        user_message=settled.user_message,
    )


async def settle_response(asked: ResponsesRequest, seams: Seams) -> ResponsesRequest:
    """The same for a Responses request. Its items stay as the client wrote them."""
    said = _Said(asked.history, list(asked.parameters.tool_results), asked.user_message)
    settled = await _settle(said, seams)
    if settled is said:
        return asked
    return replace(
        asked,
        history=settled.history,
        parameters=replace(asked.parameters, tool_results=tuple(settled.tool_results)),
        user_message=settled.user_message,
    )


async def settle_session_chat(asked: SessionChat, seams: Seams) -> SessionChat:
    """The same for a turn in a session, whose history is settled already."""
    if isinstance(asked.user_message, str):
        return asked
    [message] = await settle_attachments([{"content": asked.user_message}], seams)
    return replace(asked, user_message=message["content"])


@dataclass(frozen=True, slots=True)
class _Said:
    """All that a request says, by the part it plays."""

    history: list[Message]
    tool_results: list[Message]
    user_message: Content | None


async def _settle(said: _Said, seams: Seams) -> _Said:
    asked: list[Message] = [] if said.user_message is None else [{"content": said.user_message}]
    messages = [*said.history, *said.tool_results, *asked]
    settled = await settle_attachments(messages, seams)
    if settled is messages:
        return said
    before, until = len(said.history), len(said.history) + len(said.tool_results)
    user_message = settled[-1]["content"] if asked else None
    return _Said(settled[:before], settled[before:until], user_message)


async def settle_attachments(messages: list[Message], seams: Seams) -> list[Message]:
    """The messages with only text and images in them; the very same list if they are so."""
    references = _references(messages)
    if not references:
        return messages
    if len(references) > MOST_REFERENCES:
        raise InvalidRequest(
            f"A request may bring at most {MOST_REFERENCES} files and images by URL; leave out "
            "those of earlier turns.",
            code="too_many_attachments",
        )
    found = await _all_settled(references, seams)
    # By identity: a part may hold megabytes, and is never the same as another.
    settled = {id(part): new for part, new in zip(references, found, strict=True)}
    return [_with(message, settled) for message in messages]


def _references(messages: Sequence[Message]) -> list[Part]:
    return [
        part
        for message in messages
        if isinstance(message["content"], list)
        for part in message["content"]
        if _is_reference(part)
    ]


def _is_reference(part: Part) -> bool:
    if part["type"] == "image_url":
        return str(part["image_url"]["url"])[:5].lower() != "data:"
    return part["type"] in ("file", "image_file")


async def _all_settled(references: Sequence[Part], seams: Seams) -> list[Part]:
    at_once = asyncio.Semaphore(_AT_ONCE)

    async def settle(part: Part) -> Part:
        async with at_once:
            return await _settled(part, seams)

    try:
        async with asyncio.TaskGroup() as group:
            tasks = [group.create_task(settle(part)) for part in references]
    except BaseExceptionGroup as errors:
        raise errors.exceptions[0] from None
    return [task.result() for task in tasks]


async def _settled(part: Part, seams: Seams) -> Part:
    match part["type"]:
        case "image_url":
            image = part["image_url"]
            return _image_part(await seams.fetch_image(image["url"]), image)
        case "image_file":
            return await _stored_image(part["image_file"], seams)
        case _:
            return await _file_text(part["file"], seams)


async def _stored_image(described: Part, seams: Seams) -> Part:
    name, data = await in_store(seams, lambda store: _stored(store, described["file_id"]))
    media_type = image_type_of(data)
    if media_type is None:
        raise InvalidRequest(
            f"The file '{name}' is no image that can be used; upload PNG, JPEG, GIF or WebP.",
            code="invalid_image",
            param="file_id",
        )
    return _image_part(data_url(media_type, data), described)


async def _file_text(described: Part, seams: Seams) -> Part:
    """The text of a file under its name; an image sent as a file is an image all the same."""
    name, data = await _bytes_of(described, seams)
    media_type = image_type_of(data)
    if media_type is not None:
        return _image_part(data_url(media_type, data), {})
    text = await seams.extract_text(data, name)
    return {"type": "text", "text": f"[File: {name}]\n{text}\n[End of {name}]"}


async def _bytes_of(described: Part, seams: Seams) -> tuple[str, bytes]:
    if "file_id" in described:
        return await in_store(seams, lambda store: _stored(store, described["file_id"]))
    name = shown_name(described.get("filename") or "file")
    encoded = file_data_base64(described["file_data"])
    return name, await seams.storage.run(lambda: base64.b64decode(encoded))


def _stored(store: Uploads, file_id: str) -> tuple[str, bytes]:
    file = existing(store, file_id)
    data = store.read(file)
    if data is None:
        raise unknown(file_id)
    return file.filename, data


def _image_part(url: str, described: Part) -> Part:
    detail = {"detail": described["detail"]} if "detail" in described else {}
    return {"type": "image_url", "image_url": {"url": url, **detail}}


def _with(message: Message, settled: dict[int, Part]) -> Message:
    content: Content | None = message["content"]
    if not isinstance(content, list):
        return message
    parts = [settled.get(id(part), part) for part in content]
    return {**message, "content": _joined(parts)}


def _joined(parts: list[Part]) -> Content:
    """Parts that are all text become one string, as in every other message."""
    if all(part["type"] == "text" for part in parts):
        return "\n".join(part["text"] for part in parts)
    return parts
