"""The file routes over a socket: forms as clients send them, whole and broken."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import aiohttp
import pytest

from hermes.settings.model import FileSettings
from hermes.store.uploads import UploadStore
from tests.unit.server.conftest import Serve

BOUNDARY = "frontier"


@pytest.fixture
def store(tmp_path: Path) -> Any:
    opened = UploadStore(
        tmp_path / "files", FileSettings(max_bytes=100_000, max_total_bytes=250_000)
    )
    yield opened
    opened.close()


def form(data: bytes = b"data", *, name: str = "a.txt", **fields: str) -> aiohttp.FormData:
    written = aiohttp.FormData()
    written.add_field("file", data, filename=name)
    for field, value in fields.items():
        written.add_field(field, value)
    return written


def part(head: str, body: bytes) -> bytes:
    return f"--{BOUNDARY}\r\n{head}\r\n\r\n".encode() + body + b"\r\n"


def file_part(name: str = 'filename="a.txt"', more: str = "") -> bytes:
    return part(f'Content-Disposition: form-data; name="file"; {name}{more}', b"data")


def drafts(tmp_path: Path) -> list[str]:
    return [path.name for path in (tmp_path / "files").iterdir() if path.suffix == ".draft"]


async def error_of(answer: aiohttp.ClientResponse) -> tuple[int, str, str | None]:
    error = (await answer.json())["error"]
    return answer.status, error["code"], error["param"]


@pytest.mark.parametrize("size", [0, 1, 8192, 99_999, 100_000])
async def test_a_file_goes_in_and_comes_out_whole(
    serve: Serve, store: UploadStore, size: int
) -> None:
    """Also over the limit of request bodies, which is 10,000 bytes here."""
    client = await serve(uploads=lambda: store)
    data = os.urandom(size)
    answer = await client.post("/v1/files", data=form(data, purpose="user_data"))
    file = await answer.json()
    content = await client.get(f"/v1/files/{file['id']}/content")

    assert (answer.status, file["bytes"], file["status"]) == (200, size, "processed")
    assert await content.read() == data
    assert content.headers["Content-Type"] == "application/octet-stream"
    assert content.headers["Content-Disposition"] == "attachment; filename*=UTF-8''a.txt"


async def test_a_name_of_any_letters_is_a_header_all_the_same(
    serve: Serve, store: UploadStore
) -> None:
    client = await serve(uploads=lambda: store)
    name = 'filename="grüße; 100%, it\'s \\"1\\".txt"'
    body = file_part(name) + part('Content-Disposition: form-data; name="purpose"', b"batch")
    headers = {"Content-Type": f"multipart/form-data; boundary={BOUNDARY}"}
    answer = await client.post(
        "/v1/files", data=body + f"--{BOUNDARY}--\r\n".encode(), headers=headers
    )
    file = await answer.json()
    content = await client.get(f"/v1/files/{file['id']}/content")

    assert file["filename"] == 'grüße; 100%, it\'s "1".txt'
    assert content.headers["Content-Disposition"] == (
        "attachment; filename*=UTF-8''gr%C3%BC%C3%9Fe%3B%20100%25%2C%20it%27s%20%221%22.txt"
    )


async def test_the_purpose_may_follow_the_file_or_precede_it(
    serve: Serve, store: UploadStore
) -> None:
    client = await serve(uploads=lambda: store)
    purpose = part('Content-Disposition: form-data; name="purpose"', b"vision")
    ending = f"--{BOUNDARY}--\r\n".encode()
    headers = {"Content-Type": f"multipart/form-data; boundary={BOUNDARY}"}
    for body in (file_part() + purpose + ending, purpose + file_part() + ending):
        answer = await client.post("/v1/files", data=body, headers=headers)
        assert (await answer.json())["purpose"] == "vision"


@pytest.mark.parametrize(
    ("data", "code", "param"),
    [
        (form(), "missing_required_parameter", "purpose"),
        (form(purpose="fun"), "invalid_value", "purpose"),
        (form(name="x" * 300, purpose="batch"), "invalid_value", "filename"),
        ({"purpose": "batch"}, "invalid_form", None),
        ({"purpose": "x" * 5000}, "invalid_form", None),
    ],
)
async def test_a_form_that_lacks_something_is_refused_and_nothing_stays(
    serve: Serve, store: UploadStore, tmp_path: Path, data: Any, code: str, param: str | None
) -> None:
    client = await serve(uploads=lambda: store)
    answer = await client.post("/v1/files", data=data)

    assert await error_of(answer) == (400, code, param)
    assert drafts(tmp_path) == []
    assert (await (await client.get("/v1/files")).json())["data"] == []


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"nothing of a form",
        f"--{BOUNDARY}".encode(),
        file_part(),
        file_part()[:-6],
        part('Content-Disposition: form-data; name="purpose"', b"batch") + b"--other--",
        file_part() + file_part() + f"--{BOUNDARY}--\r\n".encode(),
        part('Content-Disposition: form-data; name="file"', b"data")
        + f"--{BOUNDARY}--\r\n".encode(),
        file_part(more="\r\nContent-Transfer-Encoding: base64") + f"--{BOUNDARY}--\r\n".encode(),
        part("Content-Type: multipart/mixed; boundary=x", b"--x--\r\n")
        + f"--{BOUNDARY}--\r\n".encode(),
        b"".join(part(f'Content-Disposition: form-data; name="f{at}"', b"") for at in range(30))
        + f"--{BOUNDARY}--\r\n".encode(),
    ],
)
async def test_a_broken_form_is_refused_and_nothing_stays(
    serve: Serve, store: UploadStore, tmp_path: Path, body: bytes
) -> None:
    client = await serve(uploads=lambda: store)
    headers = {"Content-Type": f"multipart/form-data; boundary={BOUNDARY}"}
    answer = await client.post("/v1/files", data=body, headers=headers)

    assert await error_of(answer) == (400, "invalid_form", None)
    assert drafts(tmp_path) == []


async def test_a_form_without_a_file_says_what_is_missing(serve: Serve, store: UploadStore) -> None:
    client = await serve(uploads=lambda: store)
    written = aiohttp.FormData(default_to_multipart=True)
    written.add_field("purpose", "batch")
    answer = await client.post("/v1/files", data=written)

    assert await error_of(answer) == (400, "missing_required_parameter", "file")


async def test_a_file_over_the_limit_is_refused(
    serve: Serve, store: UploadStore, tmp_path: Path
) -> None:
    """By what it announces, and by what arrives where it announces nothing."""
    client = await serve(uploads=lambda: store)
    announced = await client.post("/v1/files", data=form(bytes(1_000_000), purpose="batch"))

    async def pieces() -> Any:
        yield file_part()[:-6]
        for _ in range(30):
            yield bytes(5000)

    headers = {"Content-Type": f"multipart/form-data; boundary={BOUNDARY}"}
    unannounced = await client.post("/v1/files", data=pieces(), headers=headers)

    assert await error_of(announced) == (413, "file_too_large", "file")
    assert await error_of(unannounced) == (413, "file_too_large", "file")
    assert drafts(tmp_path) == []


async def test_full_is_said_and_deleting_helps(serve: Serve, store: UploadStore) -> None:
    client = await serve(uploads=lambda: store)
    files = []
    for _ in range(2):
        answer = await client.post("/v1/files", data=form(bytes(100_000), purpose="batch"))
        files.append(await answer.json())
    full = await client.post("/v1/files", data=form(bytes(100_000), purpose="batch"))
    await client.delete(f"/v1/files/{files[0]['id']}")
    again = await client.post("/v1/files", data=form(bytes(100_000), purpose="batch"))

    assert await error_of(full) == (413, "files_full", "file")
    assert again.status == 200


@pytest.mark.parametrize("file_id", ["file-0", "index.db", "..%2Findex.db", "%2e%2e"])
async def test_an_unknown_id_is_not_found(serve: Serve, store: UploadStore, file_id: str) -> None:
    client = await serve(uploads=lambda: store)
    for method, path in (("GET", ""), ("GET", "/content"), ("DELETE", "")):
        answer = await client.request(method, f"/v1/files/{file_id}{path}")
        assert answer.status == 404

    cursor = await client.get("/v1/files", params={"after": "file-0"})
    assert await error_of(cursor) == (404, "file_not_found", "after")


async def test_a_folder_that_cannot_be_used_is_unavailable(serve: Serve) -> None:
    client = await serve(uploads=lambda: None)
    answer = await client.get("/v1/files")

    assert (answer.status, answer.headers["Retry-After"]) == (503, "5")
    assert (await answer.json())["error"]["code"] == "file_store_unavailable"


async def test_a_disk_that_fails_is_unavailable(
    serve: Serve, store: UploadStore, tmp_path: Path
) -> None:
    client = await serve(uploads=lambda: store)
    (tmp_path / "files").rename(tmp_path / "gone")
    answer = await client.post("/v1/files", data=form(purpose="batch"))
    (tmp_path / "gone").rename(tmp_path / "files")

    assert await error_of(answer) == (503, "file_store_unavailable", None)


async def test_files_need_the_key(serve: Serve, store: UploadStore) -> None:
    client = await serve(key="right", uploads=lambda: store)
    answer = await client.get("/v1/files", headers={"Authorization": "Bearer wrong"})

    assert answer.status == 401
