"""Long sessions made short for the model. The messages stay, and so does the session's id.

A summary is stored beside the messages it stands for; from then on a turn is told the summary and
what came after it.
"""

from __future__ import annotations

import logging

from aiohttp import web

from hermes.core.errors import Conflict
from hermes.core.ports import SessionStore
from hermes.core.served_models import ServedModel
from hermes.core.sessions import HistorySummary, MessageQuery
from hermes.core.tokens import estimate_tokens
from hermes.core.turn import TurnCall, TurnParameters
from hermes.server.answers import json_answer
from hermes.server.seams import Seams
from hermes.server.session_store import existing, in_store, unknown_session
from hermes.server.turns import read_optional_body, run_to_end
from hermes.wire.session_compaction import (
    KEEP_LAST,
    PART_TOKENS,
    Row,
    compaction_object,
    first_part,
    kept_within,
    parse_compaction,
    question,
)
from hermes.wire.turn_errors import turn_error

log = logging.getLogger(__name__)

LONG = 0.5
"""The part of the model's window from which on a session counts as long, whatever its number of
messages; and below, what stays of it, and what is summarised at once."""
KEPT = 0.2
PART = 0.4


async def compact(request: web.Request, seams: Seams) -> web.StreamResponse:
    seams.admit_turn()
    session_id = request.match_info["session_id"]
    asked = parse_compaction(await read_optional_body(request))
    await in_store(seams, lambda store: existing(store, session_id))
    if session_id in seams.compacting:
        raise Conflict(
            "The session is being compacted already; look again in a moment.",
            code="compaction_running",
            headers={"Retry-After": "5"},
        )
    summarised = await _compact(seams, session_id, asked.keep_last)
    summary, rest = await in_store(seams, lambda store: _short_history(store, session_id))
    return json_answer(
        compaction_object(session_id, summary, summarised=summarised, kept=len(rest))
    )


async def compact_if_long(seams: Seams, session_id: str) -> None:
    """After a turn, and beside everything else: a failure is logged and tried after the next."""
    if not seams.compact_after() or session_id in seams.compacting:
        return
    try:
        keep_last = await in_store(seams, lambda store: _kept_of_long(store, seams, session_id))
        # Looked at again: another turn may have ended meanwhile.
        if keep_last is not None and session_id not in seams.compacting:
            await _compact(seams, session_id, keep_last)
    except Exception:  # an embedder's store and the model's turn may raise anything
        log.exception("session not compacted", extra={"session_id": session_id})


def _kept_of_long(store: SessionStore, seams: Seams, session_id: str) -> int | None:
    """How many of the last messages stay as they are; None for a session that is not long."""
    if not hasattr(store, "get_summary"):  # an embedder's store from before there were any
        return None
    summary, most = store.get_summary(session_id), seams.compact_after()
    after = 0 if summary is None else summary.up_to
    if store.count_messages(session_id, after=after) > most:
        return min(KEEP_LAST, max(most // 2, 1))
    tokens = int(_window(seams) * LONG)
    if not hasattr(store, "count_bytes") or tokens > store.count_bytes(session_id, after=after) / 2:
        return None
    _, rows = _short_history(store, session_id)
    if estimate_tokens([dict(row) for row in rows]) <= tokens:
        return None
    return kept_within(rows, int(_window(seams) * KEPT))


def _window(seams: Seams) -> int:
    """Of the model that goes on with a session, or has to read it for a summary."""
    readers = {None, seams.summary_model()}
    return min(
        (seams.served_model(alias) or ServedModel(model="")).context_window for alias in readers
    )


async def _compact(seams: Seams, session_id: str, keep_last: int) -> int:
    """Summarise part after part, each on top of the one before; how many messages that were."""
    summarised = 0
    at_once = min(PART_TOKENS, int(_window(seams) * PART))
    seams.compacting.add(session_id)
    try:
        while True:
            summary, rows = await in_store(seams, lambda store: _short_history(store, session_id))
            part = first_part(rows, keep_last, at_once)
            if not part:
                return summarised
            told = await _summarise(seams, session_id, summary, part)
            await _keep(seams, session_id, told)
            summarised += len(part)
    finally:
        seams.compacting.discard(session_id)


async def _keep(seams: Seams, session_id: str, summary: HistorySummary) -> None:
    if not await in_store(seams, lambda store: store.add_summary(session_id, summary)):
        raise unknown_session(session_id)


async def _summarise(
    seams: Seams, session_id: str, before: HistorySummary | None, part: list[Row]
) -> HistorySummary:
    result = await run_to_end(
        seams,
        TurnCall(
            user_message=question(before, part),
            session_id=session_id,
            parameters=TurnParameters(is_plain=True, alias=seams.summary_model()),
        ),
    )
    if not result.is_complete or not result.text.strip():
        raise turn_error(result)
    return HistorySummary(int(part[-1]["id"]), result.text.strip())


def _short_history(store: SessionStore, session_id: str) -> tuple[HistorySummary | None, list[Row]]:
    """The newest summary, and the messages behind it."""
    summary = store.get_summary(session_id)
    query = MessageQuery(after=None if summary is None else summary.up_to)
    return summary, list(store.page_messages(session_id, query).messages)
