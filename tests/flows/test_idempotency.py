"""Requests that create something and are made again: over real sockets, and over restarts."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path
from typing import Any

import aiohttp
import pytest

from hermes.testing.replies import Text
from tests.flows.conftest import Flow, StartFlow

SESSIONS = "/api/sessions"
CONVERSATIONS = "/v1/conversations"
REPLAYED = "Idempotency-Replayed"
ITEMS = {"items": [{"type": "message", "role": "user", "content": "Hello"}]}


async def post(
    served: Flow, path: str, body: Any, key: str | None = "k-1", **headers: str
) -> tuple[int, bytes, bool]:
    """The status and the bytes of the answer, and whether it is a replay."""
    sent = {**({"Idempotency-Key": key} if key is not None else {}), **headers}
    data = body if isinstance(body, aiohttp.FormData) else json.dumps(body)
    async with served.http.post(served.gateway.url + path, data=data, headers=sent) as answer:
        return answer.status, await answer.read(), answer.headers.get(REPLAYED) == "true"


async def count(served: Flow, path: str) -> int:
    return len((await served.answer("GET", path))[1]["data"])


def upload(content: bytes = b"milk", name: str = "list.txt", **fields: str) -> aiohttp.FormData:
    form = aiohttp.FormData()
    for field, value in {"purpose": "user_data", **fields}.items():
        form.add_field(field, value)
    form.add_field("file", content, filename=name)
    return form


async def test_a_session_that_is_asked_for_twice_is_made_once(flow: StartFlow) -> None:
    served = await flow([])
    first = await post(served, SESSIONS, {"title": "One"})
    again = await post(served, SESSIONS, {"title": "One"})
    other = await post(served, SESSIONS, {"title": "One"}, key="k-2")

    assert (first[0], first[2]) == (201, False)
    assert again == (201, first[1], True)
    assert (other[0], other[2]) == (201, False)
    assert other[1] != first[1]
    assert await count(served, SESSIONS) == 2


async def test_another_body_under_the_same_key_is_refused(flow: StartFlow) -> None:
    served = await flow([])
    await post(served, SESSIONS, {"title": "One"})
    status, body, _ = await post(served, SESSIONS, {"title": "Two"})

    error = json.loads(body)["error"]
    assert (status, error["code"]) == (409, "idempotency_key_conflict")
    assert error["param"] == "Idempotency-Key"
    assert await count(served, SESSIONS) == 1


async def test_the_answer_is_still_there_after_a_restart(flow: StartFlow, tmp_path: Path) -> None:
    served = await flow([])
    first = await post(served, SESSIONS, {"title": "One"})
    await served.gateway.close()
    served = await flow([], home=tmp_path)

    assert await post(served, SESSIONS, {"title": "One"}) == (201, first[1], True)
    assert (await post(served, SESSIONS, {"title": "Two"}))[0] == 409
    assert await count(served, SESSIONS) == 1


async def test_fifty_at_once_make_one_session(flow: StartFlow) -> None:
    served = await flow([])
    answers = await asyncio.gather(*(post(served, SESSIONS, {"title": "One"}) for _ in range(50)))

    assert len({body for _, body, _ in answers}) == 1
    assert {status for status, _, _ in answers} == {201}
    assert sum(not replayed for _, _, replayed in answers) == 1
    assert await count(served, SESSIONS) == 1


async def test_of_two_bodies_at_once_under_one_key_one_is_carried_out(flow: StartFlow) -> None:
    served = await flow([])
    answers = await asyncio.gather(
        *(post(served, SESSIONS, {"title": f"Title {number}"}) for number in range(8))
    )

    assert sorted(status for status, _, _ in answers) == [201, *[409] * 7]
    assert await count(served, SESSIONS) == 1


async def test_keys_belong_to_the_credential_and_the_path(flow: StartFlow) -> None:
    served = await flow([], keys={"laptop": {"key": "laptop-key-0123"}})
    mine = await post(served, SESSIONS, {})
    yours = await post(served, SESSIONS, {}, Authorization="Bearer laptop-key-0123")
    elsewhere = await post(served, CONVERSATIONS, {})

    assert [status for status, _, _ in (mine, yours, elsewhere)] == [201, 201, 200]
    assert not any(replayed for _, _, replayed in (mine, yours, elsewhere))
    assert await count(served, SESSIONS) == 2


async def test_a_refused_request_may_be_made_again_under_its_key(flow: StartFlow) -> None:
    served = await flow([])
    refused = await post(served, SESSIONS, {"title": 5})
    corrected = await post(served, SESSIONS, {"title": "Five"})

    assert (refused[0], corrected[0], corrected[2]) == (400, 201, False)


async def test_a_fork_is_made_once_for_each_session(flow: StartFlow) -> None:
    served = await flow([])
    made = [json.loads((await post(served, SESSIONS, {}, None))[1])["session"] for _ in range(2)]
    paths = [f"{SESSIONS}/{session['id']}/fork" for session in made]
    forks = [await post(served, path, {}) for path in (*paths, *paths)]

    assert [(status, replayed) for status, _, replayed in forks] == [
        *[(201, False)] * 2,
        *[(201, True)] * 2,
    ]
    assert [body for _, body, _ in forks[:2]] == [body for _, body, _ in forks[2:]]
    assert await count(served, SESSIONS) == 4


async def test_what_a_keyed_request_says_is_heard_where_its_body_is_optional(
    flow: StartFlow,
) -> None:
    served = await flow([])
    session = json.loads((await post(served, SESSIONS, {}))[1])["session"]
    fork = await post(served, f"{SESSIONS}/{session['id']}/fork", {"title": "Branch"})
    conversation = await post(served, CONVERSATIONS, {"metadata": {"team": "blue"}})

    assert json.loads(fork[1])["session"]["title"] == "Branch"
    assert json.loads(conversation[1])["metadata"] == {"team": "blue"}


async def test_items_are_added_to_a_conversation_once(flow: StartFlow) -> None:
    served = await flow([])
    created = json.loads((await post(served, CONVERSATIONS, {}))[1])
    path = f"{CONVERSATIONS}/{created['id']}/items"
    first, again = await post(served, path, ITEMS), await post(served, path, ITEMS)

    assert json.loads((await post(served, CONVERSATIONS, {}))[1]) == created
    assert again == (200, first[1], True)
    assert await count(served, path) == 1


async def test_an_uploaded_file_is_kept_once_whatever_the_boundary(flow: StartFlow) -> None:
    served = await flow([])
    first = await post(served, "/v1/files", upload())
    again = await post(served, "/v1/files", upload())

    assert (first[0], first[2]) == (200, False)
    assert again == (200, first[1], True)
    assert await count(served, "/v1/files") == 1


@pytest.mark.parametrize(
    "changed",
    [upload(b"bread"), upload(name="other.txt"), upload(purpose="assistants")],
    ids=["content", "name", "field"],
)
async def test_another_upload_under_the_same_key_is_refused(
    flow: StartFlow, changed: aiohttp.FormData
) -> None:
    served = await flow([])
    await post(served, "/v1/files", upload())

    assert (await post(served, "/v1/files", changed))[0] == 409
    assert await count(served, "/v1/files") == 1


async def test_uploads_at_once_are_kept_once_and_leave_nothing_behind(
    flow: StartFlow, tmp_path: Path
) -> None:
    served = await flow([])
    answers = await asyncio.gather(*(post(served, "/v1/files", upload()) for _ in range(6)))

    assert len({body for _, body, _ in answers}) == 1
    assert await count(served, "/v1/files") == 1
    kept = [path.name for path in (tmp_path / "files").iterdir() if "index.db" not in path.name]
    assert kept == [json.loads(answers[0][1])["id"]]


async def test_a_compaction_is_made_once(flow: StartFlow) -> None:
    served = await flow([Text("Short.")])
    body = {"model": "any", "input": "A long story"}
    first = await post(served, "/v1/responses/compact", body)
    again = await post(served, "/v1/responses/compact", body)

    assert again == (200, first[1], True)
    assert len(served.requests) == 1


@pytest.mark.parametrize("key", ["", " ", "x" * 256, "a\tb", "caf\u00e9\u0085"])
async def test_a_key_that_is_none_is_refused(flow: StartFlow, key: str) -> None:
    served = await flow([])
    status, body, _ = await post(served, SESSIONS, {}, key)

    assert (status, json.loads(body)["error"]["param"]) == (400, "Idempotency-Key")
    assert await count(served, SESSIONS) == 0
