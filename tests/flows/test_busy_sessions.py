"""One turn at a time in a session, and only so many in all: queued, refused or put first."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import pytest

from hermes.core.runs import WhenBusy
from hermes.settings.model import RunSettings
from hermes.testing.replies import Text
from hermes.testing.scripted import EchoModel
from tests.flows.conftest import Flow, StartFlow
from tests.flows.run_client import (
    HELD,
    RUNS,
    STALLED,
    begin,
    ended,
    events,
    kinds,
    release,
    show,
    until,
)
from tests.flows.test_approvals import DELETE, asking, decide, furnish, times_run

BUSY = "X-Hermes-When-Busy"
CHAT = "/v1/chat/completions"


def spoken(served: Flow, number: int) -> list[Any]:
    """What was said before and in a request to the model, by people and the model."""
    return [
        message["content"]
        for message in served.requests[number].messages[1:]
        if message["role"] != "tool" and message["content"]
    ]


def said(text: str, **more: Any) -> dict[str, Any]:
    return {"model": "m", "messages": [{"role": "user", "content": text}], **more}


async def session(served: Flow) -> str:
    _, made = await served.answer("POST", "/api/sessions", json={})
    return str(made["session"]["id"])


# --- queue ----------------------------------------------------------------------------------


async def test_turns_of_a_session_come_one_after_the_other_and_know_each_other(
    flow: StartFlow, tmp_path: Path
) -> None:
    served = await flow([HELD, Text("One."), Text("Two."), Text("Three.")])
    first = await begin(served, input="first", session_id="s1")
    await served.provider.wait_for_requests()
    second = await begin(served, input="second", session_id="s1")
    third = await begin(served, input="third", session_id="s1")
    places = [(await show(served, run["id"]))["queue_position"] for run in (second, third)]
    seen = served.provider.requests_seen
    release(tmp_path)
    done = [await ended(served, run["id"]) for run in (first, second, third)]

    assert (second["status"], third["status"], places, seen) == ("queued", "queued", [1, 2], 1)
    assert [run["output"] for run in done] == ["One.", "Two.", "Three."]
    assert spoken(served, 3) == ["first", "One.", "second", "Two.", "third"]


async def test_whoever_watches_a_queued_run_sees_its_place(flow: StartFlow, tmp_path: Path) -> None:
    served = await flow([HELD, Text("One."), Text("Two."), Text("Three.")])
    await begin(served, session_id="s1")
    await served.provider.wait_for_requests()
    await begin(served, session_id="s1")
    third = await begin(served, session_id="s1")
    async with served.http.get(f"{served.gateway.url}{RUNS}/{third['id']}/events") as response:
        waiting = await until(response, "run.queued")
        release(tmp_path)
        rest = await response.text()
    assert '"place": 2' in waiting
    assert '"place": 1' in waiting + rest
    assert "run.completed" in rest
    assert kinds(await events(served, third["id"]))[0] == "run.started"


@pytest.mark.parametrize("streams", [False, True])
async def test_a_chat_in_a_busy_session_waits_for_its_turn(
    flow: StartFlow, tmp_path: Path, streams: bool
) -> None:
    served = await flow([HELD, Text("One."), Text("Two.")])
    headers = {"X-Hermes-Session-Id": "s1"}
    await begin(served, input="first", session_id="s1")
    await served.provider.wait_for_requests()
    waiting = asyncio.create_task(
        served.text(CHAT, said("second", stream=streams), headers=headers)
    )
    async with asyncio.timeout(5):
        while len((await served.answer("GET", f"{RUNS}?status=queued"))[1]["data"]) < 1:
            await asyncio.sleep(0.01)
    release(tmp_path)
    assert "Two." in await waiting
    assert spoken(served, 2) == ["first", "One.", "second"]


async def test_a_queued_session_stream_says_something_while_it_waits(
    flow: StartFlow, tmp_path: Path
) -> None:
    """A client must be able to tell a queue from a dead connection."""
    served = await flow([HELD, Text("One."), Text("Two.")], keepalive_seconds=0.1)
    session_id = await session(served)
    await begin(served, session_id=session_id)
    await served.provider.wait_for_requests()
    url = f"{served.gateway.url}/api/sessions/{session_id}/chat/stream"
    async with served.http.post(url, json={"message": "second"}) as response:
        run_id = response.headers["X-Hermes-Run-Id"]
        await until(response, "\n\n")
        queued = await show(served, run_id)
        release(tmp_path)
        rest = await response.text()
    assert (queued["status"], queued["queue_position"]) == ("queued", 1)
    assert "Two." in rest


async def test_many_turns_at_once_are_all_answered_in_order(flow: StartFlow) -> None:
    served = await flow(EchoModel())
    made = [await begin(served, input=f"number {n}", session_id="s1") for n in range(20)]
    done = [await ended(served, run["id"]) for run in made]
    _, page = await served.answer("GET", "/api/sessions/s1/messages?limit=100")
    asked = [each["content"] for each in page["data"] if each["role"] == "user"]
    assert [run["output"] for run in done] == [f"number {n}" for n in range(20)]
    assert asked == [f"number {n}" for n in range(20)]


async def test_sessions_do_not_wait_for_each_other(flow: StartFlow) -> None:
    served = await flow(lambda asked: STALLED if asked.last_user_text == "wait" else Text("Hi."))
    await begin(served, input="wait", session_id="s1")
    await served.provider.wait_for_requests()
    other = await begin(served, input="go", session_id="s2", wait=10)
    assert other["output"] == "Hi."


async def test_turns_of_a_conversation_come_one_after_the_other(
    flow: StartFlow, tmp_path: Path
) -> None:
    served = await flow([HELD, Text("One."), Text("Two.")])
    conversation = await served.sdk.conversations.create()

    async def ask(text: str) -> str:
        made = await served.sdk.responses.create(
            model="m", input=text, conversation=conversation.id
        )
        return made.output_text

    first = asyncio.create_task(ask("first"))
    await served.provider.wait_for_requests()
    second = asyncio.create_task(ask("second"))
    async with asyncio.timeout(5):
        while not (await served.answer("GET", f"{RUNS}?status=queued"))[1]["data"]:
            await asyncio.sleep(0.01)
    release(tmp_path)
    assert [await first, await second] == ["One.", "Two."]
    assert spoken(served, 2)[-3:] == ["first", "One.", "second"]


# --- reject ---------------------------------------------------------------------------------


@pytest.mark.parametrize("by", ["header", "body", "setting"])
async def test_a_busy_session_may_refuse(flow: StartFlow, by: str) -> None:
    settings = RunSettings(when_busy=WhenBusy.REJECT) if by == "setting" else None
    served = await flow([STALLED], runs=settings)
    first = await begin(served, session_id="s1")
    await served.provider.wait_for_requests()
    body = {"input": "Hi", "session_id": "s1"}
    headers = {BUSY: "reject"} if by == "header" else {}
    if by == "body":
        body["when_busy"] = "reject"
    url = served.gateway.url + RUNS
    async with served.http.post(url, json=body, headers=headers) as response:
        answer = await response.json()
    assert (response.status, answer["error"]["code"]) == (409, "session_busy")
    assert answer["error"]["run_id"] == first["id"]
    assert int(response.headers["Retry-After"]) > 0


async def test_every_route_into_a_session_can_be_refused(flow: StartFlow) -> None:
    served = await flow([STALLED])
    session_id = await session(served)
    await begin(served, session_id=session_id)
    await served.provider.wait_for_requests()
    named = {"X-Hermes-Session-Id": session_id, BUSY: "reject"}
    asked: list[tuple[str, dict[str, Any]]] = [
        (CHAT, said("Hi")),
        (CHAT, said("Hi", stream=True)),
        (f"/api/sessions/{session_id}/chat", {"message": "Hi"}),
        (f"/api/sessions/{session_id}/chat/stream", {"message": "Hi"}),
        ("/v1/responses", {"model": "m", "input": "Hi"}),
    ]
    for path, body in asked:
        status, answer = await served.answer("POST", path, json=body, headers=named)
        assert (status, answer["error"]["code"]) == (409, "session_busy"), path
    assert served.provider.requests_seen == 1


async def test_a_session_that_waits_for_an_approval_is_busy(
    flow: StartFlow, tmp_path: Path
) -> None:
    furnish(tmp_path)
    served = await flow([DELETE])
    run = await asking(served, session_id="s1")
    body = {"input": "Hi", "session_id": "s1", "when_busy": "reject"}
    status, answer = await served.answer("POST", RUNS, json=body)
    assert (status, answer["error"]["run_id"]) == (409, run["id"])


async def test_a_free_session_refuses_nobody(flow: StartFlow) -> None:
    served = await flow(EchoModel())
    run = await begin(served, session_id="s1", when_busy="reject", wait=10)
    assert run["status"] == "completed"


@pytest.mark.parametrize("word", ["panic", "queue;"])
async def test_a_policy_that_is_none_is_refused(flow: StartFlow, word: str) -> None:
    served = await flow([])
    status, answer = await served.answer("POST", CHAT, json=said("Hi"), headers={BUSY: word})
    assert (status, answer["error"]["param"]) == (400, BUSY)


# --- interrupt ------------------------------------------------------------------------------


async def test_a_newer_turn_may_take_the_place_of_the_one_at_work(flow: StartFlow) -> None:
    served = await flow([STALLED, Text("Now this.")])
    first = await begin(served, input="first", session_id="s1")
    await served.provider.wait_for_requests()
    second = await begin(served, input="second", session_id="s1", when_busy="interrupt", wait=10)
    before = await show(served, first["id"])
    assert (before["status"], before["error"]["message"]) == (
        "cancelled",
        "A newer request took its place.",
    )
    assert second["output"] == "Now this."
    assert "first" in spoken(served, 1)


async def test_whoever_interrupts_comes_before_those_who_wait(flow: StartFlow) -> None:
    served = await flow(
        lambda asked: STALLED if asked.last_user_text == "wait" else Text(asked.last_user_text)
    )
    await begin(served, input="wait", session_id="s1")
    await served.provider.wait_for_requests()
    patient = await begin(served, input="patient", session_id="s1")
    urgent = await begin(served, input="urgent", session_id="s1", when_busy="interrupt")
    await ended(served, patient["id"])
    done = await show(served, urgent["id"])
    assert (done["status"], done["output"]) == ("completed", "urgent")
    assert spoken(served, 1)[-1] == "urgent"
    assert spoken(served, 2)[-1] == "patient"


async def test_an_interrupted_question_is_over(flow: StartFlow, tmp_path: Path) -> None:
    workspace = furnish(tmp_path)
    served = await flow([DELETE, Text("Now this.")])
    run = await asking(served, session_id="s1")
    other = await begin(served, session_id="s1", when_busy="interrupt", wait=10)
    assert other["output"] == "Now this."
    assert (await show(served, run["id"]))["status"] == "cancelled"
    assert times_run(workspace) == 0


# --- how many at once -----------------------------------------------------------------------


async def test_kept_runs_wait_for_room_and_chats_are_told_to_come_back(flow: StartFlow) -> None:
    served = await flow(
        lambda asked: STALLED if asked.last_user_text == "wait" else Text("Hi."),
        runs=RunSettings(max_concurrent=1),
    )
    first = await begin(served, input="wait")
    await served.provider.wait_for_requests()
    second = await begin(served, input="go")
    third = await begin(served, input="go")
    url = served.gateway.url + CHAT
    async with served.http.post(url, json=said("Hi")) as response:
        answer = await response.json()
    places = [(await show(served, run["id"]))["queue_position"] for run in (second, third)]
    await served.answer("POST", f"{RUNS}/{first['id']}/stop")
    done = [await ended(served, run["id"]) for run in (second, third)]

    assert (response.status, answer["error"]["code"]) == (429, "too_many_runs")
    assert answer["error"]["type"] == "rate_limit_error"
    assert int(response.headers["Retry-After"]) > 0
    assert (second["status"], places) == ("queued", [1, 2])
    assert [run["output"] for run in done] == ["Hi.", "Hi."]


@pytest.mark.parametrize("streams", [False, True])
async def test_a_chat_from_memory_gives_its_place_back(flow: StartFlow, streams: bool) -> None:
    served = await flow(EchoModel(), runs=RunSettings(max_concurrent=1))
    for _ in range(3):
        assert "Hi" in await served.text(CHAT, said("Hi", stream=streams))


async def test_a_waiting_run_needs_no_room(flow: StartFlow, tmp_path: Path) -> None:
    furnish(tmp_path)
    served = await flow(
        [DELETE, Text("Meanwhile."), Text("Gone.")], runs=RunSettings(max_concurrent=1)
    )
    run = await asking(served, session_id="s1")
    other = await begin(served, wait=10)
    await decide(served, run["id"], "once")
    done = await ended(served, run["id"])
    assert (other["output"], done["output"]) == ("Meanwhile.", "Gone.")


async def test_a_key_has_as_many_turns_at_once_as_it_may_have(flow: StartFlow) -> None:
    other = {"Authorization": "Bearer another-key-0123456789"}
    served = await flow(
        lambda asked: STALLED if asked.last_user_text == "wait" else Text("Hi."),
        runs=RunSettings(max_per_key=1),
        keys={"other": {"key": "another-key-0123456789"}},
    )
    first = await begin(served, input="wait")
    await served.provider.wait_for_requests()
    asked: list[tuple[str, dict[str, Any]]] = [
        (RUNS, {"input": "Hi"}),
        (CHAT, said("Hi")),
        ("/v1/responses", {"model": "m", "input": "Hi"}),
        ("/v1/responses", {"model": "m", "input": "Hi", "store": False}),
    ]
    for path, body in asked:
        async with served.http.post(served.gateway.url + path, json=body) as response:
            answer = await response.json()
        assert (response.status, answer["error"]["code"]) == (429, "too_many_runs"), path
        assert int(response.headers["Retry-After"]) > 0
    status, _ = await served.answer("POST", CHAT, json=said("Hi"), headers=other)
    await served.answer("POST", f"{RUNS}/{first['id']}/stop")
    again, _ = await served.answer("POST", CHAT, json=said("Hi"))
    assert (status, again) == (200, 200)


async def test_a_key_never_has_more_turns_at_work_than_it_may_have(flow: StartFlow) -> None:
    """Also when its runs have waited for room that others give back at once."""
    names = ("second", "third")
    others = [{"Authorization": f"Bearer {name}-key-0123456789"} for name in names]
    served = await flow(
        lambda _request: STALLED,
        runs=RunSettings(max_concurrent=2, max_per_key=1),
        keys={name: {"key": f"{name}-key-0123456789"} for name in names},
    )
    filling = []
    for headers in others:
        _, run = await served.answer("POST", RUNS, json={"input": "Hi"}, headers=headers)
        filling.append(run["id"])
    await served.provider.wait_for_requests(2)
    waiting = [await begin(served) for _ in range(2)]
    for run_id, headers in zip(filling, others, strict=True):
        await served.answer("POST", f"{RUNS}/{run_id}/stop", headers=headers)
    await served.provider.wait_for_requests(3)
    states = [(await show(served, run["id"]))["status"] for run in waiting]
    await served.answer("POST", f"{RUNS}/{waiting[0]['id']}/stop")
    await served.provider.wait_for_requests(4)
    assert states == ["running", "queued"]


async def test_a_full_queue_is_told_at_the_door(flow: StartFlow) -> None:
    served = await flow([STALLED], runs=RunSettings(max_queued=1))
    await begin(served, session_id="s1")
    await served.provider.wait_for_requests()
    queued = await begin(served, session_id="s1")
    url = served.gateway.url + RUNS
    async with served.http.post(url, json={"input": "Hi", "session_id": "s1"}) as response:
        answer = await response.json()
    assert queued["status"] == "queued"
    assert (response.status, answer["error"]["code"]) == (429, "queue_full")
    assert int(response.headers["Retry-After"]) > 0


async def test_queued_runs_outlive_a_restart(flow: StartFlow, tmp_path: Path) -> None:
    served = await flow([HELD])
    await begin(served, input="first", session_id="s1")
    await served.provider.wait_for_requests()
    second = await begin(served, input="second", session_id="s1")
    third = await begin(served, input="third", session_id="s1")
    await served.gateway.close()
    again = await flow([Text("Two."), Text("Three.")], home=tmp_path)
    done = [await ended(again, run["id"]) for run in (second, third)]
    assert [run["output"] for run in done] == ["Two.", "Three."]
    assert spoken(again, 1)[-3:] == ["second", "Two.", "third"]
