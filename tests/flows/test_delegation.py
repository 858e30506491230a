"""Sub-agents and questions to the user, over real sockets: what is asked, shown and kept."""

from __future__ import annotations

import asyncio

from hermes.agent.delegating import BRIEF
from hermes.testing.replies import HttpError, Reply, Text, ToolUse
from hermes.testing.scripted import ModelRequest
from hermes.tools.builtin.ask_user import ASKED
from tests.flows.conftest import Flow, StartFlow
from tests.flows.run_client import begin, ended, events


def is_sub_agent(request: ModelRequest) -> bool:
    return BRIEF in str(request.body["messages"][0]["content"])


async def test_a_sub_agent_works_in_a_context_of_its_own_and_its_steps_are_in_the_log(
    flow: StartFlow,
) -> None:
    def script(request: ModelRequest) -> Reply:
        if is_sub_agent(request):
            if request.tool_results:
                return Text("It says hello.")
            return ToolUse("terminal", {"command": "echo hello"}, id="inner")
        if request.tool_results:
            return Text("The sub-agent found: " + str(request.tool_results["outer"]))
        return ToolUse("delegate", {"task": "Find out what it says."}, id="outer")

    served = await flow(script)
    run = await begin(served, input="What does it say?", session_id="s1")
    run = await ended(served, run["id"])
    assert run["status"] == "completed"
    assert "It says hello." in run["output"]

    sub = [request for request in served.requests if is_sub_agent(request)]
    assert [request.last_user_text for request in sub] == ["Find out what it says."] * 2
    offered = {tool["function"]["name"] for tool in sub[0].body["tools"]}
    assert not offered & {"delegate", "ask_user"}

    log = await events(served, run["id"])
    nested = [event for event in log if event["type"] == "delegate.event"]
    assert {event["call_id"] for event in nested} == {"outer"}
    kinds = [event["event"]["type"] for event in nested]
    assert kinds[0] == "message.kept"
    assert kinds.count("tool.started") == kinds.count("tool.finished") == 1
    assert any(
        event["event"].get("message", {}).get("content") == "It says hello." for event in nested
    )
    # What it used is part of what the run used.
    total = sum(request.input_tokens for request in served.requests)
    assert run["usage"]["input_tokens"] == total

    _, kept = await served.answer("GET", "/api/sessions/s1/messages")
    assert [message["role"] for message in kept["data"]] == [
        "user",
        "assistant",
        "tool",
        "assistant",
    ]


async def test_sub_agents_of_one_reply_work_side_by_side(flow: StartFlow) -> None:
    at_work = 0
    both = asyncio.Event()

    def script(request: ModelRequest) -> Reply:
        nonlocal at_work
        if is_sub_agent(request):
            at_work += 1
            if at_work == 2:
                both.set()
            return Text(f"Report {request.last_user_text}", interval=0.05)
        if request.tool_results:
            return Text("Done.")
        return [ToolUse("delegate", {"task": name}, id=name) for name in ("one", "two")]  # type: ignore[return-value]

    served = await flow(script)
    run = await ended(served, (await begin(served))["id"])
    assert (run["output"], both.is_set()) == ("Done.", True)
    assert served.requests[-1].tool_results == {"one": "Report one", "two": "Report two"}


async def test_a_sub_agent_that_fails_is_a_report_that_the_agent_reads(flow: StartFlow) -> None:
    def script(request: ModelRequest) -> Reply:
        if is_sub_agent(request):
            return HttpError(400, {"error": {"message": "no such model"}})
        if request.tool_results:
            return Text(str(request.tool_results["outer"]))
        return ToolUse("delegate", {"task": "Try."}, id="outer")

    served = await flow(script)
    run = await ended(served, (await begin(served))["id"])
    assert run["status"] == "completed"
    assert "The sub-agent did not finish" in run["output"]
    assert "no such model" in run["output"]


async def test_a_sub_agent_cannot_have_what_its_sender_has_not(flow: StartFlow) -> None:
    served = await flow(
        [ToolUse("delegate", {"task": "x", "toolsets": ["files", "moon"]}, id="outer"), Text("Ok.")]
    )
    run = await ended(served, (await begin(served))["id"])
    assert run["output"] == "Ok."
    assert "cannot have the toolsets moon" in str(served.requests[-1].tool_results["outer"])


async def test_stopping_the_run_stops_the_sub_agent(flow: StartFlow) -> None:
    def script(request: ModelRequest) -> Reply:
        if is_sub_agent(request):
            return ToolUse("terminal", {"command": "sleep 60", "timeout": 100}, id="inner")
        return ToolUse("delegate", {"task": "Sleep."}, id="outer")

    served = await flow(script)
    run = await begin(served)
    await _inner_tool_begins(served, run["id"])
    await served.answer("POST", f"/v1/runs/{run['id']}/stop")
    async with asyncio.timeout(5):
        assert (await ended(served, run["id"]))["status"] == "cancelled"


async def _inner_tool_begins(served: Flow, run_id: str) -> None:
    """Return as soon as the log says that a sub-agent's tool is at work."""
    async with (
        asyncio.timeout(10),
        served.http.get(f"{served.gateway.url}/v1/runs/{run_id}/events") as response,
    ):
        async for line in response.content:
            if b'"delegate.event"' in line and b'"tool.started"' in line:
                return


async def test_a_question_ends_the_turn_and_the_next_message_answers_it(flow: StartFlow) -> None:
    served = await flow(
        [
            [
                Text("Let me ask."),
                ToolUse("ask_user", {"question": "Which colour?", "choices": ["red", "blue"]}),
            ],
            Text("Blue it is."),
        ]
    )
    _, made = await served.answer("POST", "/api/sessions", json={})
    chat = f"/api/sessions/{made['session']['id']}/chat"
    status, first = await served.answer("POST", chat, json={"message": "Paint it."})
    assert (status, first["message"]["content"]) == (200, "Which colour?\n\n1. red\n2. blue")
    _, second = await served.answer("POST", chat, json={"message": "2"})
    assert second["message"]["content"] == "Blue it is."
    told = served.requests[-1].body["messages"]
    assert [message["role"] for message in told[1:]] == [
        "user",
        "assistant",
        "tool",
        "assistant",
        "user",
    ]
    assert ASKED in told[3]["content"]
    assert told[4]["content"] == first["message"]["content"]


async def test_a_streamed_question_is_shown_like_any_answer(flow: StartFlow) -> None:
    served = await flow([ToolUse("ask_user", {"question": "Which colour?"})])
    stream = await served.sdk.chat.completions.create(
        model="hermes-agent", messages=[{"role": "user", "content": "Paint."}], stream=True
    )
    said, reasons = "", []
    async for chunk in stream:
        for choice in chunk.choices:
            said += choice.delta.content or ""
            reasons.append(choice.finish_reason)
    assert (said, reasons[-1]) == ("Which colour?", "stop")
