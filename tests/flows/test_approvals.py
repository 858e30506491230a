"""Asking before a dangerous command: answered from every door, once, also after a restart."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from openai.types.chat import ChatCompletion

from hermes.server.run_keeping import deny_unanswered
from hermes.settings.paths import default_workspace
from hermes.testing.replies import Reply, Text, ToolUse
from hermes.wire.approval_text import code_in
from tests.flows.conftest import Flow, StartFlow
from tests.flows.run_client import (
    RUNS,
    as_other,
    begin,
    ended,
    events,
    in_state,
    kept_runs,
    kinds,
    read,
    show,
)

OTHER = "another-key-0123456789"
CHAT = "/v1/chat/completions"
DELETE = ToolUse("terminal", {"command": "echo deleted >> log; rm -r build"})
SCRIPT: list[Reply] = [DELETE, Text("It is gone.")]
TWICE: list[Reply] = [DELETE, Text("Gone."), DELETE, Text("Gone again.")]


def furnish(home: Path) -> Path:
    """A folder that the model wants to delete; commands leave a line in `log`."""
    workspace = default_workspace(home)
    (workspace / "build").mkdir(parents=True, exist_ok=True)
    return workspace


def times_run(workspace: Path) -> int:
    log = workspace / "log"
    return len(log.read_text().splitlines()) if log.exists() else 0


async def asking(served: Flow, **body: Any) -> dict[str, Any]:
    """A run that waits for an approval."""
    run = await begin(served, **body)
    return await in_state(served, run["id"], "waiting_for_approval")


async def decide(served: Flow, run_id: str, decision: str, **more: Any) -> tuple[int, Any]:
    body = {"decision": decision, **more}
    return await served.answer("POST", f"{RUNS}/{run_id}/approval", json=body)


def decided(told: list[Any]) -> list[tuple[str, str]]:
    return [(each["decision"], each["by"]) for each in told if each["type"] == "approval.decided"]


# --- on /v1/runs ----------------------------------------------------------------------------


async def test_a_run_pauses_before_a_dangerous_command_and_says_what_it_is(
    flow: StartFlow, tmp_path: Path
) -> None:
    workspace = furnish(tmp_path)
    served = await flow(SCRIPT)
    run = await asking(served)
    [approval] = run["approvals"]

    assert approval["command"] == DELETE.arguments["command"]  # type: ignore[index]
    assert approval["tool"] == "terminal"
    assert approval["reason"]
    assert approval["choices"] == ["once", "session", "always", "deny"]
    assert approval["expires_at"] > time.time()
    assert (run["finished_at"], times_run(workspace)) == (None, 0)


@pytest.mark.parametrize("decision", ["once", "session", "always", "yes", "OK!"])
async def test_an_approved_command_runs_once_and_the_run_goes_on(
    flow: StartFlow, tmp_path: Path, decision: str
) -> None:
    workspace = furnish(tmp_path)
    served = await flow(SCRIPT)
    run = await asking(served)
    status, answered = await decide(served, run["id"], decision)
    done = await ended(served, run["id"])
    told = await events(served, run["id"])

    assert (status, answered["id"]) == (200, run["id"])
    assert (done["status"], done["output"], done["attempt"]) == ("completed", "It is gone.", 2)
    assert (times_run(workspace), (workspace / "build").exists()) == (1, False)
    assert kinds(told).count("approval.requested") == 1
    assert [by for _, by in decided(told)] == ["client"]
    assert [event["seq"] for event in told] == list(range(1, len(told) + 1))
    assert "[approved by the user" in str(served.requests[1].messages)


async def test_a_denied_command_does_not_run_and_the_model_is_told(
    flow: StartFlow, tmp_path: Path
) -> None:
    workspace = furnish(tmp_path)
    served = await flow([DELETE, Text("Then I leave it.")])
    run = await asking(served)
    await decide(served, run["id"], "deny")
    done = await ended(served, run["id"])
    assert (done["status"], done["output"]) == ("completed", "Then I leave it.")
    assert (times_run(workspace), (workspace / "build").exists()) == (0, True)
    assert decided(await events(served, run["id"])) == [("deny", "client")]
    assert "denied" in str(served.requests[1].messages[-1]).lower()


async def test_one_of_several_questions_is_decided_by_its_id(
    flow: StartFlow, tmp_path: Path
) -> None:
    workspace = furnish(tmp_path)
    (workspace / "dist").mkdir()
    other = ToolUse("terminal", {"command": "rm -r dist"})
    served = await flow([[DELETE, other], Text("Half of it.")])
    run = await asking(served)
    first, second = run["approvals"]
    _, still = await decide(served, run["id"], "once", approval_id=first["id"])
    await decide(served, run["id"], "deny", approval_id=second["id"])
    await ended(served, run["id"])
    told = await events(served, run["id"])

    assert still["status"] == "waiting_for_approval"
    assert [each["id"] for each in still["approvals"]] == [second["id"]]
    assert ((workspace / "build").exists(), (workspace / "dist").exists()) == (False, True)
    assert decided(told) == [("once", "client"), ("deny", "client")]


async def test_a_decision_is_taken_once(flow: StartFlow, tmp_path: Path) -> None:
    workspace = furnish(tmp_path)
    served = await flow(SCRIPT)
    run = await asking(served)
    answers = await asyncio.gather(*(decide(served, run["id"], "once") for _ in range(8)))
    await ended(served, run["id"])
    late, refused = await decide(served, run["id"], "once")

    assert sorted(status for status, _ in answers) == [200] + [409] * 7
    assert (late, refused["error"]["code"]) == (409, "no_approval_pending")
    assert times_run(workspace) == 1


async def test_the_same_question_cannot_be_decided_twice(flow: StartFlow, tmp_path: Path) -> None:
    furnish(tmp_path)
    other = ToolUse("terminal", {"command": "rm -r dist"})
    served = await flow([[DELETE, other], Text("Done.")])
    run = await asking(served)
    first = run["approvals"][0]["id"]
    await decide(served, run["id"], "once", approval_id=first)
    status, answer = await decide(served, run["id"], "deny", approval_id=first)
    assert (status, answer["error"]["code"]) == (409, "approval_already_decided")


async def test_a_decision_about_nothing_is_refused(flow: StartFlow, tmp_path: Path) -> None:
    furnish(tmp_path)
    served = await flow([*SCRIPT, Text("Hello.")])
    run = await asking(served)
    unknown, answer = await decide(served, run["id"], "once", approval_id="appr_none")
    unclear, other = await decide(served, run["id"], "perhaps")
    finished = await begin(served, wait=10)
    idle, last = await decide(served, finished["id"], "once")

    assert (unknown, answer["error"]["code"]) == (404, "approval_not_found")
    assert (unclear, other["error"]["param"]) == (400, "decision")
    assert idle in (404, 409), last
    assert (await show(served, run["id"]))["status"] == "waiting_for_approval"


async def test_an_unanswered_question_is_denied_in_time_and_says_so(
    flow: StartFlow, tmp_path: Path
) -> None:
    workspace = furnish(tmp_path)
    served = await flow([DELETE, Text("Nobody answered.")])
    run = await asking(served)
    await deny_unanswered(served.gateway.adapter.seams, time.time() + 86_400)
    done = await ended(served, run["id"])
    told = await events(served, run["id"])

    assert (done["output"], times_run(workspace)) == ("Nobody answered.", 0)
    assert decided(told) == [("deny", "timeout")]
    assert "time" in str(served.requests[1].messages[-1]).lower()


async def test_a_waiting_run_can_be_stopped(flow: StartFlow, tmp_path: Path) -> None:
    workspace = furnish(tmp_path)
    served = await flow(SCRIPT)
    run = await asking(served)
    _, stopped = await served.answer("POST", f"{RUNS}/{run['id']}/stop")
    told = await events(served, run["id"])
    late, _ = await decide(served, run["id"], "once")

    assert (stopped["status"], late, times_run(workspace)) == ("cancelled", 409, 0)
    assert kinds(told)[-2:] == ["approval.decided", "run.cancelled"]
    assert decided(told) == [("deny", "stopped")]


async def test_a_viewer_stays_while_the_run_waits(flow: StartFlow, tmp_path: Path) -> None:
    furnish(tmp_path)
    served = await flow(SCRIPT)
    run = await begin(served)
    watching = asyncio.create_task(events(served, run["id"]))
    await in_state(served, run["id"], "waiting_for_approval")
    await decide(served, run["id"], "once")
    told = await watching
    assert "run.waiting_for_approval" in kinds(told)
    assert kinds(told)[-1] == "run.completed"
    assert told == await events(served, run["id"])


async def test_a_viewer_of_a_waiting_run_is_told_when_it_is_stopped(
    flow: StartFlow, tmp_path: Path
) -> None:
    furnish(tmp_path)
    served = await flow(SCRIPT)
    run = await begin(served)
    watching = asyncio.create_task(events(served, run["id"]))
    await in_state(served, run["id"], "waiting_for_approval")
    await served.answer("POST", f"{RUNS}/{run['id']}/stop")
    async with asyncio.timeout(5):
        told = await watching
    assert kinds(told)[-1] == "run.cancelled"


async def test_a_run_still_waits_after_a_restart(flow: StartFlow, tmp_path: Path) -> None:
    workspace = furnish(tmp_path)
    served = await flow([DELETE])
    run = await asking(served, session_id="s1")
    await served.gateway.close()
    again = await flow([Text("It is gone.")], home=tmp_path)
    waiting = await show(again, run["id"])
    queued = await begin(again, session_id="s1", input="Next?")
    status, _ = await decide(again, run["id"], "once")
    done = await ended(again, run["id"])

    assert (waiting["status"], waiting["approvals"]) == ("waiting_for_approval", run["approvals"])
    assert (queued["status"], queued["queue_position"]) == ("queued", 1)
    assert (status, done["output"], times_run(workspace)) == (200, "It is gone.", 1)


async def test_a_provider_that_repeats_its_call_ids_is_asked_about_each_time(
    flow: StartFlow, tmp_path: Path
) -> None:
    workspace = furnish(tmp_path)
    same = [ToolUse("terminal", DELETE.arguments, id="call_0")]
    served = await flow([same, same, Text("Twice.")])
    run = await asking(served)
    await decide(served, run["id"], "once", approval_id=run["approvals"][0]["id"])
    async with asyncio.timeout(5):
        while (again := await show(served, run["id"]))["attempt"] < 2 or "approvals" not in again:
            await asyncio.sleep(0.01)
    furnish(tmp_path)
    assert times_run(workspace) == 1
    await decide(served, run["id"], "once")
    done = await ended(served, run["id"])
    assert (done["output"], times_run(workspace)) == ("Twice.", 2)


# --- for longer than once -------------------------------------------------------------------


async def test_an_approval_for_the_session_holds_there_and_nowhere_else(
    flow: StartFlow, tmp_path: Path
) -> None:
    workspace = furnish(tmp_path)
    served = await flow([*TWICE, DELETE, Text("Unreachable.")])
    run = await asking(served, session_id="s1")
    await decide(served, run["id"], "session")
    await ended(served, run["id"])
    furnish(tmp_path)
    again = await begin(served, session_id="s1", wait=10)
    elsewhere = await asking(served, session_id="s2")

    assert (again["status"], again["output"]) == ("completed", "Gone again.")
    assert elsewhere["status"] == "waiting_for_approval"
    assert times_run(workspace) == 2


async def test_an_approval_for_ever_holds_for_the_key_also_after_a_restart(
    flow: StartFlow, tmp_path: Path
) -> None:
    workspace = furnish(tmp_path)
    keys = {"other": {"key": OTHER}}
    served = await flow(TWICE, keys=keys)
    run = await asking(served, session_id="s1")
    await decide(served, run["id"], "always")
    await ended(served, run["id"])
    furnish(tmp_path)
    await begin(served, wait=10)
    await served.gateway.close()
    furnish(tmp_path)
    again = await flow([DELETE, Text("Once more."), DELETE, DELETE, Text("Chat.")], keys=keys)
    third = await begin(again, wait=10)
    _, foreign = await again.answer(
        "POST", RUNS, json={"input": "Hi", "wait": 10}, headers=as_other(OTHER)
    )
    furnish(tmp_path)
    plain = await again.sdk.chat.completions.create(
        model="m", messages=[{"role": "user", "content": "Delete it."}]
    )

    assert third["output"] == "Once more."
    assert foreign["status"] == "waiting_for_approval"
    assert plain.choices[0].message.content == "Chat."
    assert times_run(workspace) == 4


# --- in any chat client ---------------------------------------------------------------------


class Chat:
    """A client that knows messages only, and keeps its own history."""

    def __init__(self, served: Flow, *, streams: bool, headers: dict[str, str] | None = None):
        self._served = served
        self._streams = streams
        self._headers = headers or {}
        self.messages: list[Any] = []
        self.run_ids: list[str] = []

    async def say(self, text: str) -> str:
        self.messages.append({"role": "user", "content": text})
        make = self._served.sdk.with_raw_response.chat.completions.create
        if self._streams:
            answer = await self._streamed()
        else:
            raw = await make(model="m", messages=self.messages, extra_headers=self._headers)
            self.run_ids.append(raw.headers["X-Hermes-Run-Id"])
            completion: ChatCompletion = raw.parse()
            assert completion.choices[0].finish_reason == "stop"
            answer = completion.choices[0].message.content or ""
        self.messages.append({"role": "assistant", "content": answer})
        return answer

    async def _streamed(self) -> str:
        create = self._served.sdk.chat.completions.with_streaming_response.create
        options: Any = {"model": "m", "messages": self.messages, "stream": True}
        async with create(**options, extra_headers=self._headers) as raw:
            self.run_ids.append(raw.headers["X-Hermes-Run-Id"])
            chunks = read(await raw.text())
        assert chunks[-1]["choices"][0]["finish_reason"] == "stop"
        return "".join(each["choices"][0]["delta"].get("content") or "" for each in chunks)


@pytest.fixture(params=[False, True], ids=["plain", "streamed"])
def streams(request: pytest.FixtureRequest) -> bool:
    return bool(request.param)


@pytest.mark.parametrize("word", ["yes", "YES!", "Always.", " ok ", "the code"])
async def test_an_untouched_client_approves_by_answering(
    flow: StartFlow, tmp_path: Path, streams: bool, word: str
) -> None:
    workspace = furnish(tmp_path)
    served = await flow(SCRIPT)
    chat = Chat(served, streams=streams)
    question = await chat.say("Delete the build folder.")
    code = code_in(question)
    assert code is not None
    assert times_run(workspace) == 0
    answer = await chat.say(code.lower() if word == "the code" else word)

    assert "rm -r build" in question
    assert "It is gone." in answer
    assert times_run(workspace) == 1
    assert chat.run_ids[0] == chat.run_ids[1]


@pytest.mark.parametrize("word", ["no", "Nope!", "DENY"])
async def test_an_untouched_client_denies_by_answering(
    flow: StartFlow, tmp_path: Path, streams: bool, word: str
) -> None:
    workspace = furnish(tmp_path)
    served = await flow([DELETE, Text("Then I leave it.")])
    chat = Chat(served, streams=streams)
    await chat.say("Delete the build folder.")
    assert "Then I leave it." in await chat.say(word)
    assert times_run(workspace) == 0


async def test_a_second_yes_does_not_run_it_twice(
    flow: StartFlow, tmp_path: Path, streams: bool
) -> None:
    """A client that sends its request again, because the first answer got lost."""
    workspace = furnish(tmp_path)
    served = await flow(SCRIPT)
    chat = Chat(served, streams=streams)
    await chat.say("Delete the build folder.")
    asked = list(chat.messages)
    first = await chat.say("yes")
    furnish(tmp_path)
    chat.messages = asked
    assert await chat.say("yes") == first
    assert times_run(workspace) == 1


async def test_many_a_yes_at_once_are_one(flow: StartFlow, tmp_path: Path, streams: bool) -> None:
    workspace = furnish(tmp_path)
    served = await flow(SCRIPT)
    chat = Chat(served, streams=streams)
    await chat.say("Delete the build folder.")
    clients = [Chat(served, streams=streams) for _ in range(6)]
    for client in clients:
        client.messages = list(chat.messages)
    answers = await asyncio.gather(*(client.say("yes") for client in clients))
    assert len(set(answers)) == 1
    assert times_run(workspace) == 1


async def test_something_else_said_is_a_no_and_is_answered(
    flow: StartFlow, tmp_path: Path, streams: bool
) -> None:
    workspace = furnish(tmp_path)
    served = await flow([DELETE, Text("It is where the build ends up."), Text("Later.")])
    chat = Chat(served, streams=streams)
    question = await chat.say("Delete the build folder.")
    answer = await chat.say("What is in there?")
    told = await events(served, chat.run_ids[0])
    chat.messages[1:] = [{"role": "assistant", "content": question}]
    late = await chat.say("yes")

    assert answer == "It is where the build ends up."
    assert decided(told) == [("deny", "superseded")]
    assert (await show(served, chat.run_ids[0]))["status"] == "cancelled"
    assert late == "Later."  # the question is over, so this is a turn of its own
    assert times_run(workspace) == 0


async def test_the_answer_may_come_after_a_restart(
    flow: StartFlow, tmp_path: Path, streams: bool
) -> None:
    workspace = furnish(tmp_path)
    served = await flow([DELETE])
    chat = Chat(served, streams=streams)
    await chat.say("Delete the build folder.")
    await served.gateway.close()
    again = await flow([Text("It is gone.")], home=tmp_path)
    later = Chat(again, streams=streams)
    later.messages = chat.messages
    assert "It is gone." in await later.say("yes")
    assert times_run(workspace) == 1
    assert "Delete the build folder." in str(again.requests[0].messages)


async def test_another_keys_code_is_useless(flow: StartFlow, tmp_path: Path, streams: bool) -> None:
    workspace = furnish(tmp_path)
    served = await flow([DELETE, Text("Yes what?"), Text("Gone.")], keys={"o": {"key": OTHER}})
    chat = Chat(served, streams=streams)
    await chat.say("Delete the build folder.")
    thief = Chat(served, streams=streams, headers=as_other(OTHER))
    thief.messages = list(chat.messages)
    assert await thief.say("yes") == "Yes what?"
    assert times_run(workspace) == 0
    assert "Gone." in await chat.say("yes")


async def test_an_approval_is_given_in_a_named_session(
    flow: StartFlow, tmp_path: Path, streams: bool
) -> None:
    workspace = furnish(tmp_path)
    served = await flow([*TWICE, Text("You are welcome.")])
    chat = Chat(served, streams=streams, headers={"X-Hermes-Session-Id": "s1"})
    await chat.say("Delete the build folder.")
    chat.messages.clear()  # the session has the history
    assert "Gone." in await chat.say("session")
    furnish(tmp_path)
    chat.messages.clear()
    assert "Gone again." in await chat.say("Once more.")
    _, page = await served.answer("GET", "/api/sessions/s1/messages")
    roles = [message["role"] for message in page["data"]]
    transcript = str(page["data"])

    assert times_run(workspace) == 2
    assert roles == ["user", "assistant", "tool", "assistant"] * 2
    assert "[approved by the user: session]" in transcript


async def test_something_else_said_in_a_session_keeps_its_transcript_whole(
    flow: StartFlow, tmp_path: Path, streams: bool
) -> None:
    furnish(tmp_path)
    served = await flow([DELETE, Text("The build.")])
    chat = Chat(served, streams=streams, headers={"X-Hermes-Session-Id": "s1"})
    await chat.say("Delete the build folder.")
    chat.messages.clear()
    assert await chat.say("What is in there?") == "The build."
    _, page = await served.answer("GET", "/api/sessions/s1/messages")
    roles = [message["role"] for message in page["data"]]
    assert roles == ["user", "assistant", "tool", "user", "assistant"]


async def test_a_chat_that_asked_is_a_run_that_can_be_decided_on_its_own_route(
    flow: StartFlow, tmp_path: Path, streams: bool
) -> None:
    workspace = furnish(tmp_path)
    served = await flow(SCRIPT)
    chat = Chat(served, streams=streams)
    await chat.say("Delete the build folder.")
    run_id = chat.run_ids[0]
    waiting = await show(served, run_id)
    status, _ = await decide(served, run_id, "once")
    done = await ended(served, run_id)
    told = await events(served, run_id)

    assert (waiting["status"], len(waiting["approvals"])) == ("waiting_for_approval", 1)
    assert (status, done["status"], done["output"]) == (200, "completed", "It is gone.")
    assert decided(told) == [("once", "client")]
    assert times_run(workspace) == 1


async def test_a_chat_nobody_answers_is_over_in_time(
    flow: StartFlow, tmp_path: Path, streams: bool
) -> None:
    furnish(tmp_path)
    served = await flow(SCRIPT)
    chat = Chat(served, streams=streams)
    await chat.say("Delete the build folder.")
    await deny_unanswered(served.gateway.adapter.seams, time.time() + 86_400)
    run = await ended(served, chat.run_ids[0])
    told = await events(served, chat.run_ids[0])
    assert run["status"] == "cancelled"
    assert decided(told) == [("deny", "timeout")]


# --- in the other doors ---------------------------------------------------------------------


@pytest.mark.parametrize("store", [True, False])
async def test_a_response_is_continued_with_a_yes(
    flow: StartFlow, tmp_path: Path, streams: bool, store: bool
) -> None:
    workspace = furnish(tmp_path)
    served = await flow(SCRIPT)
    create = _response_by(served, streams=streams)
    first = await create(input="Delete the build folder.", store=store)
    question = first["output"][-1]["content"][0]["text"]
    if store:
        second = await create(input="Yes!", previous_response_id=first["id"], store=True)
    else:
        opening = {"role": "user", "content": "Delete the build folder."}
        said = {"role": "assistant", "content": question}
        answer = {"role": "user", "content": "Yes!"}
        second = await create(input=[opening, said, answer], store=False)

    assert (first["status"], second["status"]) == ("completed", "completed")
    assert code_in(question)
    assert second["id"] != first["id"]
    assert second["output"][-1]["content"][0]["text"].endswith("It is gone.")
    assert times_run(workspace) == 1
    if store:
        assert second["previous_response_id"] == first["id"]
        _, kept = await served.answer("GET", f"/v1/responses/{second['id']}")
        assert kept == second


def _response_by(served: Flow, *, streams: bool) -> Callable[..., Any]:
    async def create(**body: Any) -> Any:
        if not streams:
            status, response = await served.answer(
                "POST", "/v1/responses", json={"model": "m", **body}
            )
            assert status == 200, response
            return response
        text = await served.text("/v1/responses", {"model": "m", "stream": True, **body})
        return read(text)[-1]["response"]

    return create


async def test_a_response_asks_again_after_a_restart(
    flow: StartFlow, tmp_path: Path, streams: bool
) -> None:
    workspace = furnish(tmp_path)
    served = await flow([DELETE])
    first = await _response_by(served, streams=streams)(input="Delete it.")
    await served.gateway.close()
    again = await flow([Text("It is gone."), Text("Indeed.")], home=tmp_path)
    create = _response_by(again, streams=streams)
    second = await create(input="yes", previous_response_id=first["id"])
    third = await create(input="Sure?", previous_response_id=second["id"])

    assert second["output"][-1]["content"][0]["text"].endswith("It is gone.")
    assert third["output"][-1]["content"][0]["text"] == "Indeed."
    assert times_run(workspace) == 1
    asked = [message["role"] for message in again.requests[1].messages[1:]]
    assert asked.count("user") >= 2


async def test_a_session_is_answered_in_its_chat(
    flow: StartFlow, tmp_path: Path, streams: bool
) -> None:
    workspace = furnish(tmp_path)
    served = await flow(SCRIPT)
    _, made = await served.answer("POST", "/api/sessions", json={})
    path = f"/api/sessions/{made['session']['id']}/chat" + ("/stream" if streams else "")
    question = await served.text(path, {"message": "Delete the build folder."})
    answer = await served.text(path, {"message": "Yes, always."})

    assert "rm -r build" in question
    assert "It is gone." in answer
    assert times_run(workspace) == 1


async def test_a_websocket_is_answered_on_the_socket(flow: StartFlow, tmp_path: Path) -> None:
    workspace = furnish(tmp_path)
    served = await flow(SCRIPT)
    async with served.http.ws_connect(f"{served.gateway.url}/v1/responses") as socket:

        async def turn(**body: Any) -> Any:
            await socket.send_json({"type": "response.create", "model": "m", **body})
            while True:
                event = await socket.receive_json(timeout=5)
                if event["type"] in ("response.completed", "response.failed", "error"):
                    return event

        first = await turn(input="Delete it.")
        second = await turn(input="yes", previous_response_id=first["response"]["id"])
    assert second["response"]["output"][-1]["content"][0]["text"].endswith("It is gone.")
    assert times_run(workspace) == 1


async def test_nothing_dangerous_costs_a_chat_nothing(flow: StartFlow) -> None:
    served = await flow([Text("Hello.")])
    chat = Chat(served, streams=True)
    await chat.say("Hi.")
    assert kept_runs(served).get(chat.run_ids[0]) is None
