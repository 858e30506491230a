"""Every way in which a provider can fail, on a real socket: who is asked, what the client sees.

The rows are those of docs/providers.md. Each is tried in every dialect, streamed and in one piece.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import pytest

from hermes.agent.patience import Patience
from hermes.providers.health import Health
from hermes.testing.replies import Broken, HttpError, Reply, Text, ToolUse, refusal
from hermes.testing.scripted import ModelRequest
from hermes.testing.sse import parse_events
from tests.flows.conftest import Flow, StartFlow
from tests.flows.run_client import begin, ended, events, read
from tests.unit.providers.test_health import Clock

CHAT = "/v1/chat/completions"
HELLO = "Hello over there."
SECRET = "sk-pool-0123456789-"
QUICK = Patience(first_wait=0.001)
STALE = 0.6
"""Where silence is tried; everywhere else a busy machine must not be mistaken for it."""

every_dialect = pytest.mark.parametrize(
    "api_mode", ["chat_completions", "codex_responses", "anthropic_messages"]
)
streamed_or_not = pytest.mark.parametrize("stream", [True, False], ids=["streamed", "whole"])


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """One way to fail."""

    reply: Reply
    kind: str
    tries: int
    """How often the same provider is asked with the same key, where it fails every time."""
    status: int
    code: str
    rotates: bool = False
    is_reopened: bool = False
    """Whether a stream that fails like this is opened again at once, twice per try."""


RESET = Row(
    reply=Broken(how="reset"),
    kind="network",
    tries=3,
    status=503,
    code="provider_unavailable",
    is_reopened=True,
)
ROWS = {
    "rate limit": Row(
        reply=refusal(429, "Slow down."),
        kind="rate_limited",
        tries=3,
        status=429,
        code="rate_limit_exceeded",
        rotates=True,
    ),
    "rate limit with Retry-After": Row(
        reply=refusal(429, "Slow down.", retry_after=0),
        kind="rate_limited",
        tries=3,
        status=429,
        code="rate_limit_exceeded",
        rotates=True,
    ),
    "internal error": Row(
        reply=refusal(500, "Oops."),
        kind="overloaded",
        tries=3,
        status=503,
        code="provider_unavailable",
    ),
    "overloaded": Row(
        reply=HttpError(529, {"type": "error", "error": {"type": "overloaded_error"}}),
        kind="overloaded",
        tries=3,
        status=503,
        code="provider_unavailable",
    ),
    "error page": Row(
        reply=HttpError(502, "<!doctype html><html><title>Bad gateway</title></html>"),
        kind="overloaded",
        tries=3,
        status=503,
        code="provider_unavailable",
    ),
    "wrong key": Row(
        reply=refusal(401, "Incorrect API key."),
        kind="auth",
        tries=1,
        status=502,
        code="provider_error",
        rotates=True,
    ),
    "forbidden": Row(
        reply=refusal(403, "Not for you."),
        kind="auth",
        tries=1,
        status=502,
        code="provider_error",
        rotates=True,
    ),
    "payment required": Row(
        reply=refusal(402, "Pay first."),
        kind="billing",
        tries=1,
        status=502,
        code="provider_error",
        rotates=True,
    ),
    "no quota": Row(
        reply=refusal(429, "You did.", code="insufficient_quota"),
        kind="billing",
        tries=1,
        status=502,
        code="provider_error",
        rotates=True,
    ),
    "too long": Row(
        reply=refusal(400, "Too much.", code="context_length_exceeded"),
        kind="context_overflow",
        tries=1,
        status=400,
        code="context_length_exceeded",
    ),
    "bad request": Row(
        reply=refusal(404, "No such model."),
        kind="bad_request",
        tries=1,
        status=400,
        code="provider_refused",
    ),
    "reset": RESET,
    "stall": Row(
        reply=Broken(how="stall"),
        kind="stalled",
        tries=2,
        status=503,
        code="provider_unavailable",
    ),
    "garbage": Row(
        reply=Broken(how="garbage"),
        kind="garbled",
        tries=3,
        status=502,
        code="provider_error",
    ),
}
every_row = pytest.mark.parametrize("row", ROWS.values(), ids=ROWS.keys())


async def failing(
    flow: StartFlow,
    script: Any,
    *,
    api_mode: str = "chat_completions",
    health: Health | None = None,
    falls_silent: bool = False,
    provider: dict[str, Any] | None = None,
    **options: Any,
) -> Flow:
    """A gateway with little patience before a provider that fails by its script."""
    stale = STALE if falls_silent else 30.0
    fields = {
        "api_mode": api_mode,
        "stale_seconds": stale,
        "reasoning_stale_seconds": stale,
        **(provider or {}),
    }
    equipment = {"patience": QUICK, "health": health or Health()}
    return await flow(script, provider=fields, equipment=equipment, **options)


async def ask(served: Flow, *, stream: bool) -> tuple[int, str, Any, dict[str, str]]:
    """Status, text, error and headers of one chat completion."""
    body = {"messages": [{"role": "user", "content": "Hi"}], "stream": stream}
    async with served.http.post(served.gateway.url + CHAT, json=body) as response:
        headers, text = dict(response.headers), await response.text()
        if response.content_type != "text/event-stream":
            return response.status, *_whole(json.loads(text)), headers
        return response.status, *_streamed(text), headers


def _whole(answer: dict[str, Any]) -> tuple[str, Any]:
    if "error" in answer:
        return answer.get("hermes", {}).get("partial_text") or "", answer["error"]
    return answer["choices"][0]["message"]["content"], None


def _streamed(text: str) -> tuple[str, Any]:
    assert parse_events(text)[-1].data == "[DONE]"
    chunks = read(text)
    said = "".join(chunk["choices"][0]["delta"].get("content") or "" for chunk in chunks)
    return said, next((chunk["error"] for chunk in chunks if "error" in chunk), None)


async def metrics(served: Flow) -> dict[str, float]:
    async with served.http.get(served.gateway.url + "/metrics") as response:
        assert response.status == 200
        lines = (await response.text()).splitlines()
    samples = (line.rpartition(" ") for line in lines if not line.startswith("#"))
    return {name: float(value) for name, _, value in samples}


def model_calls(counted: dict[str, float], model: str = "fake") -> dict[str, float]:
    start = f'hermes_model_calls_total{{provider="custom",model="{model}",outcome="'
    return {
        name.removeprefix(start).rstrip('"}'): value
        for name, value in counted.items()
        if name.startswith(start)
    }


def remedies(counted: dict[str, float]) -> dict[tuple[str, str], float]:
    start = "hermes_model_remedies_total{"
    found: dict[tuple[str, str], float] = {}
    for name, value in counted.items():
        if name.startswith(start):
            labels = dict(part.split("=", 1) for part in name[len(start) : -1].split(","))
            found[labels["remedy"].strip('"'), labels["failure"].strip('"')] = value
    return found


def key_of(request: ModelRequest) -> str:
    headers = {name.lower(): value for name, value in request.headers.items()}
    return headers.get("x-api-key") or headers.get("authorization", "").removeprefix("Bearer ")


def asked(requests: Sequence[ModelRequest]) -> list[tuple[str, str]]:
    return [(request.model, key_of(request).removeprefix(SECRET)) for request in requests]


def is_streamed(api_mode: str, *, stream: bool) -> bool:
    """Some Responses servers know nothing but streams, so that dialect always asks for one."""
    return stream or api_mode == "codex_responses"


# --- a provider that fails once --------------------------------------------------------------


@every_dialect
@streamed_or_not
@every_row
async def test_a_provider_that_fails_is_replaced_and_the_reader_sees_one_answer(
    flow: StartFlow, row: Row, api_mode: str, stream: bool
) -> None:
    """Each row against a chain: two keys at the first provider, then another model."""

    def script(request: ModelRequest) -> Reply:
        return Text(HELLO) if request.model == "second" else row.reply

    keys = (f"{SECRET}1", f"{SECRET}2") if row.rotates else (f"{SECRET}1",)
    served = await failing(
        flow,
        script,
        api_mode=api_mode,
        falls_silent=row.kind == "stalled",
        provider={"api_key": keys[0], "api_keys": keys if len(keys) > 1 else ()},
        fallbacks=[{"model": "second", "api_key": None, "api_keys": ()}],
    )
    status, text, error, _ = await ask(served, stream=stream)
    assert (status, text, error) == (200, HELLO, None)

    # A key that others can take over from is not tried again with.
    tries = _requests(row, api_mode, stream=stream)
    expected = [("fake", "1")] * (1 if row.rotates else tries)
    expected += [("fake", "2")] * (tries if row.rotates else 0)
    assert asked(served.requests) == [*expected, ("second", "")]

    counted = await metrics(served)
    assert model_calls(counted) == {row.kind: len(expected)}
    assert model_calls(counted, "second") == {"ok": 1}
    done = remedies(counted)
    assert done["fall back", row.kind] == 1
    assert done.get(("rotate", row.kind), 0) == (1 if row.rotates else 0)
    assert done.get(("retry", row.kind), 0) == tries - 1
    assert SECRET not in str(counted)


def _requests(row: Row, api_mode: str, *, stream: bool) -> int:
    """How many requests a provider gets that fails like this every time."""
    if not row.is_reopened:
        return row.tries
    if is_streamed(api_mode, stream=stream):
        return row.tries * 3
    # The first try is made in one piece; a proxy may have cut it, so the others are streamed.
    return 1 + (row.tries - 1) * 3


@every_row
async def test_every_step_is_in_the_log_of_the_run(flow: StartFlow, row: Row) -> None:
    def script(request: ModelRequest) -> Reply:
        return Text(HELLO) if request.model == "second" else row.reply

    silent = row.kind == "stalled"
    served = await failing(flow, script, falls_silent=silent, fallbacks=[{"model": "second"}])
    run = await begin(served)
    assert (await ended(served, run["id"]))["status"] == "completed"
    told = [each for each in await events(served, run["id"]) if each["type"] == "notice"]
    codes = [each["code"] for each in told]
    assert codes[-1] == "provider_fallback"
    assert set(codes[:-1]) <= {"provider_retry"}
    assert len(codes) == len(served.requests) - 1, "one for every further request"
    assert told[-1]["message"].endswith("Continuing with second.")
    assert "Traceback" not in str(told)


# --- a provider that goes on failing --------------------------------------------------------------


@every_dialect
@streamed_or_not
@every_row
async def test_when_nobody_is_left_the_client_is_told_why(
    flow: StartFlow, row: Row, api_mode: str, stream: bool
) -> None:
    served = await failing(
        flow,
        lambda _: row.reply,
        api_mode=api_mode,
        falls_silent=row.kind == "stalled",
        provider={"api_key": f"{SECRET}1"},
    )
    status, text, error, headers = await ask(served, stream=stream)
    assert status == (200 if stream else row.status)
    assert (text, error["code"]) == ("", row.code)
    assert ("Retry-After" in headers) == (not stream and row.status in (429, 503))
    assert len(served.requests) == _requests(row, api_mode, stream=stream)
    for raw in ("Traceback", "<html", SECRET, "Error(", "errno"):
        assert raw not in str(error)


async def test_how_long_to_wait_is_passed_on(flow: StartFlow) -> None:
    served = await failing(flow, [refusal(429, "Slow down.", retry_after=120)])
    status, _, error, headers = await ask(served, stream=False)
    assert (status, headers["Retry-After"]) == (429, "120")
    assert "Slow down." in error["message"]
    assert len(served.requests) == 1, "two minutes are not waited for"


async def test_how_long_to_wait_is_kept_to(flow: StartFlow) -> None:
    served = await failing(flow, [refusal(429, "Slow down.", retry_after=0.2), Text(HELLO)])
    run = await begin(served)
    await ended(served, run["id"])
    (notice,) = [each for each in await events(served, run["id"]) if each["type"] == "notice"]
    assert notice["message"].endswith("Slow down. Trying again in 0.2 seconds.")


async def test_a_session_stream_shows_what_is_tried(flow: StartFlow) -> None:
    served = await failing(flow, [refusal(503, "Busy."), Text(HELLO)])
    _, session = await served.answer("POST", "/api/sessions", json={})
    path = f"/api/sessions/{session['session']['id']}/chat/stream"
    told = parse_events(await served.text(path, {"message": "Hi"}))
    (notice,) = [json.loads(each.data) for each in told if each.event == "notice"]
    assert notice["code"] == "provider_retry"


# --- a provider that fails amid its answer ------------------------------------------------------


@every_dialect
@pytest.mark.parametrize(
    ("how", "kind"),
    [
        ("reset", "network"),
        ("eof", "network"),
        ("stall", "stalled"),
        ("garbage", "garbled"),
        ("error_event", None),
    ],
)
async def test_text_that_was_shown_is_kept_and_never_repeated(
    flow: StartFlow, how: Any, kind: str | None, api_mode: str
) -> None:
    served = await failing(
        flow,
        [Broken(after="Half an answer", how=how), Text("never asked for")],
        api_mode=api_mode,
        falls_silent=how == "stall",
        fallbacks=[{"model": "second"}],
    )
    status, text, error, _ = await ask(served, stream=True)
    assert (status, text) == (200, "Half an answer")
    assert error["message"].startswith("The answer broke off: ")
    assert len(served.requests) == 1
    outcomes = model_calls(await metrics(served))
    assert sum(outcomes.values()) == 1
    assert kind is None or outcomes == {kind: 1}
    assert "ok" not in outcomes


@pytest.mark.parametrize("api_mode", ["chat_completions", "anthropic_messages"])
@pytest.mark.parametrize("how", ["reset", "eof", "stall", "garbage"])
async def test_an_answer_in_one_piece_that_breaks_is_asked_for_again(
    flow: StartFlow, how: Any, api_mode: str
) -> None:
    served = await failing(
        flow,
        [Broken(after="Half an answer", how=how), Text(HELLO)],
        api_mode=api_mode,
        falls_silent=how == "stall",
    )
    status, text, error, _ = await ask(served, stream=False)
    assert (status, text, error) == (200, HELLO, None)
    assert len(served.requests) == 2


@every_dialect
async def test_a_model_whose_tool_arguments_are_cut_is_told_and_asked_again(
    flow: StartFlow, api_mode: str
) -> None:
    served = await failing(
        flow,
        [ToolUse("read_file", '{"path": "no'), ToolUse("read_file", "{}"), Text(HELLO)],
        api_mode=api_mode,
    )
    _, text, error, _ = await ask(served, stream=True)
    assert (text, error) == (HELLO, None)
    told = list(served.requests[1].tool_results.values())
    assert len(told) == 1
    assert "JSON" in told[0]
    counted = await metrics(served)
    assert counted['hermes_tool_calls_total{tool="read_file",outcome="problem"}'] == 2


# --- a model that thinks --------------------------------------------------------------------------


@streamed_or_not
async def test_a_model_that_thinks_long_is_not_cut(flow: StartFlow, stream: bool) -> None:
    slow = Text(pieces=["Hello ", "again."], interval=0.3)
    served = await failing(
        flow,
        [slow],
        model="o3",
        provider={"stale_seconds": 0.15, "reasoning_stale_seconds": 5.0},
    )
    status, text, _, _ = await ask(served, stream=stream)
    assert status == 200
    assert text.startswith("Hello ")
    assert len(served.requests) == 1


# --- leaving a provider alone, and coming back ----------------------------------------------------


async def test_a_provider_that_failed_is_left_alone_and_asked_again_when_it_has_rested(
    flow: StartFlow,
) -> None:
    is_up = False

    def script(request: ModelRequest) -> Reply:
        if request.model == "second":
            return Text("From the second.")
        return Text("From the first.") if is_up else refusal(429, "Slow down.", retry_after=300)

    clock = Clock()
    served = await failing(flow, script, health=Health(clock), fallbacks=[{"model": "second"}])
    said, notices = [], []
    for _ in range(5):
        run = await begin(served)
        await ended(served, run["id"])
        log = await events(served, run["id"])
        said.append(next(e["output"] for e in log if e["type"] == "run.completed"))
        notices.append([each["code"] for each in log if each["type"] == "notice"])
        if len(said) == 2:
            detailed = (await served.answer("GET", "/health/detailed"))[1]["providers"]
        if len(said) == 3:
            is_up = True
            clock.now += 301
    assert said == ["From the second."] * 3 + ["From the first."] * 2
    assert notices == [
        ["provider_fallback"],
        ["provider_fallback"],
        ["provider_fallback"],
        ["provider_recovered"],
        [],
    ]
    assert [request.model for request in served.requests] == [
        "fake",
        "second",
        "second",
        "second",
        "fake",
        "fake",
    ]
    assert [(each["model"], each["status"], each["reason"]) for each in detailed] == [
        ("fake", "cooling_down", "rate_limited"),
        ("second", "ok", None),
    ]
    assert detailed[0]["seconds_left"] == 300


async def test_when_all_need_a_rest_they_are_asked_all_the_same(flow: StartFlow) -> None:
    served = await failing(
        flow,
        [refusal(401, "No."), refusal(401, "No."), Text(HELLO)],
        fallbacks=[{"model": "second"}],
    )
    assert (await ask(served, stream=False))[0] == 502
    assert (await ask(served, stream=False))[1] == HELLO


async def test_keys_take_turns_and_a_key_that_fails_sits_out(flow: StartFlow) -> None:
    def script(request: ModelRequest) -> Reply:
        return refusal(401, "Who?") if key_of(request).endswith("2") else Text(HELLO)

    keys = tuple(f"{SECRET}{number}" for number in (1, 2, 3))
    served = await failing(
        flow,
        script,
        provider={"api_key": keys[0], "api_keys": keys, "key_strategy": "round_robin"},
    )
    for _ in range(6):
        assert (await ask(served, stream=False))[1] == HELLO
    used = [key for _, key in asked(served.requests)]
    assert used == ["1", "2", "3", "3", "1", "3", "3"]
    detailed = (await served.answer("GET", "/health/detailed"))[1]["providers"]
    assert [(each["key"], each["status"]) for each in detailed] == [
        ("key 1", "ok"),
        ("key 2", "cooling_down"),
        ("key 3", "ok"),
    ]
    assert SECRET not in str(detailed)


async def test_without_the_key_there_are_no_metrics(flow: StartFlow) -> None:
    served = await failing(flow, [])
    url = served.gateway.url + "/metrics"
    async with served.http.get(url, headers={"Authorization": "Bearer wrong"}) as response:
        assert response.status == 401


async def test_what_was_asked_and_answered_is_counted(flow: StartFlow) -> None:
    served = await failing(flow, [ToolUse("list_files", {}), Text(HELLO)])
    await ask(served, stream=True)
    await served.answer("GET", "/v1/no-such-path")
    counted = await metrics(served)
    assert counted['hermes_turns_total{outcome="completed"}'] == 1
    assert counted['hermes_tool_calls_total{tool="list_files",outcome="ok"}'] == 1
    route = 'hermes_http_requests_total{method="POST",route="/v1/chat/completions",status="200"}'
    assert counted[route] == 1
    unknown = 'hermes_http_requests_total{method="unknown",route="unknown",status="404"}'
    assert counted[unknown] == 1
    tokens = 'hermes_tokens_total{provider="custom",model="fake",kind="input"}'
    assert counted[tokens] > 0
    assert counted['hermes_model_call_seconds_count{provider="custom",model="fake"}'] == 2
    resting = 'hermes_provider_cooling_down_seconds{provider="custom",model="fake",key=""}'
    assert counted[resting] == 0
