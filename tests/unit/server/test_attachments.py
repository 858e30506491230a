"""What a request refers to is put in its place before the turn; plain text passes untouched."""

from __future__ import annotations

import asyncio
import base64
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from hermes.core.errors import ApiError, InvalidRequest, NotFound
from hermes.core.images import data_url
from hermes.core.messages import Message
from hermes.server.attachments import (
    MOST_REFERENCES,
    settle_attachments,
    settle_chat,
    settle_response,
)
from hermes.server.seams import Seams
from hermes.settings.model import FileSettings
from hermes.store.uploads import UploadStore
from hermes.wire.chat import parse_chat
from hermes.wire.responses import parse_responses
from tests.unit.server.conftest import Serve
from tests.unit.server.fakes import FakeTurns, fake_seams

PNG = b"\x89PNG\r\n\x1a\nrest"
PNG_URL = data_url("image/png", PNG)
PAGE = "https://images.example/cat.png"


async def fetch(url: str) -> str:
    return PNG_URL + base64.b64encode(url.encode()).decode()


async def extract(data: bytes, name: str) -> str:
    return f"{name} has {data.decode()}"


@pytest.fixture
def store(tmp_path: Path) -> Iterator[UploadStore]:
    opened = UploadStore(tmp_path / "files", FileSettings())
    yield opened
    opened.close()


@pytest.fixture
def seams(tmp_path: Path, store: UploadStore) -> Iterator[Seams]:
    filled = fake_seams(
        tmp_path, FakeTurns(), uploads=lambda: store, fetch_image=fetch, extract_text=extract
    )
    yield filled
    filled.storage.close()
    filled.responses().close()
    filled.sessions().close()


def uploaded(store: UploadStore, data: bytes, name: str = "a.txt") -> str:
    draft = store.begin()
    draft.write(data)
    return store.keep(draft, filename=name, purpose="user_data", expires_after=None).id


def said(*parts: dict[str, Any]) -> list[Message]:
    return [{"role": "user", "content": list(parts)}]


def file(**described: str) -> dict[str, Any]:
    return {"type": "file", "file": described}


def image(url: str, **more: str) -> dict[str, Any]:
    return {"type": "image_url", "image_url": {"url": url, **more}}


async def refusal(messages: list[Message], seams: Seams) -> ApiError:
    with pytest.raises(ApiError) as caught:
        await settle_attachments(messages, seams)
    return caught.value


async def test_what_refers_to_nothing_is_the_very_same(seams: Seams) -> None:
    messages = [
        {"role": "user", "content": "Hello"},
        {"role": "assistant", "content": None},
        *said({"type": "text", "text": "Look"}, image(PNG_URL)),
    ]

    assert await settle_attachments(messages, seams) is messages


async def test_a_request_of_plain_text_is_the_very_same(seams: Seams) -> None:
    chat = parse_chat({"messages": [{"role": "user", "content": "Hello"}]})
    response = parse_responses({"input": "Hello"})

    assert await settle_chat(chat, seams) is chat
    assert await settle_response(response, seams) is response


async def test_a_file_becomes_text_under_its_name(seams: Seams, store: UploadStore) -> None:
    stored = uploaded(store, b"one", "first.txt")
    inline = file(file_data="data:text/plain;base64,dHdv", filename="../second.txt")
    unnamed = file(file_data="dGhyZWU=")
    [message] = await settle_attachments(
        said({"type": "text", "text": "Read"}, file(file_id=stored), inline, unnamed), seams
    )

    assert message == {
        "role": "user",
        "content": "Read\n"
        "[File: first.txt]\nfirst.txt has one\n[End of first.txt]\n"
        "[File: second.txt]\nsecond.txt has two\n[End of second.txt]\n"
        "[File: file]\nfile has three\n[End of file]",
    }


async def test_images_come_as_data_urls_with_their_detail(seams: Seams, store: UploadStore) -> None:
    stored = uploaded(store, PNG, "cat.png")
    [message] = await settle_attachments(
        said(
            {"type": "image_file", "image_file": {"file_id": stored, "detail": "low"}},
            file(file_id=stored),
            image(PAGE, detail="high"),
            image(PNG_URL),
        ),
        seams,
    )

    assert message["content"] == [
        image(PNG_URL, detail="low"),
        image(PNG_URL),
        image(await fetch(PAGE), detail="high"),
        image(PNG_URL),
    ]


async def test_every_message_is_settled_and_stays_in_its_place(
    seams: Seams, store: UploadStore
) -> None:
    inline = {"type": "input_file", "file_data": "eA==", "filename": "x"}
    call = {"type": "function_call", "call_id": "c", "name": "f", "arguments": "{}"}
    asked = parse_responses(
        {
            "input": [
                {"role": "user", "content": [inline]},
                call,
                {"type": "function_call_output", "call_id": "c", "output": [inline]},
                {"role": "user", "content": [inline, {"type": "input_image", "image_url": PAGE}]},
            ]
        }
    )
    settled = await settle_response(asked, seams)
    text = "[File: x]\nx has x\n[End of x]"

    assert settled.history[0]["content"] == text
    assert settled.history[1]["tool_calls"][0]["id"] == "c"
    [result] = settled.parameters.tool_results
    assert result == {"role": "tool", "tool_call_id": "c", "content": text}
    assert settled.user_message == [
        {"type": "text", "text": text},
        image(await fetch(PAGE)),
    ]


async def test_a_file_that_is_not_there_is_not_found(seams: Seams) -> None:
    error = await refusal(said(file(file_id="file-0")), seams)

    assert isinstance(error, NotFound)
    assert (error.code, error.param) == ("file_not_found", "file_id")


async def test_an_uploaded_text_is_no_image(seams: Seams, store: UploadStore) -> None:
    stored = uploaded(store, b"text")
    part = {"type": "image_file", "image_file": {"file_id": stored}}

    assert (await refusal(said(part), seams)).code == "invalid_image"


async def test_too_many_references_are_refused(seams: Seams) -> None:
    parts = [image(PAGE)] * MOST_REFERENCES
    await settle_attachments(said(*parts), seams)

    assert (await refusal(said(*parts, image(PAGE)), seams)).code == "too_many_attachments"


async def test_the_first_failure_ends_the_other_fetches(seams: Seams) -> None:
    left = asyncio.Event()

    async def fetch_or_fail(url: str) -> str:
        if url == PAGE:
            raise InvalidRequest("no", code="image_fetch_failed")
        try:
            await asyncio.Event().wait()
        finally:
            left.set()
        raise AssertionError

    failing = replace(seams, fetch_image=fetch_or_fail)
    error = await refusal(said(image("https://slow.example/a"), image(PAGE)), failing)

    assert error.code == "image_fetch_failed"
    assert left.is_set()


@pytest.mark.parametrize(
    ("path", "body"),
    [
        ("/v1/chat/completions", lambda part: {"messages": said(part)}),
        ("/v1/responses", lambda part: {"input": said(part)}),
        ("/api/sessions/{session}/chat", lambda part: {"message": [part]}),
    ],
)
async def test_every_turn_gets_the_file_as_text(serve: Serve, path: str, body: Any) -> None:
    turns = FakeTurns()
    client = await serve(turns, extract_text=extract)
    session = (await (await client.post("/api/sessions", json={})).json())["session"]["id"]
    part = file(file_data="eA==", filename="x")
    answer = await client.post(path.format(session=session), json=body(part))

    assert answer.status == 200
    assert turns.calls[0].user_message == "[File: x]\nx has x\n[End of x]"
