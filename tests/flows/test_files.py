"""Files and images as clients send them: the real SDK, and what the provider received of it."""

from __future__ import annotations

import base64
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import openai
import pytest
from aiohttp import web
from openai.types import FileDeleted, FileObject

from hermes.settings.model import FetchSettings, FileSettings
from hermes.testing.replies import Text
from tests.flows.conftest import Flow, StartFlow
from tests.unit.documents.pdfs import pdf

PNG = b"\x89PNG\r\n\x1a\n" + bytes(64)
PNG_URL = "data:image/png;base64," + base64.b64encode(PNG).decode()
TEXT_FILE = "data:text/plain;base64," + base64.b64encode(b"milk and bread").decode()
ANSWER = Text("Read.")


def content_of(served: Flow) -> Any:
    """What the provider was given as the user's last message."""
    users = [each for each in served.requests[-1].messages if each["role"] == "user"]
    return users[-1]["content"]


async def ask_chat(served: Flow, *parts: Any) -> Any:
    await served.sdk.chat.completions.create(
        model="any", messages=[{"role": "user", "content": list(parts)}]
    )
    return content_of(served)


async def ask_response(served: Flow, *parts: Any, **more: Any) -> Any:
    await served.sdk.responses.create(
        model="any", input=[{"role": "user", "content": list(parts)}], **more
    )
    return content_of(served)


@pytest.fixture
async def picture() -> AsyncIterator[str]:
    """The address of an image on a web server."""

    async def answer(_: web.Request) -> web.StreamResponse:
        return web.Response(body=PNG, content_type="image/png")

    application = web.Application()
    application.router.add_get("/cat.png", answer)
    runner = web.AppRunner(application, access_log=None)
    await runner.setup()
    await web.TCPSite(runner, "127.0.0.1", 0).start()
    yield f"http://127.0.0.1:{runner.addresses[0][1]}/cat.png"
    await runner.cleanup()


# --- /v1/files ------------------------------------------------------------------------------------


async def test_the_sdk_uploads_lists_reads_and_deletes(flow: StartFlow) -> None:
    served = await flow([])
    files = served.sdk.files
    first = await files.create(file=("a.txt", b"first"), purpose="user_data")
    second = await files.create(
        file=("b.png", PNG),
        purpose="vision",
        expires_after={"anchor": "created_at", "seconds": 3600},
    )
    listed = await files.list(limit=1)
    everything = [file.id async for file in files.list(limit=1)]
    pictures = await files.list(purpose="vision", order="asc")
    found = await files.retrieve(first.id)
    content = await files.content(first.id)
    deleted = await files.delete(first.id)

    FileObject.model_validate(found.model_dump(), strict=True)
    FileDeleted.model_validate(deleted.model_dump(), strict=True)
    assert found == first
    assert (first.bytes, first.filename, first.status) == (5, "a.txt", "processed")
    assert first.expires_at == first.created_at + 30 * 86_400
    assert second.expires_at == second.created_at + 3600
    assert (listed.data, listed.has_more) == ([second], True)
    assert everything == [second.id, first.id]
    assert pictures.data == [second]
    assert content.read() == b"first"
    assert (deleted.id, deleted.deleted) == (first.id, True)
    with pytest.raises(openai.NotFoundError) as caught:
        await files.retrieve(first.id)
    assert caught.value.code == "file_not_found"


async def test_an_upload_may_be_larger_than_a_request(flow: StartFlow) -> None:
    served = await flow([], max_body_bytes=1024)
    file = await served.sdk.files.create(file=("big.bin", bytes(5_000_000)), purpose="user_data")

    assert len((await served.sdk.files.content(file.id)).read()) == 5_000_000


async def test_limits_are_errors_of_the_sdk(flow: StartFlow) -> None:
    served = await flow([], files=FileSettings(max_bytes=10_000, max_total_bytes=15_000))
    with pytest.raises(openai.APIStatusError) as too_large:
        await served.sdk.files.create(file=("a", bytes(10_001)), purpose="user_data")
    await served.sdk.files.create(file=("a", bytes(10_000)), purpose="user_data")
    with pytest.raises(openai.APIStatusError) as full:
        await served.sdk.files.create(file=("a", bytes(10_000)), purpose="user_data")

    assert (too_large.value.status_code, too_large.value.code) == (413, "file_too_large")
    assert (full.value.status_code, full.value.code) == (413, "files_full")


async def test_files_survive_a_restart_for_their_owner_only(
    flow: StartFlow, tmp_path: Path
) -> None:
    before = await flow([])
    file = await before.sdk.files.create(file=("a.txt", b"kept"), purpose="user_data")
    await before.gateway.close()
    after = await flow([])

    assert (await after.sdk.files.content(file.id)).read() == b"kept"
    assert (tmp_path / "files").stat().st_mode & 0o777 == 0o700
    assert {path.stat().st_mode & 0o777 for path in (tmp_path / "files").iterdir()} == {0o600}


# --- files in a turn ------------------------------------------------------------------------------


async def test_an_uploaded_file_reaches_the_model_as_text_in_both_dialects(
    flow: StartFlow,
) -> None:
    served = await flow([ANSWER] * 2)
    file = await served.sdk.files.create(file=("list.txt", b"milk\nbread"), purpose="user_data")
    in_chat = await ask_chat(
        served, {"type": "text", "text": "What?"}, {"type": "file", "file": {"file_id": file.id}}
    )
    in_response = await ask_response(
        served,
        {"type": "input_text", "text": "What?"},
        {"type": "input_file", "file_id": file.id},
    )

    expected = "What?\n[File: list.txt]\nmilk\nbread\n[End of list.txt]"
    assert in_chat == in_response == expected


async def test_a_file_in_the_request_reaches_the_model_as_text_in_both_dialects(
    flow: StartFlow,
) -> None:
    served = await flow([ANSWER] * 2)
    data = "data:application/pdf;base64," + base64.b64encode(pdf("Twelve apples")).decode()
    in_chat = await ask_chat(
        served, {"type": "file", "file": {"file_data": data, "filename": "fruit.pdf"}}
    )
    in_response = await ask_response(
        served, {"type": "input_file", "file_data": data, "filename": "fruit.pdf"}
    )

    expected = "[File: fruit.pdf]\n[Page 1]\nTwelve apples\n[End of fruit.pdf]"
    assert in_chat == in_response == expected


async def test_a_later_turn_still_knows_a_file_that_was_deleted(flow: StartFlow) -> None:
    served = await flow([ANSWER] * 2)
    file = await served.sdk.files.create(file=("list.txt", b"milk"), purpose="user_data")
    first = await served.sdk.responses.create(
        model="any",
        input=[{"role": "user", "content": [{"type": "input_file", "file_id": file.id}]}],
    )
    await served.sdk.files.delete(file.id)
    await served.sdk.responses.create(model="any", input="And?", previous_response_id=first.id)

    said = [each["content"] for each in served.requests[-1].messages if each["role"] == "user"]
    assert said == ["[File: list.txt]\nmilk\n[End of list.txt]", "And?"]


async def test_a_session_takes_files_too(flow: StartFlow) -> None:
    served = await flow([ANSWER])
    _, made = await served.answer("POST", "/api/sessions", json={})
    path = f"/api/sessions/{made['session']['id']}"
    part = {"type": "input_file", "file_data": TEXT_FILE, "filename": "a.txt"}
    status, _ = await served.answer("POST", f"{path}/chat", json={"message": [part]})
    _, messages = await served.answer("GET", f"{path}/messages")

    assert status == 200
    assert messages["data"][0]["content"] == content_of(served)
    assert "milk and bread" in content_of(served)


# --- images in a turn -----------------------------------------------------------------------------


async def test_an_image_in_the_request_is_passed_on_unchanged(flow: StartFlow) -> None:
    served = await flow([ANSWER] * 2)
    expected = [{"type": "image_url", "image_url": {"url": PNG_URL}}]
    in_chat = await ask_chat(served, {"type": "image_url", "image_url": {"url": PNG_URL}})
    in_response = await ask_response(served, {"type": "input_image", "image_url": PNG_URL})

    assert in_chat == in_response == expected


async def test_an_image_on_the_web_is_fetched_and_passed_on(flow: StartFlow, picture: str) -> None:
    served = await flow([ANSWER], fetch=FetchSettings(allow_http=True, allow_private=True))
    received = await ask_chat(
        served, {"type": "image_url", "image_url": {"url": picture, "detail": "low"}}
    )

    assert received == [{"type": "image_url", "image_url": {"url": PNG_URL, "detail": "low"}}]


async def test_an_uploaded_image_is_passed_on(flow: StartFlow) -> None:
    served = await flow([ANSWER])
    file = await served.sdk.files.create(file=("cat.png", PNG), purpose="vision")
    received = await ask_response(served, {"type": "input_image", "file_id": file.id})

    assert received == [{"type": "image_url", "image_url": {"url": PNG_URL}}]


@pytest.mark.parametrize("where", ["http://127.0.0.1/a.png", "https://127.0.0.1/a.png"])
async def test_an_image_on_the_own_network_is_not_fetched_unless_allowed(
    flow: StartFlow, where: str
) -> None:
    served = await flow([])
    with pytest.raises(openai.BadRequestError) as caught:
        await ask_chat(served, {"type": "image_url", "image_url": {"url": where}})

    assert caught.value.code == "image_fetch_refused"
    assert served.requests == []


# --- what cannot be served ------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("part", "code"),
    [
        ({"type": "input_file", "file_id": "file-unknown"}, "file_not_found"),
        ({"type": "input_file", "file_url": "https://a.example/x"}, "file_url_unsupported"),
        ({"type": "input_file", "file_data": "JVBERi0xLjQgYnJva2Vu"}, "unreadable_file"),
        ({"type": "input_file", "file_data": "UEsDBAAAAAA="}, "unsupported_file_type"),
        (
            {"type": "input_audio", "input_audio": {"data": "", "format": "wav"}},
            "audio_unsupported",
        ),
    ],
)
async def test_what_cannot_be_read_is_a_clear_error_and_asks_no_model(
    flow: StartFlow, part: Any, code: str
) -> None:
    served = await flow([])
    with pytest.raises(openai.APIStatusError) as caught:
        await ask_response(served, part, stream=True)

    assert caught.value.code == code
    assert served.requests == []
