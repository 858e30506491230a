"""/v1/runs/{run_id}/receipt and /undo: what a run did, and putting it back."""

from __future__ import annotations

import logging
from collections.abc import Callable, Sequence
from itertools import groupby
from pathlib import Path
from typing import TypeVar

from aiohttp import web

from hermes.core.changes import FileChange
from hermes.core.errors import HermesError, Unavailable
from hermes.core.events import Event, FilesChanged
from hermes.core.receipts import KINDS, ChangedFile, Receipt, receipt_of
from hermes.core.runs import Run
from hermes.core.shadow import FileFate, Undoer
from hermes.server.answers import json_answer
from hermes.server.runs import existing
from hermes.server.seams import Seams
from hermes.wire.queries import yes_or_no
from hermes.wire.receipts import receipt_object, still_at_work, undo_object

log = logging.getLogger(__name__)

T = TypeVar("T")


async def get_receipt(request: web.Request, seams: Seams) -> web.StreamResponse:
    run = await existing(request, seams)
    receipt = await _receipt(seams, run)
    changes = [file.change for file in receipt.files]
    lost, undone_at = await _in_shadow(
        seams, lambda shadow: (shadow.lost(changes), shadow.undone_at(run.id))
    )
    return json_answer(receipt_object(run, receipt, lost=lost, undone_at=undone_at))


async def undo(request: web.Request, seams: Seams) -> web.StreamResponse:
    is_dry = yes_or_no(request.query, "dry_run", default=False)
    run = await existing(request, seams)
    if not run.status.is_final:
        raise still_at_work(run)
    files = (await _receipt(seams, run)).files
    before, fates = await _in_shadow(
        seams,
        lambda shadow: (shadow.undone_at(run.id), _undone(shadow, run, files, is_dry=is_dry)),
    )
    return json_answer(undo_object(run, fates, is_dry=is_dry, undone_at=before))


def _undone(
    shadow: Undoer, run: Run, files: Sequence[ChangedFile], *, is_dry: bool
) -> list[tuple[str, FileFate]]:
    fates: list[tuple[str, FileFate]] = []
    for root, some in groupby(sorted(files, key=lambda file: file.root), lambda file: file.root):
        changes = [file.change for file in some]
        told = shadow.undo(run.id, Path(root), changes, is_dry=is_dry)
        fates += [(root, fate) for fate in told]
    return fates


async def _receipt(seams: Seams, run: Run) -> Receipt:
    logged = await seams.runs.in_store(lambda store: store.read_kinds(run.id, KINDS))
    events: list[Event] = [each.event for each in logged]
    passing = seams.passing.get(run.id, run.owner)
    if not events and passing is not None:  # it is not kept, or not yet
        events = passing.feed.happened()
    known = await _in_shadow(seams, lambda shadow: shadow.deeds_of(run.id))
    return receipt_of([*events, *_missing(events, known)])


def _missing(
    events: Sequence[Event], known: dict[str, tuple[str, tuple[FileChange, ...]]]
) -> list[FilesChanged]:
    """What only the shadow store knows: it was killed before the log was written."""
    told = {event.call_id for event in events if isinstance(event, FilesChanged)}
    return [
        FilesChanged(call_id, changes, root)
        for call_id, (root, changes) in known.items()
        if call_id not in told
    ]


async def _in_shadow(seams: Seams, job: Callable[[Undoer], T]) -> T:
    """Do something with the shadow store, off the event loop."""
    shadow = seams.shadow()
    if shadow is None:
        raise _unavailable("This gateway keeps no receipts.")
    try:
        # A thread goes on to its end when its caller leaves: nothing is undone by half.
        return await seams.storage.run(lambda: job(shadow))
    except (OSError, HermesError) as error:
        log.exception("receipts cannot be read or written")
        raise _unavailable("Receipts are out of reach; the gateway's log says why.") from error


def _unavailable(why: str) -> Unavailable:
    return Unavailable(why, code="receipts_unavailable", headers={"Retry-After": "5"})
