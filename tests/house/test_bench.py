"""The bench judges answers rightly, relays every token and ends its children."""

from __future__ import annotations

import asyncio
import json
import sqlite3
import sys
from contextlib import closing
from pathlib import Path

import orjson
import pytest

from bench import durable_log, session_turns
from bench.answers import Script, judge_completion, judge_stream
from bench.client import Connection, post, take_apart
from bench.load import Order, percentile, run_round
from bench.outcomes import Effort, Outcome, Pair
from bench.processes import ChildFailed, Launch, free_port, running
from bench.report import METRICS, Results, as_text, check_targets, rows_of, write_json
from bench.response_chain import used_bytes
from bench.scenarios import SCENARIOS, calibrating
from bench.servers import seated, upstream
from bench.startup import Import, parse_import_times
from bench.tool_calls import ANSWER, completion, is_calling, model_name
from bench.upstream import prepare

_MODEL = "tokens-20"
_SCRIPT = Script.of_model(_MODEL)


def _stream_body() -> bytes:
    prepared = prepare(_MODEL)
    chunks = b"".join([prepared.opening, *prepared.events, prepared.closing])
    lines = chunks.split(b"\n")
    return b"\n\n".join(line for line in lines if line.startswith(b"data: ")) + b"\n\n"


def test_a_whole_stream_is_right() -> None:
    verdict = judge_stream(200, _stream_body(), _SCRIPT)

    assert verdict.problem is None
    assert verdict.deltas == 20


@pytest.mark.parametrize(
    ("found", "instead"),
    [
        (b"data: [DONE]\n\n", b""),
        (b" word0007", b""),
        (b'"stop"', b'"length"'),
        (b'"choices"', b'"chances"'),
    ],
)
def test_a_damaged_stream_is_a_problem(found: bytes, instead: bytes) -> None:
    body = _stream_body().replace(found, instead)

    assert body != _stream_body()
    assert judge_stream(200, body, _SCRIPT).problem


def test_a_plain_answer_must_be_whole() -> None:
    body = prepare(_MODEL).plain.partition(b"\r\n\r\n")[2]
    cut = orjson.loads(body)
    cut["choices"][0]["message"]["content"] += "!"

    assert judge_completion(200, body, _SCRIPT).problem is None
    assert judge_completion(200, orjson.dumps(cut), _SCRIPT).problem
    assert judge_completion(500, body, _SCRIPT).problem
    assert judge_completion(200, b"{}", _SCRIPT).problem


@pytest.mark.parametrize("stream", [True, False])
def test_the_relay_hands_over_every_token(stream: bool) -> None:
    with running(upstream()) as provider, seated("relay", provider.base_url, _MODEL) as relay:
        order = Order(port=relay.port, model=_MODEL, stream=stream, clients=3, seconds=0)
        seen = asyncio.run(run_round(order))

    assert (seen.answers, seen.failed, seen.problems) == (3, 0, [])
    assert seen.deltas == (60 if stream else 0)


async def test_a_head_that_looks_like_the_last_chunk_does_not_end_an_answer() -> None:
    connection = Connection(asyncio.get_running_loop())
    head = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nX-Id: 10\r\n\r\n"
    answer = connection.begin()

    connection.data_received(head)
    assert not answer.done()
    connection.data_received(b"2\r\nhi\r\n0\r\n\r\n")
    assert take_apart(answer.result().raw) == (200, b"hi")


@pytest.mark.parametrize(
    ("raw", "problem"),
    [
        (b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n{}", "instead of [DONE]"),
        (b"HTTP/1.1 503 No\r\nContent-Length: 4\r\n\r\nbusy", "status 503: 'busy'"),
        (b"HTTP/1.1 200 OK\r\nContent-Length: 99\r\n\r\n{}", "closed the connection"),
        (b"nonsense\r\nContent-Length: 0\r\n\r\n", "not HTTP/1.1"),
    ],
)
async def test_a_wrong_answer_is_counted_and_explained(raw: bytes, problem: str) -> None:
    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"]}")
        writer.write(raw)
        writer.close()

    server = await asyncio.start_server(answer, "127.0.0.1", free_port())
    async with server:
        port = server.sockets[0].getsockname()[1]
        order = Order(port=port, model=_MODEL, stream=True, clients=2, seconds=0)
        seen = await run_round(order)

    assert (seen.answers, seen.failed, seen.on_time) == (0, 2, 0)
    assert len(seen.problems) == 1
    assert problem in seen.problems[0]


def test_a_server_that_ends_early_is_reported_with_its_last_words() -> None:
    command = [sys.executable, "-c", "print('no luck today'); raise SystemExit(3)"]

    with (
        pytest.raises(ChildFailed, match=r"ended with 3.*\n.*no luck today"),
        running(Launch("unlucky", command, free_port(), {})),
    ):
        pass


def test_a_server_is_gone_after_its_block_even_when_the_block_fails() -> None:
    with pytest.raises(KeyboardInterrupt), running(upstream()) as provider:
        raise KeyboardInterrupt

    assert provider.process.returncode is not None


def test_percentiles_are_values_that_were_seen() -> None:
    values = [float(n) for n in range(1, 101)]

    assert percentile(values, 0.50) == 50
    assert percentile(values, 0.99) == 99
    assert percentile([7.0], 0.99) == 7


def test_import_times_are_read_from_pythons_own_report() -> None:
    text = (
        "import time: self [us] | cumulative | imported package\nimport time:  500 | 1500 |   a.b\n"
    )

    assert parse_import_times(text) == [Import("a.b", 0.5, 1.5)]


def _outcome(gateway_cpu: float) -> Outcome:
    pairs = [
        Pair({"cpu_us_per_token": cpu}, {"cpu_us_per_token": gateway_cpu * cpu})
        for cpu in (10.0, 12.0, 20.0)
    ]
    return Outcome("stream-1", "a stream", ("relay", "gateway"), pairs)


def test_a_ratio_is_the_median_of_neighbouring_rounds() -> None:
    (row,) = rows_of(_outcome(1.5).pairs)

    assert (row.reference, row.measured, row.ratio) == (12.0, 18.0, 1.5)


@pytest.mark.parametrize(("ratio", "is_met"), [(2.0, True), (2.1, False)])
def test_a_target_is_met_up_to_its_ratio(ratio: float, is_met: bool) -> None:
    assert [checked.is_met for checked in check_targets([_outcome(ratio)])] == [is_met]


def test_results_can_be_read_and_kept(tmp_path: Path) -> None:
    outcome = _outcome(1.5)
    outcome.problems.append("gateway: 1 of 3 answers were wrong: status 500")
    results = Results("2030-01-01T00:00:00Z", [outcome], None)

    write_json(results, tmp_path / "new" / "results.json")
    kept = json.loads((tmp_path / "new" / "results.json").read_text())

    assert kept["measurements"][0]["metrics"][0]["ratio"] == 1.5
    assert kept["problems"] == ["stream-1: gateway: 1 of 3 answers were wrong: status 500"]
    assert "status 500" in as_text(results)


def test_a_calibration_plays_the_reference_against_itself() -> None:
    durable = next(one for one in SCENARIOS if one.name == "durable-1")

    reference, measured = calibrating(durable).seats

    assert reference == measured == durable.seats[0]


def test_a_request_is_what_an_http_server_reads() -> None:
    raw = post("/v1/runs", {"input": "Hi"}, {"X-Hermes-Disconnect": "detach"})
    head, _, body = raw.partition(b"\r\n\r\n")

    assert head.startswith(b"POST /v1/runs HTTP/1.1\r\n")
    assert b"\r\nContent-Length: 14\r\n" in head
    assert b"\r\nX-Hermes-Disconnect: detach" in head
    assert json.loads(body) == {"input": "Hi"}


@pytest.mark.parametrize("is_paced", [True, False])
def test_every_event_of_the_durable_log_is_seen(is_paced: bool) -> None:
    effort = Effort(pairs=1, slow_pairs=1, seconds=0.1, starts=0)

    [outcome] = durable_log.play([durable_log.Case(3, is_paced)], effort, lambda _: None)

    [pair] = outcome.pairs
    assert outcome.problems == []
    assert set(pair.measured) == set(pair.reference) <= set(METRICS)
    assert 0 < pair.measured["rows_per_event"] <= 1


def test_a_prepared_session_is_summarised_as_it_would_be_by_then() -> None:
    assert session_turns.told_messages(9) == 18
    assert session_turns.told_messages(200) == 400
    assert session_turns.told_messages(201) == 40
    assert session_turns.told_messages(4_999) <= 400


def test_only_pages_in_use_count(tmp_path: Path) -> None:
    path = tmp_path / "some.db"
    with closing(sqlite3.connect(path, isolation_level=None)) as connection:
        connection.execute("CREATE TABLE texts (text)")
        empty = used_bytes(path)
        connection.execute("INSERT INTO texts VALUES (?)", ("word" * 25_000,))
        assert used_bytes(path) - empty >= 90_000
        connection.execute("DELETE FROM texts")

    assert used_bytes(path) == empty


def test_an_agent_at_work_is_given_calls_until_they_are_all_answered() -> None:
    model = model_name(2, 3)
    assert is_calling(model)
    assert not is_calling(_MODEL)
    told: list[dict[str, object]] = [{"role": "user", "content": "Go."}]
    made = []
    for _ in range(2):
        message = completion({"model": model, "messages": told})["choices"][0]["message"]
        made += [call["id"] for call in message["tool_calls"]]
        told += [message, *({"role": "tool", "content": ""} for _ in message["tool_calls"])]
    last = completion({"model": model, "messages": told})["choices"][0]
    assert len(set(made)) == 6
    assert (last["message"]["content"], last["finish_reason"]) == (ANSWER, "stop")
