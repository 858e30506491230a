"""Where a long history may be cut, and what the model is asked about it."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hermes.core.errors import InvalidRequest
from hermes.core.sessions import HistorySummary
from hermes.wire.session_compaction import (
    KEEP_LAST,
    CompactionRequest,
    first_part,
    parse_compaction,
    question,
)


def call(call_id: str) -> dict[str, Any]:
    return {"id": call_id, "function": {"name": "look", "arguments": '{"at": 1}'}}


def turn(number: int, *, tools: int = 0, run: str | None = None, text: str = "x") -> list[Any]:
    """One exchange: the user, calls with their results, the answer."""
    ids = [f"call_{number}_{at}" for at in range(tools)]
    calling = {"role": "assistant", "content": None, "tool_calls": [call(each) for each in ids]}
    return [
        {"role": "user", "content": f"{text} {number}", "run_id": run},
        *([calling | {"run_id": run}] if tools else []),
        *({"role": "tool", "content": "seen", "tool_call_id": each, "run_id": run} for each in ids),
        {"role": "assistant", "content": f"done {number}", "run_id": run},
    ]


def numbered(*turns: list[Any]) -> list[Any]:
    rows = [row for each in turns for row in each]
    return [{**row, "id": at + 1} for at, row in enumerate(rows)]


@given(
    tools=st.lists(st.integers(0, 3), max_size=12),
    keep_last=st.integers(1, 30),
    tokens=st.integers(1, 200),
)
def test_what_is_cut_off_and_what_stays_are_lawful(
    tools: list[int], keep_last: int, tokens: int
) -> None:
    rows = numbered(*(turn(at, tools=count) for at, count in enumerate(tools)))
    part = first_part(rows, keep_last, tokens)
    rest = rows[len(part) :]

    assert rows[: len(part)] == part
    if part:
        assert rest[0]["role"] == "user"
        assert len(rest) >= keep_last
    for half in (part, rest):
        called = {each["id"] for row in half for each in row.get("tool_calls") or ()}
        assert called == {row["tool_call_id"] for row in half if row["role"] == "tool"}


@given(tools=st.lists(st.integers(0, 3), min_size=1, max_size=12), tokens=st.integers(1, 200))
def test_part_after_part_everything_but_the_last_exchange_is_summarised(
    tools: list[int], tokens: int
) -> None:
    rows = numbered(*(turn(at, tools=count) for at, count in enumerate(tools)))
    while part := first_part(rows, 1, tokens):
        rows = rows[len(part) :]

    assert [row["content"] for row in rows if row["role"] == "user"] == [f"x {len(tools) - 1}"]


def test_a_part_is_no_longer_than_a_model_can_read() -> None:
    rows = numbered(*(turn(at, text="word " * 400) for at in range(10)))
    part = first_part(rows, 1, tokens=2000)

    assert len(part) == 6
    assert len(first_part(rows, 1, tokens=1)) == 2


def test_a_run_is_not_cut_where_somebody_spoke_while_it_worked() -> None:
    steered = turn(1, run="run_1") + turn(2, run="run_1")
    rows = numbered(turn(0), steered, turn(3, run="run_2"))

    assert len(first_part(rows, 1)) == 6
    assert len(first_part(rows, 3)) == 2


def test_a_call_that_died_keeps_nothing_together() -> None:
    died = [turn(0)[0], {"role": "assistant", "content": None, "tool_calls": [call("lost")]}]
    rows = numbered(died, turn(1), turn(2))

    assert len(first_part(rows, 1)) == 4


def test_results_that_come_late_stay_with_their_call() -> None:
    late = {"role": "tool", "content": "late", "tool_call_id": "a"}
    calling = {"role": "assistant", "content": None, "tool_calls": [call("a")]}
    rows = numbered([turn(0)[0], calling], turn(1), [late], turn(2), turn(3))

    assert len(first_part(rows, 3)) == 5


def test_the_question_tells_everything_in_words() -> None:
    image = {"type": "image_url", "image_url": {"url": "data:…"}}
    rows = numbered(
        [{"role": "user", "content": [{"type": "text", "text": "Look"}, image]}],
        turn(1, tools=1)[1:],
    )
    rows[2]["tool_name"] = "look"
    asked = question(HistorySummary(1, "Ann is here."), rows)

    assert asked.startswith("Summary of what came before:\nAnn is here.\n\nUser: Look\n[image]\n\n")
    assert '\n\nAssistant: [calls look {"at": 1}]\n\nResult of look: <tool_output>\nseen\n' in asked
    assert asked.endswith("Write the summary only.")
    assert "came before" not in question(None, rows)


def test_a_long_message_is_cut() -> None:
    rows = numbered([{"role": "user", "content": "y" * 100_000}])

    assert question(None, rows).count("y") < 21_000


def test_a_request_says_how_much_stays() -> None:
    assert parse_compaction({}) == CompactionRequest(KEEP_LAST)
    assert parse_compaction({"keep_last": 3}) == CompactionRequest(3)
    for wrong in (0, "x", 10_001, True):
        with pytest.raises(InvalidRequest):
            parse_compaction({"keep_last": wrong})
