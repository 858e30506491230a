"""Long sessions: short for the model, whole for everybody else, under the same id."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from typing import Any

from hermes.server.session_compaction import compact_if_long
from hermes.settings.model import SessionSettings
from hermes.testing.replies import HttpError, Reply, Text, ToolUse
from hermes.testing.scripted import ModelRequest
from tests.flows.conftest import Flow, StartFlow, eventually
from tests.flows.test_sessions import SESSIONS, chat, messages_of, new_session


def answering(request: ModelRequest) -> Reply:
    """Summaries count up; everything else is repeated."""
    asked = str(request.messages[-1]["content"])
    if asked.endswith("Write the summary only."):
        return Text(f"Summary of {asked.count('User: ')} questions")
    return Text(f"Re: {asked}")


async def talk(served: Flow, session_id: str, *words: str) -> None:
    for word in words:
        status, answer = await chat(served, session_id, word)
        assert status == 200, answer


async def compact(served: Flow, session_id: str, **body: Any) -> tuple[int, Any]:
    return await served.answer("POST", f"{SESSIONS}/{session_id}/compact", json=body)


def told(served: Flow) -> list[str]:
    """What the model was told last, without the agent's own prompt."""
    return [
        str(each["content"]) for each in served.requests[-1].messages if each["role"] != "system"
    ]


async def test_the_model_is_told_a_summary_and_what_came_after(flow: StartFlow) -> None:
    served = await flow(answering)
    session_id = await new_session(served)
    await talk(served, session_id, "one", "two", "three")
    before = await messages_of(served, session_id)
    status, made = await compact(served, session_id, keep_last=2)
    await talk(served, session_id, "four")

    assert (status, made["summarised_messages"], made["kept_messages"]) == (200, 4, 2)
    assert made["summary"] == "Summary of 2 questions"
    assert told(served)[0].endswith("Summary of 2 questions")
    assert told(served)[1:] == ["three", "Re: three", "four"]
    assert (await messages_of(served, session_id))[: len(before)] == before
    _, exported = await served.answer("GET", f"{SESSIONS}/{session_id}/export")
    assert len(exported["messages"]) == 8


async def test_a_later_summary_has_the_earlier_one_in_it(flow: StartFlow) -> None:
    served = await flow(answering)
    session_id = await new_session(served)
    await talk(served, session_id, "one", "two")
    await compact(served, session_id, keep_last=1)
    await talk(served, session_id, "three")
    await compact(served, session_id, keep_last=1)

    assert "Summary of what came before:\nSummary of 1 questions\n\nUser: two" in told(served)[-1]


async def test_a_short_session_is_left_alone_and_no_model_is_asked(flow: StartFlow) -> None:
    served = await flow(answering)
    session_id = await new_session(served)
    await talk(served, session_id, "one")
    status, made = await compact(served, session_id)

    assert (status, made["summary"], made["summarised_messages"]) == (200, None, 0)
    assert len(served.requests) == 1


async def test_a_call_and_its_result_stay_together(flow: StartFlow) -> None:
    served = await flow(
        [
            Text("Hi"),
            ToolUse("terminal", {"command": "echo seen"}),
            Text("Done"),
            Text("Summary"),
            Text("Bye"),
        ]
    )
    session_id = await new_session(served)
    await talk(served, session_id, "Hello", "Look")
    _, made = await compact(served, session_id, keep_last=1)
    await talk(served, session_id, "Thanks")
    roles = [message["role"] for message in served.requests[-1].messages]

    assert made["kept_messages"] == 4
    assert roles == ["system", "user", "user", "assistant", "tool", "assistant", "user"]


async def test_a_model_that_cannot_summarise_leaves_everything_as_it_was(flow: StartFlow) -> None:
    served = await flow([Text("Hi"), Text("Ho"), HttpError(400, "no")])
    session_id = await new_session(served)
    await talk(served, session_id, "one", "two")
    status, refused = await compact(served, session_id, keep_last=1)
    unknown = await compact(served, "nobody")

    assert status in (400, 502), refused
    assert refused["error"]["message"]
    assert (unknown[0], unknown[1]["error"]["code"]) == (404, "session_not_found")
    _, again = await served.answer("GET", f"{SESSIONS}/{session_id}")
    assert again["session"]["message_count"] == 4


async def test_a_long_session_is_made_short_after_a_turn(flow: StartFlow) -> None:
    served = await flow(answering, sessions=SessionSettings(compact_after_messages=4))
    session_id = await new_session(served)
    seams = served.gateway.adapter.seams
    await talk(served, session_id, "one", "two")
    await compact_if_long(seams, session_id)
    asked = len(served.requests)
    await talk(served, session_id, "three")
    await asyncio.gather(*(compact_if_long(seams, session_id) for _ in range(3)))
    # The gateway began it by itself after the turn; whoever comes meanwhile does not wait for it.
    await eventually(lambda: len(served.requests) >= 4 and not seams.compacting)

    assert asked == 2
    assert len(served.requests) == 4
    await talk(served, session_id, "four")
    assert told(served)[0].endswith("Summary of 2 questions")
    assert told(served)[1:] == ["three", "Re: three", "four"]


async def test_a_failure_beside_a_turn_disturbs_nobody(flow: StartFlow, caplog: Any) -> None:
    served = await flow(
        [Text("Hi"), Text("Ho"), HttpError(400, "no")],
        sessions=SessionSettings(compact_after_messages=2),
    )
    session_id = await new_session(served)
    await talk(served, session_id, "one", "two")
    await eventually(lambda: "session not compacted" in caplog.text)

    assert not served.gateway.adapter.seams.compacting


async def test_an_open_webui_chat_goes_on_after_its_session_was_made_short(flow: StartFlow) -> None:
    served = await flow(answering)
    headers = {"X-OpenWebUI-Chat-Id": "abc"}
    said: list[dict[str, str]] = []
    for word in ("one", "two", "three"):
        said.append({"role": "user", "content": word})
        await served.answer(
            "POST", "/v1/chat/completions", json={"messages": said}, headers=headers
        )
        said.append({"role": "assistant", "content": f"Re: {word}"})
        if word == "two":
            await compact(served, "owui-abc", keep_last=1)

    assert told(served)[0].endswith("Summary of 1 questions")
    assert told(served)[1:] == ["two", "Re: two", "three"]
    _, listed = await served.answer("GET", SESSIONS)
    assert [session["id"] for session in listed["data"]] == ["owui-abc"]


async def test_a_store_from_before_there_were_summaries_is_left_alone(
    flow: StartFlow, caplog: Any
) -> None:
    served = await flow(answering, sessions=SessionSettings(compact_after_messages=1))
    old: Any = object()
    await compact_if_long(replace(served.gateway.adapter.seams, sessions=lambda: old), "s")

    assert "not compacted" not in caplog.text
