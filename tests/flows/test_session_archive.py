"""Whole sessions over a real socket: paged, searched, branched, moved, and deleted for good."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from hermes.testing.replies import Text, ToolUse
from tests.flows.conftest import Flow, StartFlow
from tests.flows.test_sessions import SESSIONS, chat, new_session


async def get(served: Flow, path: str) -> Any:
    status, answer = await served.answer("GET", f"{SESSIONS}{path}")
    assert status == 200, answer
    return answer


async def refused(served: Flow, method: str, path: str, **body: Any) -> tuple[int, str]:
    status, answer = await served.answer(method, f"{SESSIONS}{path}", **body)
    return status, answer["error"]["code"]


async def a_talk_with_a_tool(flow: StartFlow) -> tuple[Flow, str, list[dict[str, Any]]]:
    served = await flow(
        [ToolUse("terminal", {"command": "echo seen"}), Text("It says *seen*."), Text("Bye.")]
    )
    session_id = await new_session(served)
    await chat(served, session_id, "Look at the zebra")
    await chat(served, session_id, "Thanks")
    return served, session_id, (await get(served, f"/{session_id}/messages"))["data"]


async def test_messages_come_in_pages_from_either_end(flow: StartFlow) -> None:
    served, session_id, said = await a_talk_with_a_tool(flow)
    ids = [message["id"] for message in said]
    path = f"/{session_id}/messages"
    first = await get(served, f"{path}?limit=4")
    rest = await get(served, f"{path}?limit=4&after={ids[3]}")
    latest = await get(served, f"{path}?limit=2&order=desc")
    earlier = await get(served, f"{path}?limit=9&order=desc&before={ids[-2]}")

    assert [message["role"] for message in said] == [
        "user",
        "assistant",
        "tool",
        "assistant",
        "user",
        "assistant",
    ]
    assert "has_more" not in await get(served, path)
    assert (first["data"], first["has_more"]) == (said[:4], True)
    assert (rest["data"], rest["has_more"]) == (said[4:], False)
    assert (latest["data"], latest["has_more"]) == (said[:-3:-1], True)
    assert (earlier["data"], earlier["has_more"]) == (said[-3::-1], False)
    assert await refused(served, "GET", f"{path}?limit=0") == (400, "invalid_value")


async def test_what_was_said_is_found_and_titles_tell_where(flow: StartFlow) -> None:
    served, session_id, said = await a_talk_with_a_tool(flow)
    found = await get(served, "/search?q=ZEBRA")
    tool = await get(served, '/search?q="seen"&limit=1')

    [hit] = found["data"]
    assert (hit["session_id"], hit["message_id"], hit["role"]) == (
        session_id,
        said[0]["id"],
        "user",
    )
    assert hit["title"] == "Look at the zebra"
    [[begin, end]] = hit["highlights"]
    assert hit["snippet"][begin:end] == "zebra"
    assert (tool["total"], tool["has_more"]) == (2, True)
    session = (await get(served, f"/{session_id}"))["session"]
    assert (session["title"], session["title_source"]) == ("Look at the zebra", "auto")
    assert await refused(served, "GET", "/search") == (400, "missing_required_parameter")


@pytest.mark.parametrize(
    "query", ["%22", "*", "(", "a AND", "NEAR(", "%00x", "-x", "x:y", "%F0%9F%A6%93"]
)
async def test_no_query_breaks_the_search(flow: StartFlow, query: str) -> None:
    served = await flow([])

    assert (await get(served, f"/search?q={query}"))["data"] == []


async def test_a_branch_begins_at_a_chosen_message_and_goes_on_lawfully(flow: StartFlow) -> None:
    served = await flow(
        [ToolUse("terminal", {"command": "echo seen"}), Text("Done."), Text("Another way.")]
    )
    session_id = await new_session(served)
    await chat(served, session_id, "Look")
    said = (await get(served, f"/{session_id}/messages"))["data"]
    calling = said[1]
    assert calling["tool_calls"]
    status, forked = await served.answer(
        "POST", f"{SESSIONS}/{session_id}/fork", json={"message_id": calling["id"]}
    )
    assert status == 201
    fork_id = forked["session"]["id"]
    status, _ = await chat(served, fork_id, "Go on")
    assert status == 200
    roles = [each["role"] for each in (await get(served, f"/{fork_id}/messages"))["data"]]
    assert roles == ["user", "assistant", "tool", "user", "assistant"]


async def test_a_branch_at_an_unknown_message_is_refused(flow: StartFlow) -> None:
    served = await flow([])
    session_id = await new_session(served)
    path = f"/{session_id}/fork"

    assert await refused(served, "POST", path, json={"up_to": 99}) == (404, "message_not_found")
    assert await refused(served, "POST", path, json={"up_to": 0}) == (400, "invalid_value")
    assert (await get(served, ""))["total"] == 1


async def test_a_session_is_exported_and_imported_without_a_change(flow: StartFlow) -> None:
    served, session_id, said = await a_talk_with_a_tool(flow)
    exported = await get(served, f"/{session_id}/export")
    status, made = await served.answer("POST", f"{SESSIONS}/import", json=exported)
    copy_id = made["session"]["id"]
    again = await get(served, f"/{copy_id}/export")
    taken = await refused(served, "POST", "/import?keep_id=true", json=exported)
    await served.answer("DELETE", f"{SESSIONS}/{session_id}")
    kept, back = await served.answer("POST", f"{SESSIONS}/import?keep_id=true", json=exported)

    def without_names(document: dict[str, Any]) -> dict[str, Any]:
        head = {name: document["session"][name] for name in document["session"]}
        return {**document, "session": {**head, "id": "", "updated_at": 0}}

    assert (status, kept, back["session"]["id"]) == (201, 201, session_id)
    assert copy_id != session_id
    assert without_names(again) == without_names(exported)
    assert len(exported["messages"]) == len(said)
    assert taken == (409, "session_exists")
    assert await refused(served, "POST", "/import", json={"object": "x"}) == (400, "invalid_value")
    assert await refused(served, "GET", "/nobody/export") == (404, "session_not_found")


async def test_a_deleted_session_is_gone_from_search_and_files(
    flow: StartFlow, tmp_path: Path
) -> None:
    served, session_id, _ = await a_talk_with_a_tool(flow)
    home = tmp_path

    def kept() -> bytes:
        return b"".join(path.read_bytes() for path in home.glob("state.db*"))

    assert b"zebra" in kept()
    await served.answer("DELETE", f"{SESSIONS}/{session_id}")
    assert (await get(served, "/search?q=zebra"))["total"] == 0
    assert b"zebra" not in kept()
    assert b"echo seen" not in kept()
