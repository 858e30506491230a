"""Long sessions made short for the model: where the history may be cut, and what is asked of it.

A cut never stands between a call and its result, nor inside a run, and what stays begins with the
user's words.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import accumulate
from typing import Any

from hermes.core import summaries
from hermes.core.messages import tool_calls_of
from hermes.core.sessions import HistorySummary
from hermes.core.tokens import text_tokens
from hermes.wire.lenient import integer

KEEP_LAST = 40
MOST_KEPT = 10_000
PART_TOKENS = 30_000
"""About how much a model is given to summarise at once."""
Row = Mapping[str, Any]
"""A stored message, with its `id`."""


@dataclass(frozen=True, slots=True)
class CompactionRequest:
    keep_last: int = KEEP_LAST


def parse_compaction(body: Mapping[str, Any]) -> CompactionRequest:
    keep_last = integer(body, "keep_last", low=1, high=MOST_KEPT)
    return CompactionRequest(KEEP_LAST if keep_last is None else keep_last)


def first_part(rows: Sequence[Row], keep_last: int, tokens: int = PART_TOKENS) -> list[Row]:
    """The beginning that is to be summarised next; empty when nothing is.

    As much as fits into `tokens`, at least up to the first place where a cut is lawful.
    """
    end = measured = size = 0
    for place in _lawful_cuts(rows):
        size += sum(_size(row) for row in rows[measured:place])
        measured = place
        if place > len(rows) - keep_last or (end and size > tokens):
            break
        end = place
    return list(rows[:end])


def kept_within(rows: Sequence[Row], tokens: int) -> int:
    """How many of the last messages come to no more than `tokens`; one at least."""
    sizes = accumulate(_size(row) for row in reversed(rows))
    return max(sum(size <= tokens for size in sizes), 1)


def question(before: HistorySummary | None, part: Sequence[Row]) -> str:
    """What the model is asked; the summary so far is in it, and will be in the new one."""
    return summaries.question(None if before is None else before.text, part)


def compaction_object(
    session_id: str, summary: HistorySummary | None, *, summarised: int, kept: int
) -> dict[str, Any]:
    return {
        "object": "hermes.session.compaction",
        "session_id": session_id,
        "summary": None if summary is None else summary.text,
        "up_to_message_id": None if summary is None else summary.up_to,
        "summarised_messages": summarised,
        "kept_messages": kept,
    }


def _lawful_cuts(rows: Sequence[Row]) -> Iterator[int]:
    """The places before which the history may end, in order."""
    # A call that nothing answers has died with its process; it keeps nothing together.
    answered = {str(row["tool_call_id"]) for row in rows if row.get("tool_call_id")}
    open_calls: set[str] = set()
    for place, row in enumerate(rows):
        if place and row["role"] == "user" and not open_calls and not _same_run(rows, place):
            yield place
        open_calls |= answered & {str(call.get("id")) for call in tool_calls_of(dict(row))}
        open_calls.discard(str(row.get("tool_call_id")))


def _same_run(rows: Sequence[Row], place: int) -> bool:
    run_id = rows[place].get("run_id")
    return run_id is not None and run_id == rows[place - 1].get("run_id")


def _size(row: Row) -> int:
    return text_tokens(summaries.line(row)) + 1
