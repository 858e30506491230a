"""Sessions as clients meet them: kept, listed, forked, talked to, and still there tomorrow."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path
from typing import Any

import pytest

from hermes.testing.replies import Broken, Finish, HttpError, Text, ToolUse
from hermes.testing.scripted import EchoModel
from hermes.testing.sse import parse_events
from tests.flows.conftest import Flow, StartFlow, eventually

SESSIONS = "/api/sessions"


async def new_session(served: Flow, **body: Any) -> str:
    status, answer = await served.answer("POST", SESSIONS, json=body)
    assert (status, answer["object"]) == (201, "hermes.session")
    return str(answer["session"]["id"])


async def chat(served: Flow, session_id: str, message: Any, **more: Any) -> tuple[int, Any]:
    body = {"message": message, **more}
    return await served.answer("POST", f"{SESSIONS}/{session_id}/chat", json=body)


async def chat_stream(served: Flow, session_id: str, message: Any) -> list[tuple[str, Any]]:
    stream = await served.text(f"{SESSIONS}/{session_id}/chat/stream", {"message": message})
    return [(str(event.event), json.loads(event.data)) for event in parse_events(stream)]


async def messages_of(served: Flow, session_id: str) -> list[tuple[str, Any]]:
    status, answer = await served.answer("GET", f"{SESSIONS}/{session_id}/messages")
    assert status == 200
    return [(message["role"], message["content"]) for message in answer["data"]]


# --- keeping sessions -----------------------------------------------------------------------------


async def test_a_session_is_made_renamed_listed_and_deleted(flow: StartFlow) -> None:
    served = await flow([])
    session_id = await new_session(served, title="First", model="any")
    path = f"{SESSIONS}/{session_id}"
    renamed = await served.answer("PATCH", path, json={"title": "Second"})
    untitled = await served.answer("PATCH", path, json={"title": None})
    _, listed = await served.answer("GET", SESSIONS)
    deleted = await served.answer("DELETE", path)
    gone = await served.answer("GET", path)

    assert (renamed[0], renamed[1]["session"]["title"]) == (200, "Second")
    assert (untitled[0], untitled[1]["session"]["title"]) == (200, None)
    assert [session["id"] for session in listed["data"]] == [session_id]
    assert deleted == (
        200,
        {"object": "hermes.session.deleted", "id": session_id, "deleted": True},
    )
    assert (gone[0], gone[1]["error"]["code"]) == (404, "session_not_found")


async def test_the_list_comes_in_pages_with_the_latest_first(flow: StartFlow) -> None:
    served = await flow([])
    ids = [await new_session(served, title=f"number {at}") for at in range(5)]
    _, first = await served.answer("GET", f"{SESSIONS}?limit=2")
    _, last = await served.answer("GET", f"{SESSIONS}?limit=2&offset=4")

    assert [session["id"] for session in first["data"]] == [ids[4], ids[3]]
    assert [session["id"] for session in last["data"]] == [ids[0]]
    assert (first["has_more"], last["has_more"], last["total"]) == (True, False, 5)


@pytest.mark.parametrize(
    ("method", "path", "body"),
    [
        ("GET", "", None),
        ("PATCH", "", {"title": "x"}),
        ("DELETE", "", None),
        ("GET", "/messages", None),
        ("POST", "/fork", {}),
        ("POST", "/chat", {"message": "hi"}),
        ("POST", "/chat/stream", {"message": "hi"}),
    ],
)
async def test_a_session_nobody_made_is_not_found(
    flow: StartFlow, method: str, path: str, body: Any
) -> None:
    served = await flow([])
    status, answer = await served.answer(method, f"{SESSIONS}/nobody{path}", json=body)

    assert (status, answer["error"]["code"]) == (404, "session_not_found")
    assert served.requests == []


@pytest.mark.parametrize(
    ("method", "path", "body", "param"),
    [
        ("GET", f"{SESSIONS}?limit=0", None, "limit"),
        ("GET", f"{SESSIONS}?limit=many", None, "limit"),
        ("GET", f"{SESSIONS}?offset=-1", None, "offset"),
        ("GET", f"{SESSIONS}?offset={'9' * 500}", None, "offset"),
        ("POST", SESSIONS, {"title": 7}, "title"),
        ("POST", SESSIONS, {"title": "x" * 10_000}, "title"),
        ("POST", SESSIONS, {"model": []}, "model"),
        ("PATCH", f"{SESSIONS}/any", {}, "title"),
        ("POST", f"{SESSIONS}/any/chat", {}, "message"),
        ("POST", f"{SESSIONS}/any/chat", {"message": 7}, "message"),
        ("POST", f"{SESSIONS}/any/chat", {"message": "x", "system_message": 7}, "system_message"),
    ],
)
async def test_a_malformed_request_is_refused_by_name(
    flow: StartFlow, method: str, path: str, body: Any, param: str
) -> None:
    served = await flow([])
    status, answer = await served.answer(method, path, json=body)

    assert (status, answer["error"]["param"]) == (400, param)
    assert answer["error"]["type"] == "invalid_request_error"


# --- talking in a session -------------------------------------------------------------------------


async def test_a_turn_is_kept_with_its_tools_and_the_next_one_knows_it(flow: StartFlow) -> None:
    call = ToolUse("list_files", {"path": "."}, id="call_1")
    served = await flow([call, Text("Nothing."), Text("Still nothing.")])
    session_id = await new_session(served)
    status, answer = await chat(served, session_id, "What is here?", system_message="Be brief.")
    await chat(served, session_id, "Sure?")
    kept = await messages_of(served, session_id)
    _, shown = await served.answer("GET", f"{SESSIONS}/{session_id}")

    assert (status, answer["message"]["content"]) == (200, "Nothing.")
    assert [role for role, _ in kept] == [
        "user",
        "assistant",
        "tool",
        "assistant",
        "user",
        "assistant",
    ]
    assert shown["session"]["message_count"] == 6
    assert "Be brief." in served.requests[0].messages[0]["content"]
    assert [message["role"] for message in served.requests[2].messages[1:]] == [
        role for role, _ in kept[:5]
    ]


async def test_a_session_is_still_there_after_a_restart(flow: StartFlow, tmp_path: Path) -> None:
    home = tmp_path / "home"
    before = await flow([Text("Hi Ann")], home=home)
    session_id = await new_session(before, title="Ann's")
    await chat(before, session_id, "I am Ann")
    await before.gateway.close()
    after = await flow([Text("Ann")], home=home)
    await chat(after, session_id, "Who am I?")

    assert [message["content"] for message in after.requests[0].messages[1:]] == [
        "I am Ann",
        "Hi Ann",
        "Who am I?",
    ]
    assert len(await messages_of(after, session_id)) == 4


async def test_a_fork_has_the_past_of_its_source_and_a_future_of_its_own(flow: StartFlow) -> None:
    served = await flow(EchoModel())
    source = await new_session(served, title="Source")
    await chat(served, source, "shared")
    status, forked = await served.answer(
        "POST", f"{SESSIONS}/{source}/fork", json={"title": "Branch"}
    )
    branch = forked["session"]["id"]
    await chat(served, branch, "only here")
    _, shown = await served.answer("GET", f"{SESSIONS}/{source}")

    assert (status, forked["session"]["parent_session_id"]) == (201, source)
    assert forked["session"]["title"] == "Branch"
    assert await messages_of(served, source) == [("user", "shared"), ("assistant", "shared")]
    assert (await messages_of(served, branch))[2:] == [
        ("user", "only here"),
        ("assistant", "only here"),
    ]
    assert shown["session"]["end_reason"] == "branched"


async def test_a_fork_needs_no_body(flow: StartFlow) -> None:
    served = await flow([])
    source = await new_session(served, title="Source")
    status, forked = await served.answer("POST", f"{SESSIONS}/{source}/fork")

    assert (status, forked["session"]["title"]) == (201, "Source")


async def test_a_fork_outlives_its_source(flow: StartFlow) -> None:
    served = await flow(EchoModel())
    source = await new_session(served)
    await chat(served, source, "shared")
    _, forked = await served.answer("POST", f"{SESSIONS}/{source}/fork")
    await served.answer("DELETE", f"{SESSIONS}/{source}")

    assert await messages_of(served, forked["session"]["id"]) == [
        ("user", "shared"),
        ("assistant", "shared"),
    ]


async def test_a_deleted_session_leaves_no_message_behind(flow: StartFlow) -> None:
    served = await flow(lambda _: Text("Forgotten."))
    session_id = await new_session(served)
    await chat(served, session_id, "remember nothing")
    await served.answer("DELETE", f"{SESSIONS}/{session_id}")
    again = await chat(served, session_id, "are you there?")

    assert again[0] == 404
    assert (await served.answer("GET", SESSIONS))[1]["data"] == []


async def test_an_image_is_kept_and_shown_to_the_model(flow: StartFlow) -> None:
    served = await flow([Text("A dot.")])
    session_id = await new_session(served)
    url = "data:image/png;base64,AAAA"
    parts = [{"type": "input_text", "text": "What?"}, {"type": "input_image", "image_url": url}]
    await chat(served, session_id, parts)
    [(_, kept), _] = await messages_of(served, session_id)

    assert kept == served.requests[0].messages[-1]["content"]
    assert kept[1] == {"type": "image_url", "image_url": {"url": url}}


# --- streams --------------------------------------------------------------------------------------


async def test_a_stream_shows_the_whole_life_of_a_turn(flow: StartFlow) -> None:
    call = ToolUse("list_files", {"path": "."}, id="call_1")
    served = await flow([[Text("Looking."), call], Text(pieces=["Not", "hing."])])
    session_id = await new_session(served)
    events = await chat_stream(served, session_id, "What is here?")
    names = [name for name, _ in events]
    finished = dict(events)

    assert names[:2] == ["run.started", "message.started"]
    assert names[-3:] == ["assistant.completed", "run.completed", "done"]
    assert names.index("tool.started") < names.index("tool.completed")
    assert [payload["seq"] for _, payload in events] == list(range(len(events)))
    assert {payload["session_id"] for _, payload in events} == {session_id}
    assert finished["assistant.completed"]["content"] == "Nothing."
    assert [message["role"] for message in finished["run.completed"]["messages"]] == [
        "assistant",
        "tool",
        "assistant",
    ]
    assert len(await messages_of(served, session_id)) == 4


async def test_a_failed_turn_ends_the_stream_with_its_cause(flow: StartFlow) -> None:
    served = await flow([HttpError(401, {"error": {"message": "the cause"}})] * 2)
    session_id = await new_session(served)
    events = dict(await chat_stream(served, session_id, "Hello"))
    status, answer = await chat(served, session_id, "Hello")

    assert "the cause" in events["run.failed"]["error"]["message"]
    assert events["run.failed"]["error"]["code"] == "provider_error"
    assert events["done"]["state"] == "failed"
    assert "run.completed" not in events
    assert (status, answer["error"]["code"]) == (502, "provider_error")


async def test_a_failed_turn_is_run_again_under_the_same_idempotency_key(flow: StartFlow) -> None:
    served = await flow([HttpError(401, {"error": {"message": "the cause"}}), Text("Now.")])
    session_id = await new_session(served)
    answers = [
        await served.answer(
            "POST",
            f"{SESSIONS}/{session_id}/chat",
            json={"message": "Hello"},
            headers={"Idempotency-Key": "k-1"},
        )
        for _ in range(2)
    ]

    assert [status for status, _ in answers] == [502, 200]


async def test_a_cut_answer_says_so(flow: StartFlow) -> None:
    served = await flow([[Text("Half an ans"), Finish("length")]] * 2)
    session_id = await new_session(served)
    _, answer = await chat(served, session_id, "Hello")
    events = dict(await chat_stream(served, session_id, "Hello"))

    assert answer["hermes"]["error_code"] == "output_truncated"
    assert events["run.completed"]["completed"] is False
    assert events["run.completed"]["error_code"] == "output_truncated"


@pytest.mark.parametrize("path", ["/chat", "/chat/stream"])
async def test_the_model_call_ends_when_the_client_leaves(flow: StartFlow, path: str) -> None:
    served = await flow([Broken(how="stall")])
    session_id = await new_session(served)
    url = f"{SESSIONS}/{session_id}{path}"
    policy = {"X-Hermes-Disconnect": "cancel"}
    asking = asyncio.create_task(served.text(url, {"message": "Hello"}, headers=policy))
    await served.provider.wait_for_requests()
    asking.cancel()
    await asyncio.gather(asking, return_exceptions=True)

    await served.provider.wait_for_disconnects(within=1.0)
    await eventually(lambda: len(served.gateway.adapter.running) == 0, within=1.0)
    assert await messages_of(served, session_id) == [("user", "Hello")]


async def test_the_partial_answer_of_a_client_that_left_is_kept(flow: StartFlow) -> None:
    served = await flow([Broken("Half an ans", how="stall"), Text("wer.")])
    session_id = await new_session(served)
    url = f"{served.gateway.url}{SESSIONS}/{session_id}/chat/stream"
    policy = {"X-Hermes-Disconnect": "cancel"}
    async with served.http.post(url, json={"message": "Hello"}, headers=policy) as response:
        async for line in response.content:
            if b" ans" in line:
                break
        response.close()
    await served.provider.wait_for_disconnects(within=1.0)
    expected = [("user", "Hello"), ("assistant", "Half an ans")]
    async with asyncio.timeout(2):
        while await messages_of(served, session_id) != expected:
            await asyncio.sleep(0.01)
