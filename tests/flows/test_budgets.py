"""Budgets over real sockets: each limit of each scope stops within one call, on every wire."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path
from typing import Any

import openai
import pytest

from hermes.core.budgets import Budget, Budgets
from hermes.core.prices import Price, PriceRule
from hermes.testing.replies import Reply, Text, ToolUse
from hermes.testing.scripted import ModelRequest
from tests.flows.conftest import Flow, StartFlow
from tests.flows.run_client import ended

DEAR = (PriceRule(pattern="fake", price=Price(input=1_000_000, output=1_000_000)),)
"""A dollar per token."""
LIMITS: dict[str, dict[str, Any]] = {
    "max_cost_usd": {"max_cost_usd": 0.5},
    "max_tokens": {"max_tokens": 1},
    "max_iterations": {"max_iterations": 1},
    "max_seconds": {"max_seconds": 0.3},
}
each_limit = pytest.mark.parametrize("limit", LIMITS)
CHAT = {"model": "hermes-agent", "messages": [{"role": "user", "content": "Work."}]}


def works_on(request: ModelRequest) -> Reply:
    """A model that never comes to an end by itself, unless it is told to."""
    if any("enough" in str(said) for said in request.body["messages"] if said["role"] == "user"):
        return Text("Done at last.")
    return [Text("One step.", interval=0.2), ToolUse("list_files", {"path": "."})]


async def begin(flow: StartFlow, **options: Any) -> Flow:
    return await flow(works_on, prices=DEAR, **options)


def stopped_by(said: str, limit: str) -> bool:
    return "I stopped before I was done." in said and limit in said


# --- each limit, each scope -----------------------------------------------------------------------


@each_limit
async def test_a_request_is_stopped_before_the_second_call(flow: StartFlow, limit: str) -> None:
    at = await begin(flow, budgets=Budgets(request=Budget(**LIMITS[limit])))
    status, body = await at.answer("POST", "/v1/chat/completions", json=CHAT)
    assert status == 200
    assert len(at.requests) == 1
    [choice] = body["choices"]
    assert choice["finish_reason"] == "length"
    assert stopped_by(choice["message"]["content"], f"budgets.request.{limit}")
    assert choice["message"]["content"].startswith("One step.")
    assert body["hermes"]["error_code"] == "budget_exhausted"
    assert f"budgets.request.{limit}" in body["hermes"]["error"]


@each_limit
@pytest.mark.parametrize("scope", ["session", "key", "day"])
async def test_what_lasts_is_stopped_within_one_call_and_then_refused_before_any(
    flow: StartFlow, scope: str, limit: str
) -> None:
    budgets = Budgets(**{scope: Budget(**LIMITS[limit])})
    at = await begin(flow, budgets=budgets)
    chat: dict[str, Any] = {"json": CHAT, "headers": {"X-Hermes-Session-Id": "s1"}}
    status, body = await at.answer("POST", "/v1/chat/completions", **chat)
    assert status == 200
    assert stopped_by(body["choices"][0]["message"]["content"], f"budgets.{scope}.{limit}")
    assert len(at.requests) == 1
    status, body = await at.answer("POST", "/v1/chat/completions", **chat)
    assert (status, body["error"]["code"]) == (429, "budget_exhausted")
    assert f"budgets.{scope}.{limit}" in body["error"]["message"]
    assert len(at.requests) == 1


async def test_another_session_has_a_budget_of_its_own(flow: StartFlow) -> None:
    at = await begin(flow, budgets=Budgets(session=Budget(max_tokens=1)))
    for name in ("s1", "s2"):
        headers = {"X-Hermes-Session-Id": name}
        status, _ = await at.answer("POST", "/v1/chat/completions", json=CHAT, headers=headers)
        assert status == 200
    assert len(at.requests) == 2


async def test_a_keys_own_limits_take_the_place_of_the_general_ones(flow: StartFlow) -> None:
    keys = {
        "small": {"key": "small-key-0123456789", "budget": {"day": {"max_iterations": 1}}},
        "large": {"key": "large-key-0123456789", "budget": {"request": {"max_iterations": 3}}},
    }
    at = await begin(flow, budgets=Budgets(request=Budget(max_iterations=2)), keys=keys)

    async def ask(name: str) -> tuple[int, Any]:
        headers = {"Authorization": f"Bearer {keys[name]['key']}"}
        return await at.answer("POST", "/v1/chat/completions", json=CHAT, headers=headers)

    status, body = await ask("small")
    assert stopped_by(body["choices"][0]["message"]["content"], "budget.day.max_iterations")
    assert len(at.requests) == 1
    status, body = await ask("small")
    assert (status, body["error"]["code"]) == (429, "budget_exhausted")
    await ask("large")
    assert len(at.requests) == 1 + 3


async def test_a_day_that_is_used_up_says_when_it_is_over(flow: StartFlow) -> None:
    at = await begin(flow, budgets=Budgets(day=Budget(max_tokens=1)))
    await at.answer("POST", "/v1/chat/completions", json=CHAT)
    async with at.http.post(at.gateway.url + "/v1/chat/completions", json=CHAT) as response:
        assert response.status == 429
        assert 0 < int(response.headers["Retry-After"]) <= 86_400
        assert response.headers["x-should-retry"] == "false"


# --- the request's own budget ---------------------------------------------------------------------


@each_limit
async def test_a_request_may_bring_a_budget_of_its_own(flow: StartFlow, limit: str) -> None:
    at = await begin(flow)
    _, body = await at.answer(
        "POST", "/v1/chat/completions", json={**CHAT, "budget": LIMITS[limit]}
    )
    assert body["choices"][0]["finish_reason"] == "length"
    assert len(at.requests) == 1


async def test_a_request_can_lower_what_is_configured_and_never_raise_it(flow: StartFlow) -> None:
    at = await begin(flow, budgets=Budgets(request=Budget(max_iterations=2)))
    await at.answer("POST", "/v1/chat/completions", json={**CHAT, "budget": {"max_iterations": 9}})
    assert len(at.requests) == 2
    await at.answer("POST", "/v1/chat/completions", json={**CHAT, "budget": {"max_iterations": 1}})
    assert len(at.requests) == 3


@pytest.mark.parametrize(
    ("budget", "param"),
    [
        ("much", "budget"),
        ({"max_tokens": 0}, "budget.max_tokens"),
        ({"max_tokens": "10"}, "budget.max_tokens"),
        ({"max_tokens": 1.5}, "budget.max_tokens"),
        ({"max_cost_usd": -1}, "budget.max_cost_usd"),
        ({"max_cost_usd": 0}, "budget.max_cost_usd"),
        ({"max_seconds": True}, "budget.max_seconds"),
        ({"max_money": 1}, "budget"),
    ],
)
@pytest.mark.parametrize(
    ("path", "body"),
    [
        ("/v1/chat/completions", CHAT),
        ("/v1/responses", {"model": "hermes-agent", "input": "Work."}),
        ("/v1/runs", {"input": "Work."}),
        ("/api/sessions/s1/chat", {"message": "Work."}),
    ],
)
async def test_a_budget_that_is_none_is_refused_on_every_wire(
    flow: StartFlow, path: str, body: dict[str, Any], budget: Any, param: str
) -> None:
    at = await begin(flow)
    _, made = await at.answer("POST", "/api/sessions", json={})
    path = path.replace("s1", made["session"]["id"])
    status, answer = await at.answer("POST", path, json={**body, "budget": budget})
    assert (status, answer["error"]["param"]) == (400, param)
    assert at.requests == []


# --- how each wire tells it -----------------------------------------------------------------------


async def test_a_chat_stream_ends_with_length_and_the_same_words(flow: StartFlow) -> None:
    at = await begin(flow)
    stream = await at.sdk.chat.completions.create(
        model="hermes-agent",
        messages=[{"role": "user", "content": "Work."}],
        stream=True,
        stream_options={"include_usage": True},
        extra_body={"budget": {"max_iterations": 1}},
    )
    text, reasons, usage = "", [], None
    async for chunk in stream:
        for choice in chunk.choices:
            text += choice.delta.content or ""
            reasons += [choice.finish_reason] if choice.finish_reason else []
        usage = chunk.usage or usage
    assert reasons == ["length"]
    assert text.startswith("One step.")
    assert text.count("I stopped before I was done.") == 1
    assert usage is not None
    assert usage.total_tokens > 0
    assert usage.model_extra is not None
    assert usage.model_extra["cost_usd"] == usage.total_tokens


async def test_a_response_is_incomplete_and_the_next_one_goes_on(flow: StartFlow) -> None:
    at = await begin(flow)
    first = await at.sdk.responses.create(
        model="hermes-agent", input="Work.", extra_body={"budget": {"max_iterations": 1}}
    )
    assert first.status == "incomplete"
    assert first.incomplete_details is not None
    assert first.incomplete_details.reason == "max_output_tokens"
    assert stopped_by(first.output_text, "budgets.request.max_iterations")
    second = await at.sdk.responses.create(
        model="hermes-agent", input="That is enough.", previous_response_id=first.id
    )
    assert (second.status, second.output_text) == ("completed", "Done at last.")
    told = at.requests[-1].body["messages"]
    called = [call["id"] for message in told for call in message.get("tool_calls") or ()]
    answered = [message["tool_call_id"] for message in told if message["role"] == "tool"]
    assert called == answered != []


async def test_a_response_stream_ends_as_incomplete(flow: StartFlow) -> None:
    at = await begin(flow)
    stream = await at.sdk.responses.create(
        model="hermes-agent", input="Work.", stream=True, extra_body={"budget": {"max_tokens": 1}}
    )
    kinds = [event.type async for event in stream]
    assert kinds[-1] == "response.incomplete"


async def test_a_run_is_completed_with_what_there_is_and_says_why(flow: StartFlow) -> None:
    at = await begin(flow)
    asked = {"input": "Work.", "wait": 30, "budget": {"max_iterations": 1}}
    _, run = await at.answer("POST", "/v1/runs", json=asked)
    assert run["status"] == "completed"
    assert stopped_by(run["output"], "max_iterations")
    assert run["error"]["code"] == "budget_exhausted"
    assert run["usage"]["cost_usd"] == run["usage"]["total_tokens"]
    log = await (await at.http.get(at.gateway.url + run["events_url"])).text()
    assert '"code": "budget_exhausted"' in log


async def test_a_session_stream_says_it_as_a_notice_and_at_its_end(flow: StartFlow) -> None:
    at = await begin(flow)
    _, made = await at.answer("POST", "/api/sessions", json={})
    path = f"/api/sessions/{made['session']['id']}/chat/stream"
    said = await at.text(path, {"message": "Work.", "budget": {"max_iterations": 1}})
    events = [json.loads(line[6:]) for line in said.splitlines() if line.startswith("data: ")]
    assert any(event.get("code") == "budget_exhausted" for event in events)
    assert any(event.get("error_code") == "budget_exhausted" for event in events)


async def test_a_stream_whose_budget_was_used_up_before_is_refused_as_an_error(
    flow: StartFlow,
) -> None:
    at = await begin(flow, budgets=Budgets(key=Budget(max_iterations=1)))
    await at.answer("POST", "/v1/chat/completions", json=CHAT)
    with pytest.raises(openai.RateLimitError, match=r"budgets\.key\.max_iterations"):
        await at.sdk.chat.completions.create(
            model="hermes-agent", messages=[{"role": "user", "content": "Work."}], stream=True
        )
    with pytest.raises(openai.RateLimitError, match=r"budgets\.key\.max_iterations"):
        await at.sdk.responses.create(model="hermes-agent", input="Work.", stream=True)


# --- going on -------------------------------------------------------------------------------------


async def test_with_a_higher_limit_the_session_goes_on_where_it_stopped(flow: StartFlow) -> None:
    at = await begin(flow, budgets=Budgets(session=Budget(max_iterations=1)))
    headers = {"X-Hermes-Session-Id": "s1"}
    await at.answer("POST", "/v1/chat/completions", json=CHAT, headers=headers)
    more = {**CHAT, "messages": [{"role": "user", "content": "Go on, it is enough."}]}
    status, _ = await at.answer("POST", "/v1/chat/completions", json=more, headers=headers)
    assert status == 429
    at.gateway.configure(budgets=Budgets(session=Budget(max_iterations=5)))
    status, body = await at.answer("POST", "/v1/chat/completions", json=more, headers=headers)
    assert (status, body["choices"][0]["message"]["content"]) == (200, "Done at last.")
    roles = [message["role"] for message in at.requests[-1].body["messages"]]
    # What was refused left nothing behind.
    assert roles[1:] == ["user", "assistant", "tool", "assistant", "user"]


async def test_what_was_used_is_known_after_a_restart(flow: StartFlow, tmp_path: Path) -> None:
    budgets = Budgets(key=Budget(max_iterations=1))
    at = await begin(flow, budgets=budgets, home=tmp_path)
    await at.answer("POST", "/v1/chat/completions", json=CHAT)
    await at.gateway.close()
    assert (tmp_path / "spending.db").stat().st_mode & 0o777 == 0o600
    again = await begin(flow, budgets=budgets, home=tmp_path)
    status, body = await again.answer("POST", "/v1/chat/completions", json=CHAT)
    assert (status, body["error"]["code"]) == (429, "budget_exhausted")
    assert again.requests == []


async def test_requests_at_the_same_time_are_counted_together(flow: StartFlow) -> None:
    at = await begin(flow, budgets=Budgets(key=Budget(max_iterations=10)))
    asked = [at.answer("POST", "/v1/chat/completions", json=CHAT) for _ in range(5)]
    statuses = [status for status, _ in await asyncio.gather(*asked)]
    assert statuses == [200] * 5
    # Each of them may be in a call when the limit is reached, and makes no other.
    assert 10 <= len(at.requests) <= 14


# --- sub-agents, and costs nobody knows -----------------------------------------------------------


async def test_what_a_sub_agent_uses_counts_and_it_is_stopped_too(flow: StartFlow) -> None:
    def sends_somebody(request: ModelRequest) -> Reply:
        if "You are a sub-agent" in str(request.body["messages"][0]):
            return works_on(request)
        return ToolUse("delegate", {"task": "Look around."})

    at = await flow(sends_somebody, prices=DEAR)
    asked = {**CHAT, "budget": {"max_iterations": 3}}
    _, body = await at.answer("POST", "/v1/chat/completions", json=asked)
    assert len(at.requests) == 3
    assert stopped_by(body["choices"][0]["message"]["content"], "max_iterations")


async def test_a_cost_that_nobody_knows_is_not_shown_and_a_limit_on_it_is_said_not_to_hold(
    flow: StartFlow,
) -> None:
    at = await flow([Text("Hello.")] * 2)
    _, body = await at.answer("POST", "/v1/chat/completions", json=CHAT)
    assert "cost_usd" not in body["usage"]
    _, made = await at.answer("POST", "/api/sessions", json={})
    path = f"/api/sessions/{made['session']['id']}/chat/stream"
    said = await at.text(path, {"message": "Hi.", "budget": {"max_cost_usd": 1}})
    assert '"code": "cost_unknown"' in said


async def test_a_run_counts_what_it_used_before_and_after_a_decision(flow: StartFlow) -> None:
    asks = ToolUse("terminal", {"command": "rm -r build"})
    at = await flow([asks, Text("Done."), Text("Never asked.")], prices=DEAR)
    asked = {"input": "Clean up.", "wait": 30}
    _, run = await at.answer("POST", "/v1/runs", json=asked)
    assert run["status"] == "waiting_for_approval"
    before = run["usage"]["total_tokens"]
    assert before > 0
    path = f"/v1/runs/{run['id']}"
    await at.answer("POST", f"{path}/approval", json={"decision": "deny"})
    run = await ended(at, run["id"])
    counted = sum(request.input_tokens for request in at.requests)
    assert len(at.requests) == 2
    assert run["usage"]["input_tokens"] == counted
    assert run["usage"]["total_tokens"] > before
    assert run["usage"]["cost_usd"] == run["usage"]["total_tokens"]


async def test_a_budget_holds_over_the_parts_of_a_run(flow: StartFlow) -> None:
    asks = ToolUse("terminal", {"command": "rm -r build"})
    at = await flow([asks, Text("Never asked.")])
    asked = {"input": "Clean up.", "wait": 30, "budget": {"max_iterations": 1}}
    _, run = await at.answer("POST", "/v1/runs", json=asked)
    path = f"/v1/runs/{run['id']}"
    await at.answer("POST", f"{path}/approval", json={"decision": "deny"})
    run = await ended(at, run["id"])
    assert len(at.requests) == 1
    assert stopped_by(run["output"], "max_iterations")


async def test_thoughts_between_tags_are_no_part_of_the_answer(flow: StartFlow) -> None:
    said = Text(pieces=["<th", "ink>Let me see.</thi", "nk>\n\nFor", "ty-two."])
    at = await flow([said, said])
    stream = await at.sdk.chat.completions.create(
        model="hermes-agent", messages=[{"role": "user", "content": "6 * 7?"}], stream=True
    )
    told = [chunk.choices[0].delta.content or "" async for chunk in stream if chunk.choices]
    assert "".join(told) == "Forty-two."
    _, whole = await at.answer("POST", "/v1/chat/completions", json=CHAT)
    assert whole["choices"][0]["message"]["content"] == "Forty-two."


# --- asking for it --------------------------------------------------------------------------------


async def test_a_key_is_told_what_it_used_and_what_is_left(flow: StartFlow) -> None:
    keys = {"ann": {"key": "ann-key-0123456789"}}
    budgets = Budgets(key=Budget(max_iterations=5), session=Budget(max_tokens=10**6))
    at = await begin(flow, budgets=budgets, keys=keys)
    headers = {"X-Hermes-Session-Id": "s1"}
    enough = {**CHAT, "messages": [{"role": "user", "content": "It is enough."}]}
    _, body = await at.answer("POST", "/v1/chat/completions", json=enough, headers=headers)
    _, told = await at.answer("GET", "/v1/usage?days=7", headers=headers)
    assert (told["object"], told["key"]) == ("usage", "default")
    assert told["today"]["model_calls"] == told["total"]["model_calls"] == 1
    assert told["total"]["total_tokens"] == body["usage"]["total_tokens"]
    assert told["total"]["cost_usd"] == body["usage"]["cost_usd"]
    assert told["days"] == [told["today"]]
    session, key = told["budgets"]
    assert (session["scope"], session["remaining"]) == (
        "session",
        10**6 - body["usage"]["total_tokens"],
    )
    assert key == {
        "scope": "key",
        "limit": "max_iterations",
        "allowed": 5,
        "used": 1,
        "remaining": 4,
    }
    other = {"Authorization": "Bearer ann-key-0123456789"}
    _, told = await at.answer("GET", "/v1/usage", headers=other)
    assert (told["key"], told["total"]["model_calls"], told["days"]) == ("ann", 0, [])
    status, refused = await at.answer("GET", "/v1/usage?days=0")
    assert (status, refused["error"]["param"]) == (400, "days")
